"""Values of sliders, dials and number fields: read and set through AT-SPI's Value interface."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from math import inf, isfinite, isinf

from dbus_fast import Variant

from aci.accessibility.atspi import PREFIX, PROPERTIES, Ref
from aci.accessibility.dbus.bus import Bus, CallRefused
from aci.accessibility.tree.capture import get_property

_PARTS = ("CurrentValue", "MinimumValue", "MaximumValue")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+|,\d{1,2}(?!\d))?")  # three digits after a comma may be thousands
_EXACT = 1e-6
"""Deviation, as a share of the range, within which a value counts as reached: some toolkits hold 32-bit numbers."""


@dataclass(frozen=True, slots=True)
class ValueRange:
    """A value and its bounds, as the application counts them; infinite ones where it says none."""

    current: float
    minimum: float = -inf
    maximum: float = inf

    def wanted(self, text: str) -> float | None:
        """Return the value that a text names, a number or a percentage of the range; None if it names none of it."""
        bare = text.strip()
        number = number_in(bare) if _NUMBER.fullmatch(bare.removesuffix("%").rstrip()) else None
        if number is not None and bare.endswith("%"):
            if isinf(self.maximum - self.minimum):
                return None
            number = self.minimum + (self.maximum - self.minimum) * number / 100
        return number if number is not None and self.minimum <= number <= self.maximum else None

    def meets(self, wanted: float) -> bool:
        """Return whether the current value is the wanted one."""
        width = self.maximum - self.minimum
        return abs(self.current - wanted) <= _EXACT * (max(abs(wanted), 1.0) if isinf(width) else width)


def number_in(text: str) -> float | None:
    """Return the first number in a text; None if there is none."""
    found = _NUMBER.search(text)
    return None if found is None else float(found[0].replace(",", "."))


async def value_range(bus: Bus, ref: Ref) -> ValueRange | None:
    """Return the value of an object and its bounds; None if it has none."""
    parts = await asyncio.gather(*(get_property(bus, ref, "Value", name) for name in _PARTS))
    current, minimum, maximum = (
        float(part) if isinstance(part, int | float) and isfinite(part) else None for part in parts
    )
    if current is None:
        return None
    if minimum is None or maximum is None or minimum >= maximum:
        return ValueRange(current)
    return ValueRange(current, minimum, maximum)


async def set_value(bus: Bus, ref: Ref, value: float) -> bool:
    """Ask the application to set the value of an object; return whether it did not refuse."""
    body = [PREFIX + "Value", "CurrentValue", Variant("d", value)]
    [answer] = await bus.call_all([(*ref, PROPERTIES, "Set", "ssv", body)])
    return not isinstance(answer, CallRefused)
