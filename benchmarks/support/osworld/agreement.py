"""Runs this program's metrics beside the originals, and says where they differ."""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Any

from pydantic import ValidationError

from benchmarks.support.osworld.cases import Case, all_cases
from evaluation.errors import EvaluationError
from evaluation.osworld.tables import METRICS

PYTHON_VARIABLE = "OSWORLD_PYTHON"
DEFAULT_PYTHON = Path(".venv-osworld/bin/python")
RECORDED = Path(__file__).parents[2] / "data" / "osworld_verdicts.json"
"""The originals' answers by metric, in the order of the cases; `RAISED` for an exception. Written by this module."""
RAISED = "raised"
TOLERANCE = 0.01
"""Largest difference of two scores that count as the same verdict."""
LIMIT_S = 600.0
BROKEN = "the original raises an exception; this program gives 0, or says that it cannot judge"

EXPLAINED: dict[str, str] = {
    "check_thunderbird_folder": "the original skips every mail, so that all folders are the same",
    "compare_font_names": "a font of the style counts too, and an empty run does not",
    "is_first_line_centered": "an alignment of the style counts too",
    "has_page_numbers_in_footers": "a field with the number counts, and any paragraph of the footer",
    "check_green_background": "the original takes rows for columns, and raises for images that are not square",
    "is_cookie_deleted": "a cookie of a part of the domain, such as www, counts",
    "check_config_status": "the last line of a key counts, not any",
    "compare_image_list": "the original compares only transparency where there is any",
    "is_in_vm_clickboard": "the original takes its arguments the other way round, and raises an exception",
    "compare_pdf_images": "a damaged PDF is no PDF; for the original it is one without pictures",
    "compare_htmls": "an empty page is not the same as any; the original compares only as far as both go",
    "check_image_size": "a damaged image is no image; the original reads only its header",
    "check_presenter_console_disable": "a damaged profile cannot be judged; the original gives 0",
    "find_default_font": "a damaged profile cannot be judged; the original gives 0",
}
"""Metrics whose verdicts differ on purpose, and why."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A case in which the verdicts differ."""

    case: Case
    ours: float | str  # this program's score, or why it cannot judge
    original: float | str  # the original's score, or its exception
    reason: str  # why they differ, if that is on purpose


@dataclass(frozen=True, slots=True)
class Agreement:
    """The result of all cases."""

    cases: Counter[str]  # number of cases by metric
    differences: tuple[Difference, ...]  # those with other verdicts

    @property
    def same(self) -> float:
        """The part of the cases with the same verdict."""
        return 1 - len(self.differences) / max(self.cases.total(), 1)

    @property
    def share(self) -> float:
        """The part of the cases with the same verdict, or with a difference that is explained."""
        unexplained = sum(not difference.reason for difference in self.differences)
        return 1 - unexplained / max(self.cases.total(), 1)


def originals_python() -> Path | None:
    """Return the Python that has `desktop-env`, by environment variable or as `make osworld` installs it."""
    path = Path(os.environ.get(PYTHON_VARIABLE, DEFAULT_PYTHON))
    return path if path.exists() else None


def agreement(python: Path | None) -> Agreement:
    """Run all cases here and beside the originals, or beside their recorded answers if there is no `python`."""
    with TemporaryDirectory(prefix="agent-s-osworld-") as place:
        folder = Path(place) / "ours"
        cases = list(all_cases(folder))
        answers = recorded_answers(cases) if python is None else _answers_to(python, cases, Path(place))
        scored = zip(cases, map(own_score, cases), answers, strict=True)
        differences = [
            Difference(case, ours, answer, _reason(case, ours, answer))
            for case, ours, answer in scored
            if not _same(ours, answer)
        ]
    return Agreement(Counter(case.metric for case in cases), tuple(differences))


def record(python: Path) -> None:
    """Write the originals' answers to `RECORDED`."""
    with TemporaryDirectory(prefix="agent-s-osworld-") as place:
        cases = list(all_cases(Path(place) / "ours"))
        answers = _answers_to(python, cases, Path(place))
    recorded: dict[str, list[Any]] = {}
    for case, answer in zip(cases, answers, strict=True):
        recorded.setdefault(case.metric, []).append(RAISED if isinstance(answer, str) else round(float(answer), 4))
    lines = (f" {json.dumps(metric)}: {json.dumps(found)}" for metric, found in sorted(recorded.items()))
    RECORDED.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def recorded_answers(cases: Sequence[Case]) -> list[Any]:
    """Return the recorded answers to these cases.

    Raises:
        ValueError: Other cases were recorded.
    """
    recorded = json.loads(RECORDED.read_text())
    if Counter({metric: len(found) for metric, found in recorded.items()}) != Counter(case.metric for case in cases):
        raise ValueError("The cases have changed: run python -m benchmarks.support.osworld.agreement.")
    answers = {metric: iter(found) for metric, found in recorded.items()}
    return [next(answers[case.metric]) for case in cases]


def _answers_to(python: Path, cases: Sequence[Case], place: Path) -> list[Any]:
    copytree(place / "ours", place / "theirs")  # some originals write beside what they judge
    return original_answers(python, [_request(case, str(place)) for case in cases])


def own_score(case: Case) -> float | str:
    """Return this program's score of a case, or why it cannot judge."""
    metric = METRICS[case.metric]
    expected = case.expected
    if isinstance(expected, list) and metric.rules is not None:
        expected = {"rules": expected}
    try:
        return metric.score(case.result, expected, metric.options.model_validate(case.options)).value
    except (EvaluationError, ValidationError) as error:
        return f"{type(error).__name__}: {error}"


def original_answers(python: Path, requests: Sequence[dict[str, Any]]) -> list[Any]:
    """Return the originals' answers: values, or texts of exceptions."""
    script = Path(__file__).with_name("originals.py").resolve()
    with TemporaryDirectory(prefix="agent-s-osworld-") as folder:
        ended = subprocess.run(
            [str(python.absolute()), str(script)],
            input=json.dumps(requests),
            capture_output=True,
            text=True,
            cwd=folder,
            timeout=LIMIT_S,
            check=True,
        )
    return [answer["error"] if "error" in answer else answer["value"] for answer in json.loads(ended.stdout)]


def _request(case: Case, place: str) -> dict[str, Any]:
    def theirs(value: Any) -> Any:
        return str(value).replace(f"{place}/ours", f"{place}/theirs") if isinstance(value, Path) else value

    result = case.result if case.original is None else case.original
    return {
        "kind": "metric",
        "name": case.metric,
        "result": theirs(result),
        "expected": theirs(case.expected),
        "options": case.options,
    }


def _same(ours: float | str, original: Any) -> bool:
    return not isinstance(ours, str) and not isinstance(original, str) and abs(ours - original) <= TOLERANCE


def _reason(case: Case, ours: float | str, original: Any) -> str:
    if isinstance(original, str) and (isinstance(ours, str) or ours == 0):
        return BROKEN
    return EXPLAINED.get(case.metric, "")


if __name__ == "__main__":
    found = originals_python()
    if found is None:
        raise SystemExit("OSWorld's package is not installed: make osworld")
    record(found)
