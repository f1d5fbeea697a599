"""The offline model: a small command language that works without network and API key.

An instruction is split into clauses, and a table of sentence patterns (`sentences.yaml`) parses each one into a command
(`commands`). A command finds its target elements (`finding`), acts on them, and checks the effect (`ui`).
"""

from __future__ import annotations

from agent_s.offline.model import OfflineModel

__all__ = ["OfflineModel"]
