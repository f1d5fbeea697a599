"""All steps, getters and metrics, by the names that task files use.

Most are public functions of `_MODULES`; the tables of modules hold those that have another name, or come from a table.
"""

from __future__ import annotations

from evaluation.formats import (
    accessibility,
    actions,
    addresses,
    archives,
    browser,
    document_details,
    documents,
    files,
    mail,
    media,
    pages,
    pdf,
    pictures,
    preferences,
    relative_time,
    slide_comparison,
    slide_media,
    slides,
    unavailable,
    values,
    workbooks,
)
from evaluation.state import getters, metrics, steps
from evaluation.state.getters import Getter, getters_in
from evaluation.state.metrics import Metric, metrics_in
from evaluation.state.steps import Perform

_MODULES = (
    getters, metrics, accessibility, actions, addresses, archives, browser, document_details, documents, files, mail,
    media, pages, pdf, pictures, preferences, relative_time, slides, values, workbooks,
)  # fmt: skip

STEPS: dict[str, Perform] = steps.STEPS | pages.STEPS | unavailable.STEPS
GETTERS: dict[str, Getter] = {
    **{name: getter for module in _MODULES for name, getter in getters_in(module.__name__).items()},
    **browser.GETTERS,
    **slide_media.GETTERS,
    **unavailable.GETTERS,
}
METRICS: dict[str, Metric] = {
    **{name: metric for module in _MODULES for name, metric in metrics_in(module.__name__).items()},
    **documents.METRICS,
    **pictures.METRICS,
    **preferences.METRICS,
    **slide_comparison.METRICS,
}
