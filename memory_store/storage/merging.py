"""Merging of experiences that were learned twice: one is kept, with the counts of both.

Two experiences are the same if their keys differ in filler words at most, author, application, platform and outcome are
equal, and no checks disagree about them. The newer version is kept, because screens change; but a verified version is
only replaced by one with the same steps, otherwise both are kept. A summary is not replaced by a draft for the same
steps.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection

from memory_store.storage.rows import Values, select_kind
from memory_store.storage.schema import experience

_MAX_CANDIDATES = 16
_COUNTS = ("times_used", "times_worked", "times_seen")
_KEPT = frozenset({"uid", "kind", "changed", "state", "state_reason", "last_used_at", *_COUNTS})


def find_twin(connection: Connection, new: Values) -> Values | None:
    """Return the row of the newest stored experience that a new one repeats, if any."""
    same = (experience.c[name] == new[name] for name in ("kind", "near_digest", "app", "platform", "author"))
    alive = experience.c.forgotten_at.is_(None), experience.c.state.in_(("active", "candidate"))
    query = select_kind(new["kind"]).where(*same, *alive).order_by(experience.c.pk.desc()).limit(_MAX_CANDIDATES)
    found = connection.execute(query).mappings().all()
    return next((dict(old) for old in found if _is_same(dict(old), new)), None)


def merged(old: Values, new: Values) -> dict[str, Any]:
    """Return the columns of the old row that change when the new version is merged into it."""
    verdict = {name: (old if new["verified"] is None else new)[name] for name in ("verified", "verified_by")}
    newer = new["created_at"] >= old["created_at"]
    # Without a new verdict that of the old version holds, since the steps are the same.
    changes = {name: value for name, value in new.items() if newer and name not in _KEPT}
    if new["draft"] and not old["draft"] and old[_content(new)] == new[_content(new)]:
        changes = {name: value for name, value in changes.items() if name not in ("summary", "draft")}
    changes |= verdict if verdict["verified"] is not None else {}
    return changes | {name: old[name] + new[name] for name in _COUNTS}


def _is_same(old: Values, new: Values) -> bool:
    if None not in (old["verified"], new["verified"]) and old["verified"] != new["verified"]:
        return False
    content = _content(new)
    proven = old["verified"] is not None or old["state"] != new["state"]
    if (proven or new["kind"] == "skill") and old[content] != new[content]:
        return False
    # A replay needs the exact words: another wording of a verified experience stays separate.
    if old["key_digest"] != new["key_digest"] and (old["verified"] or new["verified"]):
        return False
    outcome = ("success", "instruction_digest") if new["kind"] == "narrative" else ()
    return all(old[name] == new[name] for name in outcome)


def _content(values: Values) -> str:
    return "plan" if values["kind"] == "narrative" else "steps"
