"""Sound, video and the player VLC: what it plays, and files compared."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice, zip_longest
from pathlib import Path, PurePosixPath
from typing import Any, Literal
from urllib.parse import urlsplit

from evaluation.formats.pictures import LIKE_HASH, hash_distance, perceptual_hash
from evaluation.state.context import TaskContext
from evaluation.state.metrics import Score, ValueRule, score_of, score_unless
from evaluation.state.parameters import Parameters, Unused
from evaluation.state.reading import Reading, as_format, read_text

STATUS_ADDRESS = "http://127.0.0.1:8080/requests/status.xml"
MAX_FRAMES = 100  # how many frames of two videos are compared
MAX_OTHER_FRAMES = 5

_NAMES = {
    "file_name": ("filename", "title", "uri", "location", "name"),
    "url": ("url", "URI", "location", "title", "filename"),
}
"""Entries of VLC's metadata in which it may name what it plays, best first."""


class Tags(Parameters):
    """Title and artist of a piece of music."""

    title: ValueRule | None = None
    artist: ValueRule | None = None
    album: ValueRule | None = None
    genre: ValueRule | None = None
    date: ValueRule | None = None


def vlc_playing_info(context: TaskContext, *, dest: Unused = None) -> Reading:
    """Path of the status of VLC as XML, from its web interface."""
    import httpx

    try:
        answer = httpx.get(STATUS_ADDRESS, auth=("", "password"), timeout=10)
        answer.raise_for_status()
    except httpx.HTTPError as error:
        return Reading(None, f"VLC's web interface does not answer: {error}")
    path = context.cached("status.xml")
    path.write_bytes(answer.content)
    return Reading(path, "status of VLC")


def is_vlc_playing(result: Path, type: Literal["file_name", "url"], file_name: str = "", url: str = "") -> Score:
    """VLC plays that file or address."""
    with as_format(result, "the status of VLC"):
        status = ElementTree.fromstring(read_text(result))
    if (state := status.findtext("state")) != "playing":
        return Score(0.0, f"VLC's state is {state}")
    place = "information/category[@name='meta']/info[@name='{}']"
    named = (status.findtext(place.format(name)) for name in _NAMES[type])
    found = next(filter(None, named), "")
    if type == "file_name":
        holds = found.endswith(file_name)
    else:
        wanted, shown = urlsplit(url), urlsplit(found)
        holds = (
            url in found
            or found == PurePosixPath(wanted.path).name
            or bool(shown.scheme and shown.netloc == wanted.netloc and wanted.path in shown.path)
        )
    return score_of(bool(found) and holds, f"VLC plays {found!r}")


def is_vlc_fullscreen(result: Any, expected: Any) -> Score:
    """A window is as large as the screen."""
    return score_of(result == expected, f"the window has {result}, the screen {expected}")


def check_mp3_meta(result: Path, expected: Tags) -> Score:
    """The tags of a piece of music (ID3) are as expected."""
    from tinytag import TinyTag, TinyTagException

    with as_format(result, "a sound file", TinyTagException):
        tags = TinyTag.get(result)
    found = {"title": tags.title, "artist": tags.artist, "album": tags.album, "genre": tags.genre, "date": tags.year}
    wrong = (
        f"{name} is {found[name]!r}, expected {rule}"
        for name, rule in expected
        if rule is not None and not rule.holds(found[name] or "")
    )
    return score_unless(wrong, f"the tags are {found}")


def compare_videos(result: Path, expected: Path) -> Score:
    """The first frames of two videos look alike, but for a few, and both end at the same frame."""
    other = 0
    for number, (one, two) in enumerate(islice(zip_longest(_frames(result), _frames(expected)), MAX_FRAMES), 1):
        if one is None or two is None:
            return Score(0.0, f"one of the videos ends after {number - 1} frames")
        other += hash_distance(one, two) > LIKE_HASH
        if other > MAX_OTHER_FRAMES:
            return Score(0.0, f"{other} of the first {number} frames differ")
    return Score(1.0, "the videos look alike")


def compare_audios(result: Path, expected: Path) -> Score:
    """The similarity of two sounds, from 0 to 1: their spectra, aligned in time. Needs the package librosa."""
    import librosa
    import numpy as np

    spectra = []
    for path in (result, expected):
        with suppress(Exception):  # librosa's readers raise errors of many libraries
            samples, rate = librosa.load(path)
            if len(samples):
                spectra.append(librosa.util.normalize(librosa.feature.mfcc(y=samples, sr=rate), axis=1))
    if len(spectra) < 2:
        return score_of(not spectra, f"{'both files hold' if not spectra else 'one of the files holds'} no sound")
    sums, path = librosa.sequence.dtw(*spectra, metric="cosine")
    similarity = float(np.exp(-sums[-1, -1] / len(path)))
    return Score(similarity, f"the sounds have a similarity of {similarity:.3f}")


def _frames(path: Path) -> Iterator[int]:
    import cv2
    from PIL import Image

    video = cv2.VideoCapture(str(path))
    try:
        while True:
            read, frame = video.read()
            if not read:
                return
            yield perceptual_hash(Image.fromarray(frame[..., ::-1]))
    finally:
        video.release()
