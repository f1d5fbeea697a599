"""Runs of every version open, and long texts are stored once."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_s.errors import TrajectoryError
from agent_s.events import Exchange, ModelCalled, Observed, SentPicture, Turn
from agent_s.runs.listing import list_runs
from agent_s.runs.reading import EVENTS_FILE, SENT_FOLDER, TEXTS_FILE, read_trajectory
from agent_s.trajectory.recorder import Recorder
from agent_s.trajectory.report import render_report

VERSION_2 = Path(__file__).parents[3] / "data" / "run_2"
PICTURE = SentPicture(media_type="image/png", width=2, height=3, data=b"the bytes of a picture")


def a_screen(changed: str = "") -> str:
    return "\n".join([*(f"{number} push button 'Button {number}'" for number in range(200)), changed])


def called(*parts: str | SentPicture, reply: str = "an answer") -> ModelCalled:
    exchange = Exchange(system="Rules. " * 100, turns=(Turn(role="user", parts=parts),), reply=reply, stop="end")
    return ModelCalled(call="act", model="m", seconds=1.0, exchanges=(exchange,))


def record(folder: Path, *events: Observed | ModelCalled) -> Path:
    recorder = Recorder(folder)
    for event in events:
        recorder(event)
    recorder.close()
    return folder


def size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.iterdir() if path.is_file())


def test_a_run_of_version_2_opens_as_it_was() -> None:
    trajectory = read_trajectory(VERSION_2)
    assert (trajectory.version, trajectory.problem) == (2, "")
    assert [event.call for event in trajectory.events if isinstance(event, ModelCalled)] == [
        "query", "plan", "act", "reflect", "act", "verify",
    ]  # fmt: skip
    assert "Press OK" in render_report(trajectory)
    assert [run.status for run in list_runs(VERSION_2.parent)] == ["done"]


def test_prompts_and_answers_are_read_back_whole(tmp_path: Path) -> None:
    sent = called(a_screen(), PICTURE, "What now?", reply=a_screen("the end\n\n"))
    folder = record(tmp_path / "run", sent, sent)
    for event in read_trajectory(folder).events:
        assert isinstance(event, ModelCalled)
        (exchange,), (meant,) = event.exchanges, sent.exchanges
        assert (exchange.system, exchange.reply) == (meant.system, meant.reply)
        text, picture, question = exchange.turns[0].parts
        assert (text, question) == (a_screen(), "What now?")
        assert isinstance(picture, SentPicture)
        assert (folder / picture.file).read_bytes() == PICTURE.data


def test_what_was_sent_before_is_stored_once(tmp_path: Path) -> None:
    first = record(tmp_path / "first", called(a_screen(), PICTURE))
    calls = [called(a_screen(), PICTURE, a_screen(f"step {number}"), PICTURE) for number in range(20)]
    many = record(tmp_path / "many", *calls)
    assert len(list((many / SENT_FOLDER).iterdir())) == 1
    assert size(many) - size(first) < 20 * 1000  # a call repeats 18 kB of text


def test_the_text_of_a_screen_is_stored_with_what_is_new_in_it(tmp_path: Path) -> None:
    folder = record(tmp_path / "run", *(Observed(text=a_screen(f"line {number}")) for number in range(10)))
    assert size(folder) < 2 * len(a_screen())
    texts = [event.text for event in read_trajectory(folder).events if isinstance(event, Observed)]
    assert texts == [a_screen(f"line {number}") for number in range(10)]


def test_texts_that_are_missing_make_a_run_damaged_not_empty(tmp_path: Path) -> None:
    folder = record(tmp_path / "run", Observed(text=a_screen()), Observed(text="short"))
    (folder / TEXTS_FILE).write_text('"only one line"\n')
    with pytest.raises(TrajectoryError, match=r"line 2 is damaged: texts\.jsonl has no line 2"):
        read_trajectory(folder)


def test_unusual_line_breaks_survive(tmp_path: Path) -> None:
    text = "a\u2028b\u0085c\x1cd\re\r\nf 中 😀\n" * 40
    folder = record(tmp_path / "run", Observed(text=text))
    (event,) = read_trajectory(folder).events
    assert isinstance(event, Observed) and event.text == text


def test_the_events_say_where_a_long_text_is(tmp_path: Path) -> None:
    folder = record(tmp_path / "run", Observed(text=a_screen()))
    assert '"text":{"$lines":[[0,201]]}' in (folder / EVENTS_FILE).read_text()
