"""API keys: from the environment, else from a keyring if the `keyring` package is installed."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Mapping

from agent_s.errors import ModelUnavailable

KEYRING_SERVICE = "agent-s"

logger = logging.getLogger(__name__)


def find_key(name: str, environment: Mapping[str, str]) -> str | None:
    """Return a key, or None if there is none.

    Args:
        name: Its name in the environment and the keyring, such as "ANTHROPIC_API_KEY".
        environment: Such as `os.environ`.

    Raises:
        ModelUnavailable: The value cannot be a key.
    """
    key = environment.get(name, "").strip() or from_keyring(name)
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise ModelUnavailable(f"{name} contains characters that no key has. Set it again.")
    return key or None


def require_key(name: str, environment: Mapping[str, str], provider: str) -> str:
    """Return a key.

    Raises:
        ModelUnavailable: There is none.
    """
    key = find_key(name, environment)
    if key is None:
        raise ModelUnavailable(
            f"There is no key for {provider}. Set {name} in the environment, or store it: "
            f"keyring set {KEYRING_SERVICE} {name}"
        )
    return key


def from_keyring(name: str) -> str:
    """Return an entry of the keyring; empty if there is none, or no unlocked keyring."""
    try:
        keyring = importlib.import_module("keyring")
    except ImportError:
        return ""
    try:
        return str(keyring.get_password(KEYRING_SERVICE, name) or "").strip()
    except keyring.errors.KeyringError as error:
        logger.warning("The keyring cannot be read: %s", error)
        return ""
