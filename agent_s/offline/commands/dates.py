"""Fields made of segments for day, month and year, and calendars with one button a day."""

from __future__ import annotations

import re
from datetime import date, time

from aci.acting.actions import Click, HoldAndPress
from aci.observation.observation import Element
from agent_s.offline.execution import Execution, give_up
from agent_s.offline.finding.matching import Candidate, best
from agent_s.offline.finding.screen import Screen, content_of, name_of
from agent_s.offline.finding.targets import named
from agent_s.offline.ui import UI, Steps
from agent_s.offline.words import BUTTONS, TABLE
from intents.dates import month_number, months

_MAX_MONTHS = 24


def set_segments(element: Element, day: date | None, time_of_day: time | None, ui: UI) -> Steps[str]:
    """Set a field that is made of spin buttons for month, day, year, hours or minutes.

    The digits are pressed in the order of the segments, as the keyboard moves on by itself.

    Returns:
        The evidence; "" where the field has no such segments.
    """
    segments = _segments(element, ui.screen)
    digits = _digits(day, time_of_day, twelve="am/pm" in segments)
    wanted = {word: digits[word] for word in segments if digits.get(word)}
    for word, text in wanted.items():
        segment = segments[word]
        yield from ui.do(Click(element_id=segment.id), f"go to the {word} of {name_of(element)}")
        yield from ui.do(HoldAndPress(hold_keys=(), press_keys=tuple(text)), f"press {text} for the {word}")
    for word, text in wanted.items():
        segment = ui.now(segments[word]) or segments[word]
        shown = re.search(r"\d+", segment.text or "")
        reads = (segment.value, int(shown[0]) if shown else None)
        if text.isdigit() and int(text) not in reads and reads != (None, None):
            give_up(f"the {word} of {name_of(element)} reads {content_of(segment)!r} instead of {text!r}")
    return f"the {', '.join(wanted)} of {name_of(element)} were set to {', '.join(wanted.values())}" if wanted else ""


def _segments(element: Element, screen: Screen) -> dict[str, Element]:
    """Return the spin buttons in a field that are named after a part of a date, from left to right."""
    found: dict[str, Element] = {}
    for other in sorted(screen.elements, key=lambda one: one.rect.x):
        inside = other.rect.intersection(element.rect)
        if other.role != "spin button" or other.id == element.id or other.window_id != element.window_id:
            continue
        words = f"{other.name} {other.description}".casefold()
        word = next((word for word in TABLE["segments"] if re.search(rf"\b{re.escape(word)}", words)), "")
        if word and inside is not None and inside.area * 2 >= other.rect.area:
            found.setdefault(word, other)
    return found


def _digits(day: date | None, time_of_day: time | None, twelve: bool) -> dict[str, str]:
    digits: dict[str, str] = {}
    if day is not None:
        digits |= {"month": f"{day.month:02}", "day": f"{day.day:02}", "year": f"{day.year:04}"}
    if time_of_day is not None:
        hour = (time_of_day.hour % 12 or 12) if twelve else time_of_day.hour
        digits |= {"hour": f"{hour:02}", "minute": f"{time_of_day.minute:02}"}
        digits["am/pm"] = "p" if time_of_day.hour >= 12 else "a"
    return digits


def pick_day(day: date, said: str, ui: UI) -> Execution:
    """Turn the pages of an open calendar to the month, and click the day."""
    for _ in range(_MAX_MONTHS):
        shown = _shown_month(ui.screen)
        if shown is None:
            give_up(f"no calendar that shows its month opened to choose {said!r}")
        away = (day.year - shown[0]) * 12 + day.month - shown[1]
        if away == 0:
            return (yield from _click_day(day, said, ui))
        names = BUTTONS["next month" if away > 0 else "previous month"]
        found = next((found for name in names if (found := best(ui.rank(named(name)), 80.0))), [])
        if not found:
            give_up("the calendar has no button for another month")
        yield from ui.click(found)
    give_up(f"the calendar did not come to {day:%B %Y}")


def _shown_month(screen: Screen) -> tuple[int, int] | None:
    texts = [(content_of(element) or element.name).strip() for element in screen.front]
    for text in texts:
        match = re.search(r"\b([A-Z][a-z]{2,8})\s+(\d{4})\b", text)
        if match and (number := month_number(match[1])):
            return int(match[2]), number
    named_months = [month_number(text) for text in texts if text.casefold() in months()]
    years = [int(text) for text in texts if re.fullmatch(r"(?:19|20)\d\d", text)]
    return (years[0], named_months[0]) if named_months and years else None


def _click_day(day: date, said: str, ui: UI) -> Execution:
    roles = ("link", "push button", "table cell", "static", "list item", "label", "toggle button")
    cells = [
        element
        for element in ui.screen.front
        if (element.name or content_of(element)).strip().lstrip("0") == str(day.day)
        and element.role in roles
        and element.point is not None
    ]
    if not cells:
        give_up(f"the calendar shows no day {day.day}")
    first = day.day < 20  # days of the neighbouring months come before the first and after the last
    cells.sort(key=lambda one: (roles.index(one.role) > 1, one.rect.y if first else -one.rect.y))
    element = yield from ui.click([Candidate(cells[0], 100.0, "the day")])
    return f"{name_of(element)} was clicked for {said!r}"
