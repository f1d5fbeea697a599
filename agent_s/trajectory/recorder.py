"""Recording of a run to a folder; `agent_s.runs.reading` describes the format."""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import logging
from collections.abc import Callable
from pathlib import Path
from typing import IO, TYPE_CHECKING

from aci.observation.observation import Observation
from agent_s.background import Pending
from agent_s.errors import TrajectoryError
from agent_s.events import ActionChosen, Event, Exchange, ModelCalled, Observed, RunEnded, RunStarted, SentPicture
from agent_s.runs.listing import make_private_folder
from agent_s.runs.reading import EVENTS_FILE, SCHEMA_VERSION, SCREENS_FOLDER, SENT_FOLDER, TEXTS_FILE
from agent_s.runs.texts import TextWriter
from agent_s.safety.confirmation import targets_of

if TYPE_CHECKING:
    from PIL.Image import Image

PNG_LEVEL = 1

logger = logging.getLogger(__name__)


class Recorder:
    """Writes the events of one run to a folder.

    Screenshots are compressed in the background, one at a time, and are complete before the end of the run is written.

    A recorder never stops a run: if it cannot write, it warns once and ignores all later events.
    """

    def __init__(self, folder: Path, warn: Callable[[str], None] | None = None) -> None:
        """Create the folder, accessible to its owner only, and write the header; `warn` is called if recording ends.

        Raises:
            TrajectoryError: The folder holds a run, or cannot be written.
        """
        self.folder = folder
        self.problem = ""
        self._warn = warn or logger.warning
        self._screens: dict[bytes, str] = {}
        self._sent: dict[bytes, str] = {}
        self._observation: Observation | None = None
        self._picture: Pending[None] | None = None
        try:
            make_private_folder(folder / SCREENS_FOLDER)
            self._file: IO[str] = (folder / EVENTS_FILE).open("x", encoding="utf-8")
            with contextlib.suppress(OSError):  # the file system has no locks, so no run appears to be in progress
                fcntl.flock(self._file, fcntl.LOCK_EX)
            self._texts = TextWriter(folder / TEXTS_FILE)
            self._write_line(json.dumps({"schema_version": SCHEMA_VERSION, "format": "agent-s trajectory"}))
        except FileExistsError as error:
            raise TrajectoryError(f"{folder} already holds a run: choose another folder to record to.") from error
        except OSError as error:
            raise TrajectoryError(f"Cannot record to {folder}: {error.strerror or error}.") from error

    def __call__(self, event: Event) -> None:
        """Write one event and its picture."""
        if self.problem:
            return
        try:
            if isinstance(event, RunEnded):
                self._await_picture()
            written = self._written_form(event).model_dump(mode="json")
            # A list of runs reads the first and the last event only, so these are whole.
            whole = isinstance(event, RunStarted | RunEnded)
            line = written if whole else self._texts.without_long_texts(written)
            self._write_line(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
        except (OSError, ValueError) as error:  # ValueError: the file is closed
            self._end_recording(error)

    def close(self) -> None:
        """Close the files; later events are not recorded."""
        try:
            self._await_picture()
            self._file.close()
            self._texts.close()
        except OSError as error:  # the disk is full
            if not self.problem:
                self._end_recording(error)

    def _written_form(self, event: Event) -> Event:
        if isinstance(event, Observed) and event.observation is not None:
            self._observation = event.observation
            return event.model_copy(update={"screenshot": self._store_screenshot(event.observation)})
        if isinstance(event, ActionChosen) and self._observation is not None and not event.boxes:
            rects = [element.rect for element in targets_of(event.action, self._observation)]
            return event.model_copy(update={"boxes": tuple((r.x, r.y, r.width, r.height) for r in rects)})
        if isinstance(event, ModelCalled):
            return event.model_copy(update={"exchanges": tuple(map(self._with_files, event.exchanges))})
        return event

    def _with_files(self, exchange: Exchange) -> Exchange:
        """Return an exchange whose pictures are files."""
        turns = []
        for turn in exchange.turns:
            parts = [self._stored(part) if isinstance(part, SentPicture) else part for part in turn.parts]
            turns.append(turn.model_copy(update={"parts": tuple(parts)}))
        return exchange.model_copy(update={"turns": tuple(turns)})

    def _stored(self, picture: SentPicture) -> SentPicture:
        digest = hashlib.blake2b(picture.data, digest_size=16).digest()
        if digest not in self._sent:
            name = f"{SENT_FOLDER}/{len(self._sent) + 1:04d}.{picture.media_type.removeprefix('image/')}"
            make_private_folder(self.folder / SENT_FOLDER)
            (self.folder / name).write_bytes(picture.data)
            self._sent[digest] = name
        return picture.model_copy(update={"file": self._sent[digest]})

    def _store_screenshot(self, observation: Observation) -> str:
        from PIL import Image

        pixels = observation.screenshot
        digest = hashlib.blake2b(pixels.tobytes(), digest_size=16, salt=b"%d" % pixels.shape[1]).digest()
        if digest not in self._screens:
            name = f"{SCREENS_FOLDER}/{len(self._screens) + 1:04d}.png"
            image, path = Image.fromarray(pixels), self.folder / name
            self._await_picture()
            self._picture = Pending(lambda: _save_whole(image, path), "recorder")
            self._screens[digest] = name
        return self._screens[digest]

    def _await_picture(self) -> None:
        picture, self._picture = self._picture, None
        if picture is not None:
            picture.result()

    def _write_line(self, line: str) -> None:
        self._file.write(line + "\n")
        self._file.flush()

    def _end_recording(self, error: Exception) -> None:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        self.problem = f"The run is no longer recorded: cannot write to {self.folder} ({reason})."
        self._warn(f"{self.problem} The run continues.")
        self.close()


def _save_whole(image: Image, path: Path) -> None:
    """Write a picture atomically."""
    partial = path.with_suffix(".partial")
    image.save(partial, "PNG", compress_level=PNG_LEVEL)
    partial.replace(path)
