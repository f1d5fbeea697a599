"""Prompts and answers are shown to people, each part once."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from PIL import Image

from agent_s.cli.runs import show
from agent_s.events import Exchange, ModelCalled, SentPicture, Turn
from agent_s.records import Usage
from agent_s.runs.reading import read_trajectory
from agent_s.trajectory.prompts import describe_call, list_calls
from agent_s.trajectory.recorder import Recorder
from agent_s.trajectory.report import render_report
from tests.unit.agent_s.a_run import HOSTILE, events_of_a_run

PICTURE = SentPicture(media_type="image/png", width=4, height=3, file="sent/0001.png")


def called(*parts: str | SentPicture, reply: str = "click OK", error: str = "") -> ModelCalled:
    exchange = Exchange(system="The rules", turns=(Turn(role="user", parts=parts),), reply=reply, stop="end")
    usage = Usage(input_tokens=1200, cached_tokens=900, output_tokens=80, dollars=0.0042)
    return ModelCalled(call="act", model="m", seconds=1.5, usage=usage, exchanges=(exchange,), error=error)


CALLS = [called("the task", PICTURE, "now?"), called("the task", PICTURE, "step 1", "now?", error="Broken: no answer")]


def lines(number: int, whole: bool = False) -> str:
    return "\n".join(describe_call(list_calls(CALLS, whole)[number - 1]))


def test_a_call_shows_prompt_picture_answer_and_cost() -> None:
    text = lines(1)
    assert "Call 1: act, m, 1.5 s, 1200 tokens in (900 cached), 80 out, $0.0042" in text
    for words in ("The rules", "the task", "[picture sent/0001.png, 4x3]", "now?", "Answer (end)", "click OK"):
        assert words in text


def test_what_an_earlier_prompt_showed_is_named_not_repeated() -> None:
    text = lines(2)
    assert "the first 2 parts: as in call 1" in text
    assert "The rules" not in text and "the task" not in text
    assert "step 1" in text and "Broken: no answer" in text


def test_a_whole_call_repeats_everything() -> None:
    text = lines(2, whole=True)
    assert "as in call" not in text
    assert "The rules" in text and "the task" in text


def record(folder: Path, *calls: ModelCalled) -> Path:
    recorder = Recorder(folder)
    events = events_of_a_run()
    for event in [*events[:-1], *calls, events[-1]]:
        recorder(event)
    recorder.close()
    return folder


def test_the_command_shows_all_calls_or_one(tmp_path: Path) -> None:
    folder = record(tmp_path / "run", called("the task \x1b[31m", "now?"))
    shown = CliRunner().invoke(show, [str(folder), "--calls"])
    assert shown.exit_code == 0 and "Call 4: act" in shown.output and "the task" in shown.output
    assert "\x1b" not in shown.output
    one = CliRunner().invoke(show, [str(folder), "--call", "4"])
    assert "Call 4" in one.output and "Call 1" not in one.output
    none = CliRunner().invoke(show, [str(folder), "--call", "5"])
    assert none.exit_code == 2 and "the run made 4 model calls" in none.output


@pytest.mark.parametrize("embed", [False, True])
def test_the_report_shows_prompts_and_pictures_and_nothing_in_them_acts(tmp_path: Path, embed: bool) -> None:
    Image.new("RGB", (4, 3)).save(tmp_path / "picture.png")
    picture = PICTURE.model_copy(update={"data": (tmp_path / "picture.png").read_bytes()})
    folder = record(tmp_path / "run", called("the task", picture, HOSTILE, reply=HOSTILE))
    page = render_report(read_trajectory(folder), embed=embed)
    assert "The rules" in page and '"picture":"sent/0001.png"' in page
    assert ('"sent/0001.png":"data:image/png;base64,' in page) is embed
    assert HOSTILE not in page
