"""Values that are set through accessibility or by keys, on elements that are only pretended."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest

from aci.accessibility.values import ValueRange
from aci.acting.targeting import Refused
from aci.acting.values import ValueSetter
from aci.input.keys import chord
from aci.input.read_back import Delivery
from aci.input.typist import PartlyArrived
from aci.observation.geometry import Point, Rect
from aci.observation.observation import Element
from aci.waiting import Clock

SLIDER = Element(7, "slider", "Volume", Rect(0, 0, 100, 20), None, 1)
FIELD = Element(7, "spin button", "Copies", Rect(0, 0, 100, 20), None, 1, text="10", value=10.0)
KEYS = {tuple(chord(["Right"])): 1, tuple(chord(["Left"])): -1}


class Application:
    """Has one element with a value, from 0 to 100.

    Args:
        obeys: Returns the value that it takes when it is asked for one; None if it takes none.
        gain: What one press of the right arrow key adds.
    """

    def __init__(self, obeys: Callable[[float], float | None] = lambda value: value, gain: float = 0.0) -> None:
        self.range: ValueRange | None = ValueRange(10.0, 0.0, 100.0)
        self.presses: list[int] = []
        self.bar: int | None = -14
        self._obeys = obeys
        self._gain = gain
        self._now = 0.0

    def setter(self) -> ValueSetter:
        return ValueSetter(self, self, self, Clock(lambda: self._now, self._pause))  # type: ignore[arg-type]

    def _pause(self, seconds: float) -> None:
        self._now += seconds

    def value_range(self, element_id: int) -> ValueRange | None:
        return self.range

    def set_value(self, element_id: int, value: float) -> bool:
        taken = self._obeys(value)
        if taken is not None and self.range is not None:
            self.range = replace(self.range, current=taken)
        return taken is not None

    def grab_focus(self, element_id: int) -> bool:
        return True

    def scroll_bar(self, element_id: int, horizontal: bool) -> int | None:
        return self.bar

    def scroll(self, point: Point, clicks: int, horizontal: bool = False) -> None:
        assert self.range is not None
        moved = (clicks if horizontal else -clicks) * self._gain
        self.range = replace(self.range, current=min(max(self.range.current + moved, 0.0), 100.0))

    def has_focus(self, element_id: int) -> bool:
        return True

    def locate(self, element_id: int) -> Rect | None:
        return SLIDER.rect

    def press_each(self, hold: Sequence[int], chords: Sequence[Sequence[int]]) -> None:
        assert self.range is not None
        pressed = sum(KEYS[tuple(keys)] for keys in chords)
        self.presses.append(pressed)
        self.range = replace(self.range, current=min(max(self.range.current + pressed * self._gain, 0.0), 100.0))


@pytest.mark.parametrize(("text", "value"), [("40", 40.0), (" 12.5 ", 12.5), ("12,5", 12.5), ("75%", 75.0), ("0", 0.0)])
def test_a_slider_is_set_and_read_back(text: str, value: float) -> None:
    app = Application()
    assert app.setter().set(SLIDER, text, keyboard=True) == Delivery(state="exact", by="accessibility")
    assert app.range == ValueRange(value, 0.0, 100.0)


@pytest.mark.parametrize("text", ["", "loud", "101", "-1", "120%", "40 or 50"])
def test_what_is_not_a_value_of_a_slider_is_refused_with_its_range(text: str) -> None:
    app = Application()
    with pytest.raises(Refused, match="takes a number from 0 to 100"):
        app.setter().set(SLIDER, text, keyboard=True)
    assert app.range == ValueRange(10.0, 0.0, 100.0)


def test_a_slider_that_does_not_say_its_value_is_refused() -> None:
    app = Application()
    app.range = None
    with pytest.raises(Refused, match="does not say its value"):
        app.setter().set(SLIDER, "40", keyboard=True)


@pytest.mark.parametrize("gain", [1.0, 0.5, 7.5, -1.0])
def test_arrow_keys_set_what_does_not_obey(gain: float) -> None:
    app = Application(lambda value: None, gain)
    assert app.setter().set(SLIDER, "85", keyboard=True) == Delivery(state="exact", by="keys")
    assert app.range == ValueRange(85.0, 0.0, 100.0)


def test_the_nearest_value_that_keys_reach_is_said() -> None:
    app = Application(lambda value: None, gain=4.0)
    assert app.setter().set(SLIDER, "33", keyboard=True) == Delivery(state="different", by="keys", reads="34")


def test_a_value_that_the_application_rounds_is_said() -> None:
    app = Application(lambda value: float(round(value / 5) * 5))
    delivery = app.setter().set(SLIDER, "33", keyboard=True)
    assert delivery == Delivery(state="different", by="accessibility", reads="35")
    assert app.presses == []


def test_no_key_is_pressed_where_another_window_has_the_keyboard() -> None:
    app = Application(lambda value: None, gain=1.0)
    with pytest.raises(Refused, match="stays at 10"):
        app.setter().set(SLIDER, "33", keyboard=False)
    assert app.presses == []


def test_a_typed_number_that_a_field_has_not_taken_is_set() -> None:
    app = Application()
    typed = Delivery(state="exact", by="keys")
    assert app.setter().commit_number(FIELD, "25", lambda: typed) == Delivery(state="exact", by="accessibility")
    assert app.range == ValueRange(25.0, 0.0, 100.0)
    assert app.setter().commit_number(FIELD, "25", lambda: typed) is typed


def test_the_value_of_a_field_counts_where_its_text_is_read_late() -> None:
    app = Application()

    def enter() -> Delivery:
        app.set_value(FIELD.id, 13.0)
        raise PartlyArrived("it reads '1'")

    assert app.setter().commit_number(FIELD, "13", enter) == Delivery(state="exact", by="keys")
    app = Application(lambda value: None)
    with pytest.raises(PartlyArrived):
        app.setter().commit_number(FIELD, "25", enter)


def test_a_field_that_shows_other_units_than_its_value_is_left_as_typed() -> None:
    app = Application()
    typed = Delivery(state="exact", by="keys")
    assert app.setter().commit_number(replace(FIELD, text="0.10 cm"), "25", lambda: typed) is typed
    assert app.range == ValueRange(10.0, 0.0, 100.0)


@pytest.mark.parametrize("horizontal", [False, True])
@pytest.mark.parametrize("percent", [0, 33.5, 100])
def test_a_scroll_bar_goes_to_a_position(percent: float, horizontal: bool) -> None:
    app = Application()
    app.setter().scroll(SLIDER, percent, horizontal, Point(5, 5))
    assert app.range == ValueRange(percent, 0.0, 100.0)


@pytest.mark.parametrize("horizontal", [False, True])
def test_the_wheel_moves_a_scroll_bar_that_does_not_obey(horizontal: bool) -> None:
    app = Application(lambda value: None, gain=3.0)
    app.setter().scroll(SLIDER, 50, horizontal, Point(5, 5))
    assert app.range is not None and app.range.current == 49.0


def test_the_wheel_helps_where_a_scroll_bar_goes_elsewhere() -> None:
    app = Application(lambda value: 0.0, gain=3.0)
    app.setter().scroll(SLIDER, 50, False, Point(5, 5))
    assert app.range is not None and app.range.current == 51.0


def test_what_has_no_scroll_bar_or_one_that_stays_is_scrolled_by_clicks() -> None:
    app = Application(lambda value: None)
    with pytest.raises(Refused, match="stays where it is"):
        app.setter().scroll(SLIDER, 50, False, Point(5, 5))
    app.bar = None
    with pytest.raises(Refused, match="no scroll bar"):
        app.setter().scroll(SLIDER, 50, False, Point(5, 5))
