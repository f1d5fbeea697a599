"""All steps, getters and metrics there are: what a module enters is known once the module is imported here."""

from __future__ import annotations

from evaluation.formats import accessibility, browser, documents, files, pictures, preferences, slides, workbooks
from evaluation.osworld.getters import GETTERS
from evaluation.osworld.metrics import METRICS
from evaluation.osworld.steps import STEPS

__all__ = ["ENTERED_BY", "GETTERS", "METRICS", "STEPS"]

ENTERED_BY = (accessibility, browser, documents, files, pictures, preferences, slides, workbooks)
"""Modules that enter getters, metrics or steps besides those of the registries' own modules."""
