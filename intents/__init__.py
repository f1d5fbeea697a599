"""Parsing of English requests into typed intents."""
