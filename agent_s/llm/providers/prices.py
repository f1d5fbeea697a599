"""Prices of tokens, from a dated file; an unknown price is never guessed."""

from __future__ import annotations

from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_s.errors import SettingsError
from agent_s.records import Usage

Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(BaseModel):
    """US dollars per million tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Dollars  # input that is neither read from a cache nor written to one
    cached: Dollars  # input read from the provider's cache
    written: Dollars  # input written to the provider's cache
    output: Dollars  # output
    searches: Dollars | None = None  # a thousand web searches by the provider; None if unknown


class Prices(BaseModel):
    """A price list."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    date: date  # when it was checked
    defaults: dict[str, str] = {}  # default model of each provider
    models: dict[str, Price] = {}  # prices by name, such as "anthropic:NAME"

    def dollars(self, model: str, usage: Usage) -> float | None:
        """Return the cost of a request, or None if the price is unknown."""
        price = self.models.get(model)
        if price is None or (usage.searches and price.searches is None):
            return None
        plain = max(0, usage.input_tokens - usage.cached_tokens - usage.written_tokens)
        return (
            plain * price.input
            + usage.cached_tokens * price.cached
            + usage.written_tokens * price.written
            + usage.output_tokens * price.output
        ) / 1_000_000 + usage.searches * (price.searches or 0.0) / 1000


def load_prices(path: Path | None = None) -> Prices:
    """Read a price list.

    Args:
        path: A YAML file; None for the packaged one.

    Raises:
        SettingsError: The file is not a price list.
    """
    import yaml

    try:
        text = (
            path.read_text(encoding="utf-8")
            if path
            else (files("agent_s.llm.providers") / "prices.yaml").read_text("utf-8")
        )
        return Prices.model_validate(yaml.safe_load(text))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as error:
        raise SettingsError(f"provider.prices: {path} is not a price list: {error}") from error
