"""Task files in OSWorld's format: the instruction, the initial state, and how the result is checked.

A file is validated as a whole when it is read: an unknown key, step, getter or metric is an error that names the file,
the key and the nearest valid name, never a task that scores 0.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar, Union

from pydantic import (
    BeforeValidator,
    Field,
    GetPydanticSchema,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    model_validator,
)

from aci.errors import AciError
from evaluation.errors import EvaluationError, PreparationFailed, TaskFileError
from evaluation.osworld.osmap import HIERARCHY, MAPPINGS, osmap_labels
from evaluation.osworld.tables import GETTERS, METRICS, STEPS
from evaluation.state.context import TaskContext, substituted
from evaluation.state.metrics import Metric, with_key
from evaluation.state.parameters import Parameters, keywords, known_part, new_model, parameters_of

P = TypeVar("P", bound=Parameters)
INFEASIBLE = "infeasible"
SEVERAL_APPLICATIONS = "multi_apps"
IGNORED_KEYS = frozenset({"trajectory", "proxy", "fixed_ip", "possibility_of_env_change", "unread"})
"""Keys of OSWorld's files that concern its own machinery."""


class Step(Parameters):
    """One step of `config` or `postconfig`; texts may hold `{name}` until its value is known."""

    type: str  # name in `evaluation.osworld.tables.STEPS`
    parameters: Parameters  # parameters of that type


class Source(Parameters):
    """Origin of a value; texts may hold `{name}` until its value is known."""

    type: str  # name in `evaluation.osworld.tables.GETTERS`, whose parameters are further fields


class Rule(Source):
    """Rules of a metric, written into the task file; a bare list stands for the key `rules` inside them."""

    type: Literal["rule"]
    rules: Parameters


def _one_of(variants: Iterable[type[Parameters]], key: str) -> GetPydanticSchema:
    """Have a field hold the variant that the value of `key` names."""
    union: Any = Annotated[Union[tuple(variants)], Field(discriminator=key)]  # noqa: UP007 - built from a table
    return GetPydanticSchema(lambda _source, handler: handler.generate_schema(union))


_NO_KEYS: Any = Field(default_factory=dict, validate_default=True)
AnyStep = Annotated[
    Step,
    _one_of(
        (
            new_model(name, Step, type=(Literal[name], ...), parameters=(parameters_of(step), _NO_KEYS))
            for name, step in STEPS.items()
        ),
        "type",
    ),
]
_SOURCES: dict[str, type[Source]] = {
    name: new_model(name, parameters_of(getter), Source, type=(Literal[name], ...)) for name, getter in GETTERS.items()
}
_ANY_SOURCE: TypeAdapter[Source] = TypeAdapter(Annotated[Source, _one_of(_SOURCES.values(), "type")])


def _source(content: Any, info: ValidationInfo) -> Source:
    return content if isinstance(content, Source) else _ANY_SOURCE.validate_python(content, context=info.context)


AnySource = Annotated[Source, PlainValidator(_source)]
"""One schema for all places, since that of so many getters is large."""


class Check(Parameters):
    """One metric, what it judges, and what it expects."""

    func: str  # name in `evaluation.osworld.tables.METRICS`
    result: AnySource  # what it judges
    expected: Source | None = None  # what it expects; None for metrics that need only options
    options: Parameters


def _expected_of(name: str, metric: Metric) -> PlainValidator:
    """Return what reads `expected` for a metric: its rules, or a getter."""

    @cache
    def its_rule() -> type[Rule]:
        rules: Any = Annotated[metric.rules or Parameters, BeforeValidator(with_key)]
        return new_model(f"{name}_rule", Rule, rules=(rules, ...))  # type: ignore[no-any-return]

    def validate(content: Any, info: ValidationInfo) -> Source | None:
        if content is None:
            return None
        if isinstance(content, dict) and content.get("type") == "rule":
            if metric.takes_any:  # some files leave the key `rules` out
                rest = {key: value for key, value in content.items() if key != "type"}
                content = content if "rules" in content else {"type": "rule", "rules": rest}
            elif metric.rules is None:
                raise ValueError("this metric takes no rules")
            else:
                return its_rule().model_validate(content, context=info.context)
        return _source(content, info)

    return PlainValidator(validate)


def _checks() -> Iterable[type[Check]]:
    for name, metric in METRICS.items():
        source: Any = Annotated[Source | None, _expected_of(name, metric)]
        expected = (source, ... if metric.needs_expected else None)
        yield new_model(name, Check, func=(Literal[name], ...), expected=expected, options=(metric.options, _NO_KEYS))


AnyCheck = Annotated[Check, _one_of(_checks(), "func")]


class Evaluator(Parameters):
    """How a task is checked."""

    checks: tuple[AnyCheck, ...]  # the metrics; empty if the task is infeasible, and the right outcome is to say so
    conj: Literal["and", "or"] = "and"  # whether all checks must hold or one is enough
    postconfig: tuple[AnyStep, ...] = ()  # steps before the check

    @model_validator(mode="before")
    @classmethod
    def _collect_checks(cls, content: Any, info: ValidationInfo) -> Any:
        """Turn `func` and its companions, one of each or lists of the same length, into `checks`."""
        if not isinstance(content, dict) or "func" not in content:
            return content
        content = known_part(content, (*_COLUMNS, "conj", "postconfig"), info)
        rest = {key: value for key, value in content.items() if key not in _COLUMNS}
        if (func := content["func"]) == INFEASIBLE:
            return {**rest, "checks": ()}
        if func == []:
            raise ValueError("func is an empty list")
        many = isinstance(func, list)
        columns = {key: content[key] if many else [content[key]] for key in _COLUMNS if content.get(key) is not None}
        for key, column in columns.items():
            if not isinstance(column, list):
                raise ValueError(f"{key} must be a list, as func is")
            if len(column) != len(columns["func"]):
                raise ValueError(f"{key} has {len(column)} entries, func has {len(columns['func'])}")
        rows = zip(*columns.values(), strict=True)
        return {**rest, "checks": [{key: cell for key, cell in zip(columns, row, strict=True) if cell} for row in rows]}

    @property
    def infeasible(self) -> bool:
        """Whether the right outcome is to say that the task cannot be done."""
        return not self.checks


_COLUMNS = ("func", "result", "expected", "options")


def _in_capitals(level: Any) -> Any:
    return level.upper() if isinstance(level, str) else level


class TaskFile(Parameters):
    """A task as its file describes it."""

    id: Annotated[str, Field(min_length=1, max_length=200)]  # its name
    instruction: Annotated[str, Field(min_length=1)]  # what the agent is asked to do; may hold `{name}`
    evaluator: Evaluator  # how it is checked
    config: tuple[AnyStep, ...] = ()  # steps that set up the initial state
    related_apps: tuple[str, ...] = ()  # the applications it is about
    snapshot: str | None = None  # OSWorld's name for the initial state; not used here
    spec_snapshot: str | None = None  # a state of OS-MAP's machine that the task needs, if it needs one
    source: Any = None  # where the task comes from
    # how much is left to the agent, in OS-MAP's terms: L1 (execute) to L4 (adapt)
    level: Annotated[Literal["L1", "L2", "L3", "L4"] | None, BeforeValidator(_in_capitals)] = None
    domain: str | None = None  # OS-MAP's domain
    path: Path  # the file; fixtures are in the same folder
    unread: tuple[str, ...] = ()  # unknown keys of the file, which nothing reads

    @property
    def folder(self) -> Path:
        """Folder of the file."""
        return self.path.parent

    @property
    def bundled(self) -> bool:
        """Whether the file is of a set that comes with this program."""
        from agent_s.settings import configs_folder

        return self.path.resolve().is_relative_to(configs_folder().resolve())

    @property
    def labels(self) -> dict[str, str]:
        """Labels to group results by; as in OSWorld, tasks of several applications form a group of their own."""
        application = SEVERAL_APPLICATIONS if len(self.related_apps) > 1 else "".join(self.related_apps)
        named = {"application": application, "level": self.level or "", "domain": self.domain or ""}
        return {key: value for key, value in named.items() if value}


def resolved(parameters: P, values: Mapping[str, str], home: str | None = None) -> P:
    """Return parameters with values in place of their names, and a desktop's home for OSWorld's."""
    written = parameters.model_dump(exclude_unset=True, by_alias=True)
    return type(parameters).model_validate(substituted(written, values, home))


def perform_step(step: Step, context: TaskContext) -> None:
    """Do one step.

    Raises:
        PreparationFailed: It could not be done; the message names the type of step.
    """
    try:
        STEPS[step.type](context, **keywords(resolved(step.parameters, context.values, context.home)))
    except ValidationError as error:
        raise PreparationFailed(f"step {step.type!r}: {error.errors()[0]['msg']}") from error
    except (EvaluationError, AciError) as error:
        raise PreparationFailed(f"step {step.type!r}: {error}") from error


def load_each(folder: Path) -> tuple[list[TaskFile], dict[Path, TaskFileError]]:
    """Read each task file of a folder, or of its subfolders if it holds none itself.

    Returns:
        The tasks by file name, and the errors of the files that are not valid. Where files of several folders have the
        same id, as some of OS-MAP's do, the id of the later one begins with its folder. Levels and domains are OS-MAP's
        where its files for them are beside the folder (`evaluation.osworld.osmap`).

    Raises:
        TaskFileError: There is no file at all.
    """
    paths = sorted(path for path in folder.glob("*.json") if path.name not in (MAPPINGS, HIERARCHY)) or sorted(
        folder.glob("*/*.json")
    )
    if not paths:
        deeper = next((path.parent.parent for path in sorted(folder.glob("*/*/*.json"))), None)
        hint = f" Give the folder of the applications instead: {deeper}." if deeper is not None else ""
        raise TaskFileError(f"There is no task file (*.json) in {folder} or the folders in it.{hint}")
    labels = osmap_labels(folder)
    tasks: dict[str, TaskFile] = {}
    problems: dict[Path, TaskFileError] = {}
    for path in paths:
        try:
            task = load_task(path)
            task = task.model_copy(update=labels.get((path.parent.name, path.stem), {}))
            if task.id in tasks and tasks[task.id].folder != task.folder:
                task = task.model_copy(update={"id": f"{path.parent.name}/{task.id}"})
            if task.id in tasks:
                raise TaskFileError(f"{path}: the id {task.id!r} is also that of {tasks[task.id].path.name}.")
            tasks[task.id] = task
        except TaskFileError as error:
            problems[path] = error
    return list(tasks.values()), problems


def load_tasks(folder: Path) -> list[TaskFile]:
    """Read all task files of a folder; see `load_each`.

    Raises:
        TaskFileError: There is no file, one is not valid, or two have the same id.
    """
    tasks, problems = load_each(folder)
    for error in problems.values():
        raise error
    return tasks


def load_task(path: Path) -> TaskFile:
    """Read one task file.

    Raises:
        TaskFileError: It cannot be read or is not valid.
    """
    try:
        text = path.read_text(encoding="utf-8")
        content = json.loads(text)
    except OSError as error:
        raise TaskFileError(f"{path}: cannot be read: {error.strerror or error}.") from error
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise TaskFileError(f"{path}: is not JSON: {error}.") from error
    if isinstance(content, dict):
        content = {key: value for key, value in content.items() if key not in IGNORED_KEYS} | {"path": path}
    unread: list[str] = []
    try:
        task = TaskFile.model_validate(content, context={"unread": unread})
    except ValidationError as error:
        raise TaskFileError(f"{path}: {_explain(error)}") from error
    if "{server}" in text and not any(step.type == "serve" for step in task.config):
        raise TaskFileError(f"{path}: {{server}} is used, but no step of type 'serve' is in config.")
    return task.model_copy(update={"unread": tuple(unread)})


_RULE = "{'type': 'rule', 'rules': ...}"


def _explain(error: ValidationError) -> str:
    """Return the first problem of a file in a sentence."""
    problem = error.errors()[0]
    kind, loc, context = problem["type"], problem["loc"], problem.get("ctx", {})
    place = _place(loc)
    if kind == "missing":
        where = f" in {_place(loc[:-1])}" if loc[:-1] else ""
        hint = ""
        if loc[-1] == "expected" and (metric := METRICS.get(str(loc[-2]))) is not None:
            hint = f": this metric needs {'a getter' if metric.rules is None else _RULE}"
        return f"the key {loc[-1]!r} is missing{where}{hint}."
    if kind == "union_tag_not_found":
        return f"the key {context['discriminator']} is missing{f' in {place}' if place else ''}."
    if kind == "unknown_key":
        return f"unknown key {context['key']!r} in {place or 'the file'}{near(context['key'], context['known'])}"
    if kind == "union_tag_invalid":
        tag, key = context["tag"], context["discriminator"].strip("'")
        what = "metric" if key == "func" else "getter" if loc[-1] in _COLUMNS else "type of step"
        known = re.findall(r"'([^']+)'", context["expected_tags"])
        return f"{_place((*loc, key))}: unknown {what} {tag!r}{near(tag, known)}"
    return f"{place}: {problem['msg'].removeprefix('Value error, ')}."


def _place(loc: tuple[int | str, ...]) -> str:
    """Return a place as the file has it: `evaluator.result[1].path`, without the names of variants."""
    parts: list[str] = []
    index = ""
    for before, part in zip((None, *loc), loc, strict=False):
        is_variant = isinstance(before, int) or before in ("result", "expected")
        if part == "checks" or (is_variant and (part in STEPS or part in GETTERS or part in METRICS)):
            continue
        if isinstance(part, int) and before == "checks":
            index = f"[{part}]" if part else ""
        elif isinstance(part, int):
            parts[-1] += f"[{part}]"
        else:
            parts.append(f"{part}{index}")
            index = ""
    return ".".join(parts)


def near(name: str, known: Iterable[str]) -> str:
    """Return the nearest of the known names as a question that ends a sentence, or all of them."""
    names = sorted(known)
    if found := difflib.get_close_matches(name, names, n=1):
        return f"; did you mean {found[0]!r}?"
    return f"; valid are: {', '.join(names)}." if names else "."
