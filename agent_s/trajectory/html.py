"""HTML pages from the packaged templates, with all values escaped."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def render_page(template: str, filters: Mapping[str, Callable[..., Any]] | None = None, **values: Any) -> str:
    """Render a packaged template; a variable that is missing in `values` is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("agent_s.trajectory"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters or {})
    return environment.get_template(template).render(**values)
