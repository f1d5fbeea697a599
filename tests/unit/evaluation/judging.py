"""Calls metrics and getters as the check does: through their models."""

from __future__ import annotations

from typing import Any

from evaluation.osworld.context import TaskContext
from evaluation.osworld.getters import Reading
from evaluation.osworld.metrics import Score
from evaluation.osworld.registries import GETTERS, METRICS


def judge(func: str, result: Any, expected: Any = None, /, **options: Any) -> Score:
    metric = METRICS[func]
    if metric.rules is not None:
        expected = metric.rules.model_validate(expected)
    given = metric.options.model_validate(options)
    return metric.judge(result, expected, **{name: getattr(given, name) for name in type(given).model_fields})


def value(func: str, result: Any, expected: Any = None, /, **options: Any) -> float:
    return judge(func, result, expected, **options).value


def read(context: TaskContext, kind: str, **parameters: Any) -> Reading:
    getter = GETTERS[kind]
    reading: Reading = getter.read(getter.parameters.model_validate(parameters), context)
    return reading
