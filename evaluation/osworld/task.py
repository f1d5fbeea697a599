"""Task files in OSWorld's format: what is wanted, the state it starts from, and how it is checked.

Everything is checked when a file is read: an unknown key, type of step, getter or metric is an error that names the
file, the key and the near name, and never a task that scores 0.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from evaluation.errors import TaskFileError
from evaluation.osworld.context import substituted
from evaluation.osworld.getters import Parameters, with_key
from evaluation.osworld.registries import GETTERS, METRICS, STEPS

INFEASIBLE = "infeasible"
SEVERAL_APPLICATIONS = "multi_apps"

M = TypeVar("M", bound=BaseModel)


class _Format(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Step(_Format):
    """One step of `config` or `postconfig`.

    Attributes:
        type: Name in `evaluation.osworld.steps.STEPS`.
        parameters: What that type takes; may hold `{name}` until the value is known.
    """

    type: str
    parameters: dict[str, Any] = {}

    def resolved(self, values: Mapping[str, str]) -> Parameters:
        """Return the parameters with values in place of their names."""
        parameters: Parameters = STEPS[self.type].parameters.model_validate(substituted(self.parameters, values))
        return parameters


class Source(_Format):
    """One getter with its parameters: all keys but `type`, which may hold `{name}`."""

    type: str
    parameters: dict[str, Any] = {}

    def resolved(self, values: Mapping[str, str]) -> Parameters:
        """Return the parameters with values in place of their names."""
        parameters: Parameters = GETTERS[self.type].parameters.model_validate(substituted(self.parameters, values))
        return parameters


class Check(_Format):
    """One metric, what it judges, and what it expects.

    Attributes:
        func: Name in `evaluation.osworld.metrics.METRICS`.
        result: What it judges.
        expected: What it expects; None for metrics that need nothing but options.
        options: Its options.
    """

    func: str
    result: Source
    expected: Source | None = None
    options: dict[str, Any] = {}


class Evaluator(_Format):
    """How a task is checked.

    Attributes:
        checks: The metrics; empty where the right ending is to say that the task cannot be done.
        conj: Whether all checks must hold or one is enough.
        postconfig: Steps before the check.
    """

    checks: tuple[Check, ...]
    conj: Literal["and", "or"] = "and"
    postconfig: tuple[Step, ...] = ()

    @property
    def infeasible(self) -> bool:
        """Whether the right ending is to say that the task cannot be done."""
        return not self.checks


class TaskFile(_Format):
    """A task as its file describes it.

    Attributes:
        id: Its name.
        instruction: The wish, in words; may hold `{name}`.
        evaluator: How it is checked.
        config: Steps that make the state it starts from.
        related_apps: The applications it is about.
        snapshot: OSWorld's name for the starting state; not used here.
        source: Where the task comes from.
        level: How much of it is left to the agent, as OS-MAP counts: L1 (execute) to L4 (adapt).
        domain: What it is about, in OS-MAP's words.
        path: The file; fixtures lie beside it.
    """

    id: Annotated[str, Field(min_length=1, max_length=200)]
    instruction: Annotated[str, Field(min_length=1)]
    evaluator: Evaluator
    config: tuple[Step, ...] = ()
    related_apps: tuple[str, ...] = ()
    snapshot: str | None = None
    source: str | tuple[str, ...] | None = None
    level: Literal["L1", "L2", "L3", "L4"] | None = None
    domain: str | None = None
    path: Path

    @property
    def folder(self) -> Path:
        """Folder of the file."""
        return self.path.parent

    @property
    def labels(self) -> dict[str, str]:
        """What results are grouped by; tasks of several applications are a group of their own, as in OSWorld."""
        application = SEVERAL_APPLICATIONS if len(self.related_apps) > 1 else "".join(self.related_apps)
        named = {"application": application, "level": self.level or "", "domain": self.domain or ""}
        return {key: value for key, value in named.items() if value}


def load_each(folder: Path) -> tuple[list[TaskFile], dict[Path, TaskFileError]]:
    """Read the task files of a folder, or those of its subfolders where it holds none itself, each for itself.

    Returns:
        The tasks by file name, and why the others are not understood.

    Raises:
        TaskFileError: There is no file at all.
    """
    paths = sorted(folder.glob("*.json")) or sorted(folder.glob("*/*.json"))
    if not paths:
        raise TaskFileError(f"There is no task file (*.json) in {folder}.")
    tasks: dict[str, TaskFile] = {}
    problems: dict[Path, TaskFileError] = {}
    for path in paths:
        try:
            task = load_task(path)
            if task.id in tasks:
                raise TaskFileError(f"{path}: the id {task.id!r} is also that of {tasks[task.id].path.name}.")
            tasks[task.id] = task
        except TaskFileError as error:
            problems[path] = error
    return list(tasks.values()), problems


def load_tasks(folder: Path) -> list[TaskFile]:
    """Read all task files of a folder; see `load_each`.

    Raises:
        TaskFileError: There is none, one is not understood, or two have the same id.
    """
    tasks, problems = load_each(folder)
    for error in problems.values():
        raise error
    return tasks


def load_task(path: Path) -> TaskFile:
    """Read one task file.

    Raises:
        TaskFileError: It cannot be read or is not understood.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TaskFileError(f"{path}: cannot be read: {error.strerror or error}.") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise TaskFileError(f"{path}: is not JSON: {error}.") from error
    return _Reader(path).task(content)


_TASK_KEYS = ("id", "instruction", "evaluator", "config", "related_apps", "snapshot", "source", "level", "domain")
_IGNORED_TASK_KEYS = ("trajectory", "proxy", "fixed_ip", "possibility_of_env_change")
"""Keys of OSWorld's files that say something about its own machinery."""
_EVALUATOR_KEYS = ("func", "result", "expected", "options", "conj", "postconfig")


@dataclass(frozen=True)
class _Reader:
    """Turns the content of one file into a task; every error names the file and the place in it."""

    path: Path

    def task(self, content: Any) -> TaskFile:
        fields = self._object(content, "the file", (*_TASK_KEYS, *_IGNORED_TASK_KEYS))
        given = {key: value for key, value in fields.items() if key not in _IGNORED_TASK_KEYS}
        given["config"] = self._steps(fields.get("config", []), "config")
        given["evaluator"] = self._evaluator(self._needed(fields, "evaluator", ""))
        task = self._fitting(TaskFile, {**given, "path": self.path}, "")
        if "{server}" in json.dumps(content) and not any(step.type == "serve" for step in task.config):
            raise self._error("{server} is used, but no step of type 'serve' is in config")
        return task

    def _steps(self, content: Any, where: str) -> tuple[Step, ...]:
        return tuple(self._step(step, f"{where}[{number}]") for number, step in enumerate(self._list(content, where)))

    def _step(self, content: Any, where: str) -> Step:
        fields = self._object(content, where, ("type", "parameters"))
        kind = self._known(self._needed(fields, "type", where), STEPS, f"{where}.type", "type of step")
        parameters = self._object(
            fields.get("parameters", {}), f"{where}.parameters", STEPS[kind].parameters.model_fields
        )
        self._fitting(STEPS[kind].parameters, parameters, f"{where}.parameters")
        return Step(type=kind, parameters=parameters)

    def _evaluator(self, content: Any) -> Evaluator:
        fields = self._object(content, "evaluator", _EVALUATOR_KEYS)
        func = self._needed(fields, "func", "evaluator")
        given = {
            "checks": () if func == INFEASIBLE else self._checks(func, fields),
            "conj": fields.get("conj", "and"),
            "postconfig": self._steps(fields.get("postconfig", []), "evaluator.postconfig"),
        }
        return self._fitting(Evaluator, given, "evaluator")

    def _checks(self, func: Any, fields: Mapping[str, Any]) -> tuple[Check, ...]:
        """Read `func` and what goes with it: one of each, or lists of the same length."""
        if not isinstance(func, list):
            return (self._check(func, fields.get("result"), fields.get("expected"), fields.get("options"), ""),)
        if not func:
            raise self._error("evaluator.func is an empty list")
        columns = []
        for key in ("result", "expected", "options"):
            column = fields.get(key)
            if column is None:
                column = [None] * len(func)
            if len(self._list(column, f"evaluator.{key}")) != len(func):
                raise self._error(f"evaluator.{key} has {len(column)} entries, evaluator.func has {len(func)}")
            columns.append(column)
        return tuple(
            self._check(name, result, expected, options, f"[{number}]")
            for number, (name, result, expected, options) in enumerate(zip(func, *columns, strict=True))
        )

    def _check(self, func: Any, result: Any, expected: Any, options: Any, index: str) -> Check:
        name = self._known(func, METRICS, f"evaluator.func{index}", "metric")
        metric, where = METRICS[name], f"evaluator.options{index}"
        given = self._object(options or {}, where, metric.options.model_fields)
        self._fitting(metric.options, given, where)
        if result is None:
            raise self._error(f"evaluator.result{index} is missing: {name} needs something to judge")
        return Check(
            func=name,
            result=self._source(result, f"evaluator.result{index}"),
            expected=self._expected(name, expected, f"evaluator.expected{index}"),
            options=given,
        )

    def _expected(self, func: str, content: Any, where: str) -> Source | None:
        source = self._source(content, where) if content else None
        rules = METRICS[func].rules
        if rules is None:
            if source is not None and source.type == "rule":
                raise self._error(f"{where}: {func} takes no rules here")
            return source
        if source is None or source.type != "rule":
            raise self._error(f"{where}: {func} needs rules: {{'type': 'rule', 'rules': {{...}}}}")
        given = self._object(with_key(source.parameters["rules"]), f"{where}.rules", rules.model_fields)
        self._fitting(rules, given, f"{where}.rules")
        return source

    def _source(self, content: Any, where: str) -> Source:
        kind = self._known(
            self._needed(self._object(content, where), "type", where), GETTERS, f"{where}.type", "getter"
        )
        model = GETTERS[kind].parameters
        parameters = {key: value for key, value in content.items() if key != "type"}
        self._fitting(model, self._object(parameters, where, model.model_fields), where)
        return Source(type=kind, parameters=parameters)

    def _object(self, content: Any, where: str, keys: Iterable[str] | None = None) -> dict[str, Any]:
        if not isinstance(content, dict):
            raise self._error(f"{where} must be an object, not {type(content).__name__}")
        for key in content:
            if keys is not None and key not in keys:
                raise self._error(f"unknown key {key!r} in {where}{_near(key, keys)}")
        return content

    def _list(self, content: Any, where: str) -> list[Any]:
        if not isinstance(content, list):
            raise self._error(f"{where} must be a list, not {type(content).__name__}")
        return content

    def _needed(self, fields: Mapping[str, Any], key: str, where: str) -> Any:
        if key not in fields:
            raise self._error(f"the key {key!r} is missing{f' in {where}' if where else ''}")
        return fields[key]

    def _known(self, name: Any, names: Iterable[str], where: str, what: str) -> str:
        if not isinstance(name, str) or name not in names:
            raise self._error(f"{where}: unknown {what} {name!r}{_near(str(name), names)}")
        return name

    def _fitting(self, model: type[M], values: Mapping[str, Any], where: str) -> M:
        try:
            return model.model_validate(values)
        except ValidationError as error:
            problems = error.errors()
            # An unknown key says more than the missing one for which it was probably meant.
            first = next((item for item in problems if item["type"] == "extra_forbidden"), problems[0])
            place = ".".join(part for part in (where, *map(str, first["loc"])) if part)
            if first["type"] != "extra_forbidden":
                raise self._error(f"{place}: {first['msg']}") from error
            beside = [item["loc"] for item in problems if item["type"] == "missing"]
            missing = [str(loc[-1]) for loc in beside if loc[:-1] == first["loc"][:-1]]
            raise self._error(f"unknown key {place}{_near(str(first['loc'][-1]), missing)}") from error

    def _error(self, problem: str) -> TaskFileError:
        return TaskFileError(f"{self.path}: {problem}{'' if problem.endswith('?') else '.'}")


def _near(name: str, names: Iterable[str]) -> str:
    known = sorted(names)
    near = difflib.get_close_matches(name, known, n=1)
    if near:
        return f"; did you mean {near[0]!r}?"
    return f"; there are: {', '.join(known)}" if known else ""
