"""Where the keys of providers come from: the environment, else a keyring where the `keyring` package is installed."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Mapping

from agent_s.errors import ModelUnavailable

KEYRING_SERVICE = "agent-s"

log = logging.getLogger(__name__)


def find_key(name: str, environment: Mapping[str, str]) -> str | None:
    """Return a key, or None where there is none.

    Args:
        name: Such as "ANTHROPIC_API_KEY"; the same in the environment and in the keyring.
        environment: Such as `os.environ`.

    Raises:
        ModelUnavailable: What is there cannot be a key.
    """
    key = environment.get(name, "").strip() or from_keyring(name)
    if key and not (key.isascii() and key.isprintable() and " " not in key):
        raise ModelUnavailable(f"{name} holds characters that no key has. Set it again.")
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
    """Return what the keyring has under a name, or nothing: also where there is no keyring, or it is locked."""
    try:
        keyring = importlib.import_module("keyring")
    except ImportError:
        return ""
    try:
        return str(keyring.get_password(KEYRING_SERVICE, name) or "").strip()
    except keyring.errors.KeyringError as error:
        log.warning("The keyring cannot be read: %s", error)
        return ""
