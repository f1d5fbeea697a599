"""The offline model: a small command language that is carried out on the screen, with no network and no key.

An instruction is split into clauses, and the table of sentences (`sentences.yaml`) reads each as a command
(`commands`). A command finds the elements that are meant (`finding`), acts, and looks whether it happened (`ui`).
"""

from __future__ import annotations

from agent_s.offline.model import OfflineModel

__all__ = ["OfflineModel"]
