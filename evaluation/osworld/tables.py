"""All steps, getters and metrics, by the names that task files use."""

from __future__ import annotations

from evaluation.formats import accessibility, browser, documents, files, pictures, preferences, slides, workbooks
from evaluation.state import getters, metrics, steps
from evaluation.state.getters import Getter
from evaluation.state.metrics import Metric
from evaluation.state.steps import Perform

STEPS: dict[str, Perform] = steps.STEPS | browser.STEPS
GETTERS: dict[str, Getter] = (
    getters.GETTERS | accessibility.GETTERS | browser.GETTERS | files.GETTERS | preferences.GETTERS
)
METRICS: dict[str, Metric] = (
    metrics.METRICS
    | accessibility.METRICS
    | browser.METRICS
    | documents.METRICS
    | files.METRICS
    | pictures.METRICS
    | preferences.METRICS
    | slides.METRICS
    | workbooks.METRICS
)
