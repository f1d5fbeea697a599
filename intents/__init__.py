"""Reads what an English sentence asks for."""
