"""Whether two looks prove that an application is in the same state."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from exploration.search.states import Look, same_picture


def same(known: Look, look: Look, but: frozenset[str] | None = None, strict: bool = True) -> bool:
    """Tell whether two looks are of the same state.

    Args:
        known: One look.
        look: The other.
        but: Settings that do not count since they were switched there and back; then the picture does not count
            either, since what was drawn anew lies a pixel beside where it was.
        strict: Whether what is greyed out counts.
    """
    if not says_the_same(known, look, but or frozenset(), strict):
        return False
    greyed = [look.elements[key].rect for key in known.elements if known.exact[key] != look.exact[key]]
    return but is not None or same_picture(known, look, greyed)


def says_the_same(known: Look, look: Look, but: frozenset[str] = frozenset(), strict: bool = True) -> bool:
    """Tell whether two looks are the same in all but pixels and some settings; see `same`."""
    settings = [{k: v for k, v in each.home.settings.items() if k not in but} for each in (known, look)]
    shown = known.exact == look.exact or (not strict and say_alike(known.exact, look.exact))
    return shown and known.home.files == look.home.files and settings[0] == settings[1]


def say_alike(one: Mapping[str, Sequence[str]], other: Mapping[str, Sequence[str]]) -> bool:
    """Tell whether two screens differ in what is greyed out alone."""
    return one.keys() == other.keys() and all(
        [word for word in one[key] if word != "disabled"] == [word for word in other[key] if word != "disabled"]
        for key in one
        if one[key] != other[key]
    )
