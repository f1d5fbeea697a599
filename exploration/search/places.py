"""Known places of a search: what was seen at the end of each path, and whether a look proves to be there again."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace

from agent_s.records import GroundedStep
from exploration.search.homes import HomeState
from exploration.search.states import Look, same

Path = tuple[GroundedStep, ...]

_OFTEN = 3  # a hidden file with as many contents, where all else was the same, is a by-product
_MOST_KNOWN, _MOST_REOPENED = 48, 12  # maximum number of looks to compare with, 3 MB each


@dataclass(frozen=True, slots=True)
class Expected:
    """What a path led to before: all states and texts (`Look.exact`), and those of them in open menus."""

    exact: dict[str, tuple[str, ...]]
    in_menus: dict[str, tuple[str, ...]] = field(default_factory=dict)
    menus: bool = False

    def has_same_menus(self, look: Look) -> bool:
        """Return whether menus are open, and the same ones; not told of those that are drawn inside of a window."""
        return bool(self.in_menus) and self.in_menus == look.in_menus


@dataclass(frozen=True, slots=True)
class Proof:
    """That a look shows a known place again."""

    exact: bool  # whether nothing differs, not even hidden files or thin lines


class Places:
    """Looks at the places that were reached since the latest start, and what to expect of them ever after.

    Attributes:
        by_products: Hidden files that had several contents where all else was the same, which do not count any more.
    """

    def __init__(self) -> None:
        self.by_products = frozenset[str]()
        self._looks: dict[tuple[str, ...], Look] = {}
        self._expected: dict[tuple[str, ...], Expected] = {}
        self._reopened: dict[tuple[tuple[str, ...], int], Look] = {}
        self._contents: dict[str, set[str]] = {}  # digests of hidden files that differed where nothing else did

    def __bool__(self) -> bool:
        return bool(self._looks)

    def add(self, path: Path, look: Look) -> None:
        """Remember the end of a path: the look for proofs until the next start, its texts to wait for ever after."""
        key = place_key(path)
        self._looks.pop(key, None)
        self._looks[key] = look
        self._expected[key] = Expected(look.exact, look.in_menus, bool(look.menus))
        oldest = next((each for each in self._looks if each), None)
        if len(self._looks) > _MOST_KNOWN and oldest is not None:
            del self._looks[oldest]

    def look(self, path: Path) -> Look | None:
        """Return the look at the end of a path since the latest start; None if it was not reached."""
        return self._looks.get(place_key(path))

    def add_reopened(self, path: Path, number: int, look: Look) -> None:
        """Remember a menu that was opened again after an entry was chosen.

        Args:
            path: The path to the entry.
            number: The number of its steps to the menu.
            look: What it shows.
        """
        self._reopened.pop(key := (place_key(path[:-1]), number), None)
        self._reopened[key] = look
        if len(self._reopened) > _MOST_REOPENED:
            del self._reopened[next(iter(self._reopened))]

    def reopened(self, path: Path, number: int) -> Look | None:
        """Return a menu as it was after the latest choice of an entry of the menu at the end of a path."""
        return self._reopened.get((place_key(path[:-1]), number))

    def along(self, path: Path) -> Iterator[tuple[Path, Look]]:
        """Yield the known places on a path with their looks, that nearest to its end first."""
        for length in range(len(path), -1, -1):
            if (look := self.look(path[:length])) is not None:
                yield path[:length], look

    def expected(self, path: Path) -> Expected | None:
        """Return what a path led to when it was last followed, after any start."""
        return self._expected.get(place_key(path))

    def forget_looks(self) -> None:
        """Forget the looks, because the application is started anew."""
        self._looks.clear()
        self._reopened.clear()

    def forget_expected(self) -> None:
        """Forget what paths led to, because other numbers than before are left out of looks."""
        self._expected.clear()

    def leave_out(self, volatile: frozenset[str]) -> None:
        """Leave out the numbers of some elements; see `Look.volatile`."""
        self._looks = {key: replace(each, volatile=volatile) for key, each in self._looks.items()}
        self._reopened.clear()
        self.forget_expected()

    def accept(self, settings: Collection[str], home: HomeState) -> None:
        """Take the present values of settings for those of every place."""
        kept = {key: value for key, value in home.settings.items() if key in settings}
        for key, each in self._looks.items():
            self._looks[key] = replace(each, home=HomeState(each.home.files, each.home.settings | kept))

    def proof(
        self,
        known: Look,
        look: Look,
        strict: bool,
        may_be_greyed: re.Pattern[str] | None,
        ignored: frozenset[str] | None = None,
    ) -> Proof | None:
        """Return a proof that a look shows what a known one does (`same`), if there is one.

        Args:
            known: The known look.
            look: The other one.
            strict: Whether hidden files and thin lines count.
            may_be_greyed: See `same`.
            ignored: See `same`.
        """
        exact = same(known, look, ignored, may_be_greyed, hidden_files_count=False)
        if not exact:
            if strict or not _same_focus(known, look):
                return None
            if not same(known, look, ignored, may_be_greyed, hidden_files_count=False, lines_count=False):
                return None
        changed = {path for path, _ in known.home.files.items() ^ look.home.files.items()}
        for path in changed:
            contents = self._contents.setdefault(path, set())
            contents.update(each.home.files.get(path, "") for each in (known, look))
            if len(contents) >= _OFTEN:
                self.by_products |= {path}
        counts = bool(changed - self.by_products)
        if strict and counts:
            return None
        for key, each in self._looks.items() if changed else ():
            self._looks[key] = replace(each, home=each.home.with_hidden(look.home).without(self.by_products))
        return Proof(exact and not counts)


def place_key(path: Path) -> tuple[str, ...]:
    """Return a key that identifies the end of a path."""
    return tuple(step.model_dump_json() for step in path)


def _same_focus(one: Look, other: Look) -> bool:
    focused = [each.observation.focused for each in (one, other)]
    places = [each and (each.role, each.name, each.path) for each in focused]
    return places[0] == places[1]
