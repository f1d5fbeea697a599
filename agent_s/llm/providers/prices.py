"""What tokens cost, from a dated file; a price that is not known is never made up."""

from __future__ import annotations

from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent_s.errors import SettingsError

if TYPE_CHECKING:
    from agent_s.llm.providers.conversation import Spent

Dollars = Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Price(BaseModel):
    """US dollars per million tokens.

    Attributes:
        input: Sent, and neither read from a cache nor written to one.
        cached: Read from the provider's cache.
        written: Written to it.
        output: Received.
        searches: A thousand searches of the web by the provider; None where that is not known.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: Dollars
    cached: Dollars
    written: Dollars
    output: Dollars
    searches: Dollars | None = None


class Prices(BaseModel):
    """A price list.

    Attributes:
        date: When it was checked.
        defaults: Model by provider, where only the provider is named.
        models: Prices by name, such as "anthropic:NAME".
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    date: date
    defaults: dict[str, str] = {}
    models: dict[str, Price] = {}

    def dollars(self, model: str, spent: Spent) -> float | None:
        """Return what a request cost, or None where the price is not known."""
        price = self.models.get(model)
        if price is None or (spent.searches and price.searches is None):
            return None
        plain = max(0, spent.input_tokens - spent.cached_tokens - spent.written_tokens)
        return (
            plain * price.input
            + spent.cached_tokens * price.cached
            + spent.written_tokens * price.written
            + spent.output_tokens * price.output
        ) / 1_000_000 + spent.searches * (price.searches or 0.0) / 1000


def load_prices(path: Path | None = None) -> Prices:
    """Read a price list.

    Args:
        path: A YAML file; None for the one of this package.

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
