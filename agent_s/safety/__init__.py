"""Confirmation of risky actions, secrets and untrusted text."""
