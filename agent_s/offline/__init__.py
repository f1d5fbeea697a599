"""The offline model: follows plain English instructions on real applications, with no network and no key.

An instruction is split into clauses (`clauses`), each clause is read (`grammar`) as an intent (`intents`), and each kind
of intent has a policy (`policies`) that looks at the screen, acts, and looks whether it happened.
"""

from __future__ import annotations

from agent_s.offline.model import OfflineModel

__all__ = ["OfflineModel"]
