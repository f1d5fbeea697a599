from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agent_s.errors import ModelError, ModelUnavailable
from agent_s.llm.providers.retries import Retrying, TransientError, retry_after_s


class Attempts:
    def __init__(self, *faults: ModelError) -> None:
        self.faults = list(faults)
        self.made = 0

    def __call__(self) -> str:
        self.made += 1
        if self.faults:
            raise self.faults.pop(0)
        return "answer"


def test_waits_grow_up_to_a_bound_and_jitter_shortens_them() -> None:
    waits: list[float] = []
    attempts = Attempts(*(TransientError("busy") for _ in range(8)))
    assert Retrying(8, waits.append, lambda: 0.0)(attempts) == "answer"
    assert waits == [0.5, 1, 2, 4, 8, 16, 20, 20]
    waits.clear()
    Retrying(1, waits.append, lambda: 1.0)(Attempts(TransientError("busy")))
    assert waits == [0.375]


def test_what_the_server_asks_for_is_waited_exactly() -> None:
    waits: list[float] = []
    Retrying(2, waits.append)(Attempts(TransientError("busy", 12.5), TransientError("busy", 0.0)))
    assert waits == [12.5, 0.0]


def test_too_long_a_wait_is_not_begun() -> None:
    waits: list[float] = []
    with pytest.raises(ModelUnavailable, match=r"busy.*61 s"):
        Retrying(5, waits.append)(Attempts(TransientError("busy.", 61)))
    assert waits == []


def test_other_errors_are_not_tried_again() -> None:
    attempts = Attempts(ModelError("no"))
    with pytest.raises(ModelError, match="no"):
        Retrying(5, lambda _: None)(attempts)
    assert attempts.made == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after": "-4"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "1e400"}, None),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "Sat, 14 Mar 2026 12:00:30 GMT"}, 30),
        ({"retry-after": "Sat, 14 Mar 2026 11:00:00 GMT"}, 0),
        ({"retry-after": "Fri, 14 Mar 2036 12:00:05 GMT", "date": "Fri, 14 Mar 2036 12:00:00 GMT"}, 5),
    ],
)
def test_retry_after_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    now = datetime(2026, 3, 14, 12, tzinfo=UTC)
    assert retry_after_s(headers, now) == seconds
