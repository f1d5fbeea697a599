"""Policies for dates: fields made of segments, and calendars with one button a day."""

from __future__ import annotations

import re

from aci.acting.actions import Click, HoldAndPress
from aci.observation.observation import Element
from agent_s.offline.course import Achieved, Course, give_up
from agent_s.offline.dates import MONTHS, Day, TimeOfDay, month_number
from agent_s.offline.matching import Candidate, rank
from agent_s.offline.policies.common import Steps, click_best, must, name_of, now
from agent_s.offline.screen import Screen, content_of
from agent_s.offline.targets import named

_SEGMENTS = ("month", "day", "year", "hour", "minute", "am/pm")
_MOST_MONTHS = 24


def set_segments(element: Element, day: Day | None, time: TimeOfDay | None, screen: Screen) -> Steps[Achieved | None]:
    """Set a field that is made of spin buttons for month, day, year, hours or minutes; None where it has none.

    The digits are pressed one by one in the order of the segments, as they move on by themselves.
    """
    segments = _segments_of(element, screen)
    if not segments:
        return None
    wanted = {word: text for word, text in _digits(day, time, [word for word, _ in segments]).items() if text}
    for word, segment in segments:
        text = wanted.get(word)
        if text is None:
            continue
        current = now(screen, segment) or segment
        sight = yield from must(Click(element_id=current.id), f"go to the {word} of {name_of(element)}")
        sight = yield from must(HoldAndPress(hold_keys=(), press_keys=tuple(text)), f"press {text} for the {word}")
        screen = sight.screen
    read = {word: (now(screen, segment) or segment) for word, segment in segments}
    for word, text in wanted.items():
        if text.isdigit() and not _reads(read[word], int(text)):
            give_up(f"the {word} of {name_of(element)} reads {content_of(read[word])!r} instead of {text!r}")
    return Achieved(
        f"the {', '.join(wanted)} of {name_of(element)} read {', '.join(content_of(read[word]) or text for word, text in wanted.items())}"
    )


def _reads(segment: Element, number: int) -> bool:
    if segment.value is not None and segment.value == number:
        return True
    digits = re.findall(r"\d+", segment.text or "")
    return int(digits[0]) == number if digits else segment.value is None


def _segments_of(element: Element, screen: Screen) -> list[tuple[str, Element]]:
    """Return the spin buttons that lie in a field and are called after a part of a date, from left to right."""
    found: list[tuple[str, Element]] = []
    for other in screen.elements:
        if other.window_id != element.window_id or other.role not in ("spin button", "static", "entry"):
            continue
        inside = other.rect.intersection(element.rect)
        if inside is None or inside.area * 2 < other.rect.area or other.id == element.id:
            continue
        words = f"{other.name} {other.description}".casefold()
        word = next((word for word in _SEGMENTS if re.search(rf"\b{re.escape(word)}", words)), "")
        if word and other.role == "spin button":
            found.append((word, other))
    return sorted(found, key=lambda pair: pair[1].rect.x)


def _digits(day: Day | None, time: TimeOfDay | None, words: list[str]) -> dict[str, str]:
    digits: dict[str, str] = {}
    if day is not None:
        digits |= {"month": f"{day.month:02}", "day": f"{day.day:02}", "year": f"{day.year:04}"}
    if time is not None:
        twelve = "am/pm" in words
        hour = (time.hour % 12 or 12) if twelve else time.hour
        digits |= {"hour": f"{hour:02}", "minute": f"{time.minute:02}", "am/pm": "p" if time.hour >= 12 else "a"}
    return {word: text for word, text in digits.items() if word in words}


def pick_day(day: Day, said: str, screen: Screen) -> Course:
    """Turn the pages of an open calendar to the month, and click the day."""
    for _ in range(_MOST_MONTHS):
        shown = shown_month(screen)
        if shown is None:
            give_up(f"no calendar that shows its month opened to choose {said!r}")
        away = (day.year - shown[0]) * 12 + day.month - shown[1]
        if away == 0:
            return (yield from _click_day(day, said, screen))
        screen = yield from _turn(away > 0, screen)
    give_up(f"the calendar did not come to {MONTHS[day.month - 1]} {day.year}")


def shown_month(screen: Screen) -> tuple[int, int] | None:
    """Return the year and month that a calendar on the screen shows."""
    texts = [content_of(element) or element.name for element in screen.front]
    for text in texts:
        if match := re.search(r"\b([A-Z][a-z]{2,8})\s+(\d{4})\b", text):
            number = month_number(match[1])
            if number:
                return int(match[2]), number
    months = [month_number(text) for text in texts if month_number(text) and text.casefold() in MONTHS]
    years = [int(text) for text in texts if re.fullmatch(r"(?:19|20)\d\d", text.strip())]
    return (years[0], months[0]) if months and years else None


def _turn(forward: bool, screen: Screen) -> Steps[Screen]:
    names = (
        ("Next", "Next month", "Next Month", ">", "›", "»", "→")
        if forward
        else ("Prev", "Previous", "Previous month", "<", "‹", "«", "←")
    )
    for name in names:
        found = [one for one in rank(named(name), screen) if one.score >= 80]
        if found:
            screen, _ = yield from click_best(screen, found)
            return screen
    give_up("the calendar has no button for another month")


def _click_day(day: Day, said: str, screen: Screen) -> Course:
    cells = [
        element
        for element in screen.front
        if (element.name or content_of(element)).strip().lstrip("0") == str(day.day)
        and element.role in ("link", "push button", "table cell", "static", "list item", "label", "toggle button")
        and element.point is not None
    ]
    if not cells:
        give_up(f"the calendar shows no day {day.day}")
    cells.sort(
        key=lambda element: (
            element.role not in ("link", "push button"),
            element.rect.y if day.day < 20 else -element.rect.y,
        )
    )
    screen, element = yield from click_best(screen, [Candidate(cells[0], 100.0, "the day")])
    return Achieved(f"{name_of(element)} was clicked for {said!r}")
