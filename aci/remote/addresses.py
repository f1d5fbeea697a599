"""Addresses of machines, which may hold a token: `http://TOKEN@HOST:PORT`."""

from __future__ import annotations

from urllib.parse import urlsplit


def is_address(name: str) -> bool:
    """Return whether the name of a desktop is the address of a machine, and not an X display."""
    return "://" in name


def without_token(address: str) -> str:
    """Return an address as it may be shown and recorded."""
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
