"""Calls metrics, getters and steps as a task does: through their models."""

from __future__ import annotations

from typing import Any

from evaluation.osworld.tables import GETTERS, METRICS, STEPS
from evaluation.osworld.task import Step, perform_step
from evaluation.state.context import TaskContext
from evaluation.state.metrics import Score
from evaluation.state.parameters import keywords, parameters_of
from evaluation.state.reading import Reading


def judge(func: str, result: Any, expected: Any = None, /, **options: Any) -> Score:
    metric = METRICS[func]
    if metric.rules is not None:
        expected = metric.rules.model_validate(expected)
    return metric.score(result, expected, metric.options.model_validate(options))


def value(func: str, result: Any, expected: Any = None, /, **options: Any) -> float:
    return judge(func, result, expected, **options).value


def read(context: TaskContext, kind: str, **parameters: Any) -> Reading:
    getter = GETTERS[kind]
    return getter(context, **keywords(parameters_of(getter).model_validate(parameters)))


def perform(context: TaskContext, kind: str, /, **parameters: Any) -> None:
    perform_step(Step(type=kind, parameters=parameters_of(STEPS[kind]).model_validate(parameters)), context)
