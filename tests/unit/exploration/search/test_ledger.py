"""The record of a search."""

from __future__ import annotations

from pathlib import Path

import pytest

from exploration.errors import LedgerError
from exploration.search.ledger import Ledger
from exploration.search.records import (
    Attempt,
    Attempted,
    Boundary,
    BoundaryFound,
    Control,
    ScreenState,
    SearchEnded,
    StateFound,
)

ARGV = ("editor",)


def attempted(key: str, seconds: float = 1.0) -> Attempted:
    control = Control(role="menu item", name=key, key=key)
    return Attempted(
        seconds=seconds, attempt=Attempt(key=key, control=control, start="a", classification="terminal", why="it did")
    )


def test_ledger_restores_its_events(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path, "Editor", ARGV) as ledger:
        assert ledger.is_new
        ledger.write(StateFound(state=ScreenState(fingerprint="a", title="Editor", words=("File",))))
        ledger.write(attempted("File"))
        ledger.write(BoundaryFound(seconds=7.5, boundary=Boundary(key="Ö", app="Editor", name="ö", why="it is grey")))
    with Ledger(path, "Editor", ARGV) as again:
        assert not again.is_new
        assert again.states["a"].words == ("File",)
        assert again.attempts["File"].classification == "terminal"
        assert again.boundaries["Ö"].why == "it is grey"
        assert again.seconds == 7.5
        assert again.ended is None


def test_incomplete_last_line_is_removed(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path, "Editor", ARGV) as ledger:
        ledger.write(attempted("File"))
        ledger.write(attempted("Edit"))
    whole = path.read_bytes()
    last = whole.rstrip(b"\n").rfind(b"\n") + 1
    for cut in range(last, len(whole) - 1, 7):
        path.write_bytes(whole[:cut])
        with Ledger(path, "Editor", ARGV) as again:
            assert list(again.attempts) == ["File"]
            again.write(attempted("Edit"))
        assert path.read_bytes() == whole


@pytest.mark.parametrize("cut", [0, 5])
def test_incomplete_header_starts_over(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "ledger.jsonl"
    Ledger(path, "Editor", ARGV).close()
    path.write_bytes(path.read_bytes()[:cut])
    with Ledger(path, "Editor", ARGV) as again:
        again.write(attempted("File"))
    assert list(Ledger(path, "Editor", ARGV).attempts) == ["File"]


def test_end_is_forgotten_when_the_search_resumes(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    with Ledger(path, "Editor", ARGV) as ledger:
        ledger.write(SearchEnded(complete=True))
        assert ledger.ended is not None
        ledger.write(attempted("File"))
        assert ledger.ended is None


def test_another_record_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "ledger.jsonl"
    Ledger(path, "Editor", ARGV).close()
    with pytest.raises(LedgerError, match="about Editor"):
        Ledger(path, "Sheet", ARGV)
    path.write_text('{"schema_version": 9, "format": "agent-s exploration", "app": "Editor", "argv": ["editor"]}\n')
    with pytest.raises(LedgerError, match="version 9"):
        Ledger(path, "Editor", ARGV)
    path.write_text("something else\n")
    with pytest.raises(LedgerError, match="not the record"):
        Ledger(path, "Editor", ARGV)
    path.write_text('{"schema_version": 1, "format": "agent-s exploration", "app": "Editor", "argv": ["editor"]}\n{}\n')
    with pytest.raises(LedgerError, match="line 2"):
        Ledger(path, "Editor", ARGV)
    with pytest.raises(LedgerError, match="cannot be opened"):
        Ledger(tmp_path / "missing" / "ledger.jsonl", "Editor", ARGV)
