"""Archives and folders: what they hold, compared file by file with the metric of their format."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Callable
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import Any, Literal

from evaluation.formats.documents import compare_docx_files
from evaluation.formats.files import compare_csv
from evaluation.formats.media import compare_audios, compare_videos
from evaluation.formats.pdf import compare_pdfs, pdf_text_of
from evaluation.formats.pictures import compare_images
from evaluation.formats.slide_comparison import METRICS as SLIDE_METRICS
from evaluation.state.metrics import IncludeExclude, Score, compare_text_file, expect_each, score_of, score_unless
from evaluation.state.reading import as_format

ALIKE_PDF = 0.95  # least similarity of the texts of two PDF files that count as the same


def _compare_slides(result: Path, expected: Path) -> Score:
    metric = SLIDE_METRICS["compare_pptx_files"]
    return metric.score(result, expected, metric.options())


_COMPARERS: dict[str, Callable[..., Score]] = {
    "text": compare_text_file,
    "pdf": compare_pdfs,
    "docx": compare_docx_files,
    "ppt": _compare_slides,
    "image": compare_images,
    "csv": compare_csv,
    "audio": compare_audios,
    "video": compare_videos,
}
FileType = Literal["text", "pdf", "docx", "ppt", "image", "csv", "audio", "video"]


def compare_archive(result: Path, expected: Path, *, file_type: FileType = "text", file_path: str = "") -> Score:
    """Two archives (zip or tar) have the same names in a folder; the mean score of the files by their metric.

    Args:
        result: The archive.
        expected: Another one.
        file_type: Which metric compares the files.
        file_path: The folder in both; times and order of what it holds do not count.
    """
    found, wanted = _members(result), _members(expected)
    names, others = (sorted(_in_folder(members, file_path)) for members in (found, wanted))
    if names != others:
        return Score(0.0, f"{result.name} holds {names}, expected {others}")
    scores = []
    with TemporaryDirectory(prefix="agent-s-archive-") as folder:
        for name in names:
            one = _written(found, file_path, name, Path(folder) / "a")
            two = _written(wanted, file_path, name, Path(folder) / "b")
            scores.append(float(one == two) if one is None or two is None else _COMPARERS[file_type](one, two).value)
    mean = sum(scores) / len(scores) if scores else 0.0
    return Score(mean, f"the mean score of {len(scores)} files is {mean:.3f}")


def compare_zip_files(result: Path, expected: Path) -> Score:
    """Two zip archives hold the same files with the same bytes; PDF files may differ by 5% of their texts."""
    found, wanted = _members(result), _members(expected)
    if found.keys() != wanted.keys():
        return Score(0.0, f"{result.name} holds {sorted(found)}, expected {sorted(wanted)}")
    differing = [
        name for name in found if found[name] != wanted[name] and not _same_pdf(name, found[name], wanted[name])
    ]
    return score_of(not differing, f"the archives differ in {differing}" if differing else "the archives hold the same")


def compare_images_in_folder(
    result: Path, expected: Path, *, binary: bool = False, threshold: float = 0.98, require_same_size: bool = False
) -> Score:
    """Two folders hold files of the same names, each a picture like the expected one."""
    found, wanted = (sorted(path.name for path in folder.iterdir()) for folder in (result, expected))
    if found != wanted:
        return Score(0.0, f"the folder holds {found}, expected {wanted}")
    options: dict[str, Any] = {"binary": binary, "threshold": threshold, "require_same_size": require_same_size}
    differing = [name for name in found if compare_images(result / name, expected / name, **options).value == 0]
    return score_of(not differing, f"other pictures: {differing}" if differing else "the pictures are alike")


def check_archive(result: Path, expected: IncludeExclude) -> Score:
    """An archive (zip or tar) has a file for every pattern (`*.txt`) of `include`, and for none of `exclude`."""
    members = _members(result)
    problems = expect_each(
        expected.include,
        expected.exclude,
        lambda pattern: any(fnmatchcase(name, pattern) for name in members),
        "no file fits",
        "a file fits",
    )
    return score_unless(problems, f"{result.name} holds {sorted(members)}")


def _members(path: Path) -> dict[str, bytes]:
    """Return the files of an archive and their content."""
    errors = (tarfile.TarError, OSError, RuntimeError, EOFError)
    with as_format(path, "a zip or tar archive", *errors):
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                return {info.filename: archive.read(info) for info in archive.infolist() if not info.is_dir()}
        with tarfile.open(path) as tar:
            return {
                member.name.removeprefix("./"): file.read()
                for member in tar
                if (file := tar.extractfile(member)) is not None
            }


def _in_folder(members: dict[str, bytes], folder: str) -> set[str]:
    inside = [path.relative_to(folder) for path in map(PurePosixPath, members) if path.is_relative_to(folder)]
    return {path.parts[0] for path in inside}


def _written(members: dict[str, bytes], folder: str, name: str, target: Path) -> Path | None:
    """Return the path of a file of an archive, written into a folder; None for a folder of the archive."""
    content = members.get(str(PurePosixPath(folder) / name))
    if content is None:
        return None
    target.mkdir(exist_ok=True)
    path = target / PurePosixPath(name).name
    path.write_bytes(content)
    return path


def _same_pdf(name: str, one: bytes, two: bytes) -> bool:
    if not name.lower().endswith(".pdf"):
        return False
    with TemporaryDirectory(prefix="agent-s-archive-") as folder:
        paths = [Path(folder) / side for side in ("a.pdf", "b.pdf")]
        for path, content in zip(paths, (one, two), strict=True):
            path.write_bytes(content)
        found, wanted = map(pdf_text_of, paths)
    return SequenceMatcher(None, found, wanted).ratio() >= ALIKE_PDF
