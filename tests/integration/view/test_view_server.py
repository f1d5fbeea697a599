"""The server of the view over real HTTP: recorded runs, runs that go on, and who is served."""

from __future__ import annotations

import json
from pathlib import Path

import httpx
import pytest

from agent_s.events import RunEnded
from agent_s.runs.following import RunFollower, is_being_recorded
from agent_s.settings import load_settings
from agent_s.trajectory.recorder import Recorder
from evaluation.harness.results import Header, Result, ResultsFile
from tests.integration.view.serving import messages, served
from tests.unit.agent_s.a_run import HOSTILE, START, events_of_a_run


def record(folder: Path, text: str = "Save", *, run_id: str = "1f0c9a77d2e4") -> Path:
    recorder = Recorder(folder)
    for event in events_of_a_run(text=text, run_id=run_id):
        recorder(event)
    recorder.close()
    return folder


def test_only_the_address_that_is_printed_opens_the_pages(tmp_path: Path) -> None:
    record(tmp_path / "one")
    with served(tmp_path) as client:
        bare = str(client.base_url).removesuffix("a-token/")
        assert client.get("rows").status_code == 200
        assert httpx.get(f"{bare}rows", headers={"Authorization": "Bearer a-token"}).status_code == 200
        for wrong in (f"{bare}rows", f"{bare}a-toke/rows", f"{bare}a-token2/rows", f"{bare}static/run.js"):
            assert httpx.get(wrong).status_code == 401, wrong
        for host in ("evil.example", f"evil.example:{client.base_url.port}", "127.0.0.1.evil.example:80"):
            assert client.get("rows", headers={"Host": host}).status_code == 421, host
        for origin in ("http://evil.example", "null", "http://127.0.0.1:1"):
            assert client.get("rows", headers={"Origin": origin}).status_code == 403, origin
        own = f"http://127.0.0.1:{client.base_url.port}"
        assert client.get("rows", headers={"Origin": own}).status_code == 200


def test_a_finished_run_arrives_whole_and_nothing_in_it_acts(tmp_path: Path) -> None:
    record(tmp_path / "one", HOSTILE)
    with served(tmp_path) as client:
        sent = list(messages(client, "run/one/"))
        events = [content for kind, content in sent if kind == "event"]
        assert [event["kind"] for event in events] == [event.kind for event in events_of_a_run()]
        assert events[0]["instruction"] == f"Type {HOSTILE} and save it"
        assert sent[-1] == ("end", {})
        assert ("state", {"live": False}) in sent
        picture = client.get(f"run/one/{events[1]['screenshot']}")
        assert picture.content == (tmp_path / "one" / events[1]["screenshot"]).read_bytes()
        for page in ("", "run/one/", "compare?left=one&right=one"):
            answer = client.get(page)
            assert "default-src 'none'; script-src 'self'" in answer.headers["content-security-policy"]
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert HOSTILE not in answer.text


def test_a_browser_that_comes_back_gets_the_events_that_it_missed(tmp_path: Path) -> None:
    record(tmp_path / "one")
    with served(tmp_path) as client:
        events = [content for kind, content in messages(client, "run/one/") if kind == "event"]
        missed = [c for kind, c in messages(client, "run/one/", **{"Last-Event-ID": "19"}) if kind == "event"]
    assert missed == events[20:]


@pytest.mark.parametrize(
    "path",
    [
        "run/other/",
        "run/%2e%2e/events",
        "run/one/screens/%2e%2e%2fevents.jsonl",
        "run/one/screens/0009.png",
        "run/one/files/secret.png",
        "static/command.py",
        "static/%2e%2e%2fserver.py",
        "run/one/screen",
    ],
)
def test_nothing_but_pages_and_pictures_of_runs_is_served(tmp_path: Path, path: str) -> None:
    record(tmp_path / "one")
    (tmp_path / "one/files").mkdir()
    (tmp_path / "one/files/secret.png").write_text("a secret")
    with served(tmp_path) as client:
        assert client.get(path).status_code in (400, 401, 404)


def test_a_run_without_a_view_of_its_own_takes_no_orders(tmp_path: Path) -> None:
    record(tmp_path / "one")
    with served(tmp_path) as client:
        answer = client.post("run/one/do", json={"do": "stop"})
        assert (answer.status_code, "agent-s run --view" in answer.text) == (409, True)


def test_the_events_of_a_run_in_progress_come_as_they_are_recorded(tmp_path: Path) -> None:
    events = events_of_a_run(text="a long text " * 40)
    recorder = Recorder(tmp_path / "one")
    for event in events[:3]:
        recorder(event)
    with served(tmp_path) as client:
        (row,) = client.get("rows").json()["rows"]
        assert (row["word"], row["tone"]) == ("Running", "live")
        seen = 0
        for kind, content in messages(client, "run/one/"):
            if kind == "event":
                assert content["kind"] == events[seen].kind
                seen += 1
            if kind == "state" and seen == 3:
                assert content == {"live": True}
                for event in events[3:]:
                    recorder(event)
                recorder.close()
        assert seen == len(events)
        (row,) = client.get("rows").json()["rows"]
        assert row["word"] == "Done and verified"


def test_a_run_counts_as_running_while_its_recorder_lives(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "run")
    follower = RunFollower(tmp_path / "run")
    assert follower.new_events() == []
    events = events_of_a_run()
    recorder(events[0])
    assert is_being_recorded(tmp_path / "run")
    assert follower.new_events() == events[:1]
    recorder(events[-1])
    recorder.close()
    assert not is_being_recorded(tmp_path / "run")
    assert isinstance(follower.new_events()[0], RunEnded)
    assert not is_being_recorded(tmp_path / "nothing")


def test_the_results_of_an_evaluation_are_listed_with_their_runs(tmp_path: Path) -> None:
    header = Header(
        benchmark="x", model="offline", settings=load_settings().model_dump(mode="json"), version="1", started=START
    )
    results = ResultsFile(tmp_path / "eval", header)
    record(tmp_path / "eval/runs/one")
    kept = {"outcome": "failure", "status": "done", "trajectory": "runs/one", "labels": {"app": "gimp"}}
    results.add(Result(task="t1", instruction="Do it", failure="grounding", **kept))
    results.add(Result(task="t2", outcome="success", status="done"))
    with served(tmp_path / "eval") as client:
        rows = client.get("rows").json()["rows"]
        assert [(row["name"], row["word"], row["task"]) for row in rows] == [
            ("one", "Failure", "Do it"),
            ("", "Success", "t2"),
        ]
        assert rows[0]["note"] == "t1 · app gimp · grounding"
        assert client.get("run/one/").status_code == 200


def test_a_single_run_is_opened_at_once(tmp_path: Path) -> None:
    folder = record(tmp_path / "a run")
    with served(folder) as client:
        answer = client.get("", follow_redirects=True)
        assert answer.status_code == 200
        assert answer.url.path.endswith("/run/a%20run/") or answer.url.path.endswith("/run/a run/")
        assert json.loads(client.get("rows").text)["rows"][0]["name"] == "a run"
