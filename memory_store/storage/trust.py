"""Trust in experience: verdicts of checks, counts of uses, and the states that follow from them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, select, update

from memory_store.records.experience import QUARANTINE_AFTER_FAILURES, State
from memory_store.storage.rows import chunks
from memory_store.storage.schema import experience, narrative


def count_use(connection: Connection, pk: int, worked: bool) -> None:
    """Count one use; quarantine an experience that has failed twice."""
    counts = {"times_used": experience.c.times_used + 1, "times_worked": experience.c.times_worked + int(worked)}
    connection.execute(update(experience).where(experience.c.pk == pk).values(last_used_at=datetime.now(UTC), **counts))
    failures = experience.c.times_used - experience.c.times_worked
    connection.execute(
        update(experience)
        .where(experience.c.pk == pk, failures >= QUARANTINE_AFTER_FAILURES, experience.c.state != "deprecated")
        .values(state="quarantined", state_reason="it failed twice when it was used")
    )


def set_state(connection: Connection, pk: int, state: State, reason: str) -> None:
    """Set the state of an experience."""
    connection.execute(update(experience).where(experience.c.pk == pk).values(state=state, state_reason=reason))


def release(connection: Connection, pk: int) -> bool:
    """Release an experience from quarantine, clear its failures and return whether it was quarantined.

    A skill becomes a candidate again.
    """
    row = connection.execute(select(experience.c.kind, experience.c.state).where(experience.c.pk == pk)).one()
    if row.state != "quarantined":
        return False
    connection.execute(
        update(experience)
        .where(experience.c.pk == pk)
        .values(
            state="candidate" if row.kind == "skill" else "active",
            state_reason="released by its owner",
            times_used=experience.c.times_worked,
        )
    )
    return True


def mark(connection: Connection, which: ColumnElement[bool], verified: bool | None, by: str) -> int:
    """Record a verdict, quarantine what it contradicts, and return the number of marked experiences."""
    change = update(experience).where(which, experience.c.forgotten_at.is_(None))
    count = connection.execute(change.values(verified=verified, verified_by=by)).rowcount
    if verified is not None and count:
        pks = connection.scalars(select(experience.c.pk).where(which)).all()
        for some in chunks(pks):
            _withdraw_contradicted(connection, some)
    return count


def _withdraw_contradicted(connection: Connection, pks: Sequence[int]) -> None:
    """Quarantine claims of success that were found wrong, if a verified success has the same key.

    A narrative of a failure claims no success and is kept.
    """
    failures = select(narrative.c.pk).where(narrative.c.success.is_(False))
    good, bad = experience.alias("good"), experience.alias("bad")
    pairs = (
        select(bad.c.pk, good.c.uid)
        .join(
            good,
            (good.c.kind == bad.c.kind)
            & (good.c.key_digest == bad.c.key_digest)
            & (good.c.app == bad.c.app)
            & (good.c.platform == bad.c.platform),
        )
        .where(
            good.c.verified.is_(True),
            good.c.forgotten_at.is_(None),
            good.c.pk.not_in(failures),
            bad.c.verified.is_(False),
            bad.c.state.in_(("active", "candidate")),
            bad.c.pk.not_in(failures),
            good.c.pk.in_(pks) | bad.c.pk.in_(pks),
        )
    )
    for pk, uid in connection.execute(pairs).all():
        set_state(connection, pk, "quarantined", f"it was found wrong, and {uid} was verified")


def count_skill_run(connection: Connection, pk: int, worked: bool, checked_by: str, clean_start: bool) -> None:
    """Count a run of a skill; a checked success from a clean state makes a candidate active."""
    count_use(connection, pk, worked)
    if worked and clean_start and checked_by:
        connection.execute(
            update(experience)
            .where(experience.c.pk == pk, experience.c.state == "candidate")
            .values(
                state="active",
                state_reason=f"ran again from a clean state, checked by {checked_by}",
                verified=True,
                verified_by=checked_by,
            )
        )
