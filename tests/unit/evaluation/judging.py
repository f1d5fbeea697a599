"""Calls metrics, getters and steps as a task does: through their models."""

from __future__ import annotations

from typing import Any

from evaluation.osworld.tables import GETTERS, METRICS, STEPS
from evaluation.osworld.task import Step, perform_step
from evaluation.state.context import TaskContext
from evaluation.state.getters import Reading
from evaluation.state.metrics import Score


def judge(func: str, result: Any, expected: Any = None, /, **options: Any) -> Score:
    metric = METRICS[func]
    if metric.rules is not None:
        expected = metric.rules.model_validate(expected)
    return metric.score(result, expected, metric.options.model_validate(options))


def value(func: str, result: Any, expected: Any = None, /, **options: Any) -> float:
    return judge(func, result, expected, **options).value


def read(context: TaskContext, kind: str, **parameters: Any) -> Reading:
    getter = GETTERS[kind]
    reading: Reading = getter.read(getter.parameters.model_validate(parameters), context)
    return reading


def perform(context: TaskContext, kind: str, /, **parameters: Any) -> None:
    perform_step(Step(type=kind, parameters=STEPS[kind].parameters.model_validate(parameters)), context)
