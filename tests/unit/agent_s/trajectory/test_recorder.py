"""A run survives on disk: also a kill in the middle of a line, and a disk that fills up."""

from __future__ import annotations

import json
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from agent_s.errors import TrajectoryError
from agent_s.events import ActionChosen, Event, Observed, RunEnded, RunStarted
from agent_s.runs.listing import find_run, list_runs, run_folder
from agent_s.runs.reading import EVENTS_FILE, SCHEMA_VERSION, Trajectory, read_trajectory
from agent_s.trajectory.recorder import Recorder
from tests.unit.agent_s.a_run import element, events_of_a_run, observation


def record(folder: Path, events: list[Event] | None = None) -> list[Event]:
    events = events_of_a_run() if events is None else events
    recorder = Recorder(folder)
    for event in events:
        recorder(event)
    recorder.close()
    return events


def observed(trajectory: Trajectory) -> list[Observed]:
    return [event for event in trajectory.events if isinstance(event, Observed)]


@contextmanager
def no_file_larger_than(size: int) -> Iterator[None]:
    """Let writes fail as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


class TestRecorder:
    def test_events_are_read_back_as_written(self, tmp_path: Path) -> None:
        events = record(tmp_path / "run")
        read = read_trajectory(tmp_path / "run")

        assert read.problem == ""
        assert read.version == SCHEMA_VERSION
        assert [event.kind for event in read.events] == [event.kind for event in events]
        plain = (Observed, ActionChosen)  # the recorder adds to these
        assert [event for event in read.events if not isinstance(event, plain)] == [
            event for event in events if not isinstance(event, plain)
        ]

    def test_line_separators_in_texts_do_not_split_lines(self, tmp_path: Path) -> None:
        text = "a\u2028b\u0085c\x1cd\ne\r\nf 中 😀"
        record(tmp_path / "run", events_of_a_run(text=text))
        read = read_trajectory(tmp_path / "run")

        assert read.problem == ""
        assert isinstance(read.events[0], RunStarted)
        assert text in read.events[0].task.instruction

    def test_each_distinct_screenshot_is_stored_once(self, tmp_path: Path) -> None:
        record(tmp_path / "run")
        seen = observed(read_trajectory(tmp_path / "run"))

        assert [event.screenshot for event in seen] == ["screens/0001.png", "screens/0002.png", "screens/0002.png"]
        assert len(list((tmp_path / "run/screens").iterdir())) == 2
        for event, shade in zip(seen, (40, 60, 60), strict=True):
            with Image.open(tmp_path / "run" / str(event.screenshot)) as image:
                assert np.array_equal(np.asarray(image), observation(shade).screenshot)

    def test_screenshots_of_another_shape_are_distinct(self, tmp_path: Path) -> None:
        one, other = observation(), observation()
        object.__setattr__(other, "screenshot", one.screenshot.reshape(320, 160, 3))
        record(tmp_path / "run", [Observed(observation=one), Observed(observation=other)])

        names = [event.screenshot for event in observed(read_trajectory(tmp_path / "run"))]
        assert names == ["screens/0001.png", "screens/0002.png"]

    def test_steps_get_the_boxes_of_their_elements(self, tmp_path: Path) -> None:
        record(tmp_path / "run")
        boxes = [event.boxes for event in read_trajectory(tmp_path / "run").events if isinstance(event, ActionChosen)]
        rect = element().rect
        assert boxes == [((rect.x, rect.y, rect.width, rect.height),), (), (), ()]

    def test_each_event_is_on_disk_before_the_next_comes(self, tmp_path: Path) -> None:
        recorder = Recorder(tmp_path / "run")
        for number, event in enumerate(events_of_a_run(), start=1):
            recorder(event)
            lines = (tmp_path / "run" / EVENTS_FILE).read_text().splitlines()
            assert len(lines) == number + 1
        recorder.close()

    def test_folders_are_accessible_to_their_owner_only(self, tmp_path: Path) -> None:
        record(tmp_path / "new/runs/one")
        for name in ("new", "new/runs", "new/runs/one", "new/runs/one/screens"):
            assert stat.S_IMODE((tmp_path / name).stat().st_mode) == 0o700

    def test_a_recorded_run_is_never_overwritten(self, tmp_path: Path) -> None:
        record(tmp_path / "run")
        before = (tmp_path / "run" / EVENTS_FILE).read_bytes()
        with pytest.raises(TrajectoryError, match="already holds a run"):
            Recorder(tmp_path / "run")
        assert (tmp_path / "run" / EVENTS_FILE).read_bytes() == before

    def test_a_folder_that_cannot_be_created_is_an_error(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(TrajectoryError, match="Cannot record"):
            Recorder(tmp_path / "file/run")

    def test_a_full_disk_ends_the_recording_once_and_not_the_run(self, tmp_path: Path) -> None:
        warnings: list[str] = []
        recorder = Recorder(tmp_path / "run", warnings.append)
        events = events_of_a_run()
        for event in events[:6]:
            recorder(event)
        size = (tmp_path / "run" / EVENTS_FILE).stat().st_size
        with no_file_larger_than(size + 20):
            for event in events[6:]:
                recorder(event)
            recorder.close()

        assert len(warnings) == 1
        assert "no longer recorded" in warnings[0]
        assert recorder.problem
        read = read_trajectory(tmp_path / "run")
        assert [event.kind for event in read.events] == [event.kind for event in events[:6]]
        assert "ends before the run did" in read.problem

    def test_a_picture_that_cannot_be_written_ends_the_recording(self, tmp_path: Path) -> None:
        warnings: list[str] = []
        recorder = Recorder(tmp_path / "run", warnings.append)
        noise = np.random.default_rng(0).integers(0, 255, (200, 300, 3), dtype=np.uint8)
        seen = observation()
        object.__setattr__(seen, "screenshot", noise)
        with no_file_larger_than(10_000):
            recorder(Observed(observation=seen))
            recorder.close()
        assert len(warnings) == 1

    def test_at_the_end_of_the_run_all_pictures_are_there(self, tmp_path: Path) -> None:
        recorder = Recorder(tmp_path / "run")
        for event in events_of_a_run():
            recorder(event)
        for event in observed(read_trajectory(tmp_path / "run")):  # before it is closed: a report may be made then
            with Image.open(tmp_path / "run" / str(event.screenshot)) as image:
                image.load()
        recorder.close()


class TestReading:
    def test_a_truncated_last_line_is_left_out_and_reported(self, tmp_path: Path) -> None:
        record(tmp_path / "run")
        path = tmp_path / "run" / EVENTS_FILE
        content = path.read_bytes()
        for cut in (3, 40):
            path.write_bytes(content[:-cut])
            read = read_trajectory(tmp_path / "run")
            assert len(read.events) == len(events_of_a_run()) - 1
            assert "truncated" in read.problem

    def test_a_line_truncated_within_a_character_is_reported(self, tmp_path: Path) -> None:
        record(tmp_path / "run", events_of_a_run(text="中"))
        path = tmp_path / "run" / EVENTS_FILE
        content = path.read_bytes()
        path.write_bytes(content[: content.rindex("中".encode()) + 1])
        assert "truncated" in read_trajectory(tmp_path / "run").problem

    def test_a_damaged_line_in_the_middle_is_refused_by_its_number(self, tmp_path: Path) -> None:
        record(tmp_path / "run")
        path = tmp_path / "run" / EVENTS_FILE
        lines = path.read_text().splitlines()
        lines[4] = lines[4][:10]
        path.write_text("\n".join(lines) + "\n")
        with pytest.raises(TrajectoryError, match="line 5 is damaged"):
            read_trajectory(tmp_path / "run")

    def test_a_newer_format_is_refused_and_an_absent_header_too(self, tmp_path: Path) -> None:
        record(tmp_path / "run")
        path = tmp_path / "run" / EVENTS_FILE
        lines = path.read_text().splitlines()
        path.write_text("\n".join([json.dumps({"schema_version": SCHEMA_VERSION + 1}), *lines[1:]]))
        with pytest.raises(TrajectoryError, match="Update agent-s"):
            read_trajectory(tmp_path / "run")
        path.write_text("\n".join(lines[1:]))
        with pytest.raises(TrajectoryError, match="header is missing"):
            read_trajectory(tmp_path / "run")

    @pytest.mark.parametrize("content", [b"", b"\n", b"\x00\xff", b"[1, 2]\n", b'{"schema_version": "1"}\n'])
    def test_files_that_are_not_runs_are_refused(self, tmp_path: Path, content: bytes) -> None:
        (tmp_path / EVENTS_FILE).write_bytes(content)
        with pytest.raises(TrajectoryError):
            read_trajectory(tmp_path)

    def test_a_missing_folder_is_an_error(self, tmp_path: Path) -> None:
        with pytest.raises(TrajectoryError, match="no readable run"):
            read_trajectory(tmp_path / "nothing")


class TestListing:
    def test_newest_first_with_how_they_ended(self, tmp_path: Path) -> None:
        events = events_of_a_run(run_id="aaaaaaaaaaaa")
        record(tmp_path / "20260314-1", events)
        late = events_of_a_run(run_id="bbbbbbbbbbbb", status="failed", verified=False)
        shift = late[-1].at - late[0].at
        record(tmp_path / "20260314-2", [event.model_copy(update={"at": event.at + shift}) for event in late])

        second, first = list_runs(tmp_path)
        assert (second.run_id, second.status, second.verified) == ("bbbbbbbbbbbb", "failed", False)
        assert (first.run_id, first.status, first.steps, first.model_calls) == ("aaaaaaaaaaaa", "done", 4, 3)
        assert first.seconds == pytest.approx(13.5)

    def test_a_cut_off_run_is_listed_as_such(self, tmp_path: Path) -> None:
        record(tmp_path / "run", events_of_a_run()[:9])
        (run,) = list_runs(tmp_path)
        assert run.status is None
        assert run.instruction == "Type Save and save it"
        assert "ends before" in run.problem

    def test_a_damaged_run_does_not_hide_the_others(self, tmp_path: Path) -> None:
        record(tmp_path / "good")
        (tmp_path / "bad").mkdir()
        (tmp_path / "bad" / EVENTS_FILE).write_text("nonsense\n")
        (tmp_path / "empty").mkdir()
        (tmp_path / "empty" / EVENTS_FILE).write_text("")
        runs = list_runs(tmp_path)
        assert sorted(run.folder.name for run in runs) == ["bad", "empty", "good"]
        assert [run.folder.name for run in runs if not run.problem] == ["good"]

    def test_a_last_line_longer_than_one_block_is_found(self, tmp_path: Path) -> None:
        events = events_of_a_run()
        ended = events[-1]
        assert isinstance(ended, RunEnded)
        long = ended.model_copy(update={"outcome": ended.outcome.model_copy(update={"reason": "long " * 5000})})
        record(tmp_path / "run", [*events[:-1], long])
        assert list_runs(tmp_path)[0].status == "done"

    def test_folder_that_does_not_exist_has_no_runs(self, tmp_path: Path) -> None:
        assert list_runs(tmp_path / "nothing") == []

    def test_runs_are_found_by_path_by_the_beginning_of_their_id_and_as_the_last(self, tmp_path: Path) -> None:
        for run_id in ("aaaa11111111", "aaaa22222222"):
            events = events_of_a_run(run_id=run_id)
            started = events[0]
            assert isinstance(started, RunStarted)
            record(run_folder(tmp_path, started), events)
        assert find_run(tmp_path, "aaaa1").name.endswith("aaaa11111111")
        assert find_run(tmp_path, str(find_run(tmp_path, "aaaa2"))).name.endswith("aaaa22222222")
        assert find_run(tmp_path, "last") in [run.folder for run in list_runs(tmp_path)]
        with pytest.raises(TrajectoryError, match="2 runs match"):
            find_run(tmp_path, "aaaa")
        with pytest.raises(TrajectoryError, match="No run 'zzz'"):
            find_run(tmp_path, "zzz")
        with pytest.raises(TrajectoryError, match="No run is recorded"):
            find_run(tmp_path / "nothing", "last")
