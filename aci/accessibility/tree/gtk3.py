"""Headings in lists of GTK 3, whose cells show one of two texts.

A text that is not drawn in a row is still reported: with what it said in the row that drew it last, and with the
extents of the row that was laid out last. So the cells of headings and of the entries below them report alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise

from aci.accessibility.atspi import Ref
from aci.accessibility.tree.nodes import Node

_Texts = tuple[Node, Node]


def drawn_texts(cells: Iterable[Node]) -> dict[Ref, str]:
    """Return what the cells of a list show that draw one of two texts.

    Of the two, the one with fewer values is the heading. It is drawn where it first says what the cells below repeat;
    the other text then repeats another row.

    Args:
        cells: The visible cells of a list, from the top.
    """
    columns: dict[int, list[tuple[Node, _Texts]]] = {}
    for cell in cells:
        texts = [child for child in cell.children if child.name and "Text" in child.interfaces]
        if cell.rect is not None and len(texts) == 2 and sum(map(_has_room, texts)) == 1:
            columns.setdefault(cell.rect.x, []).append((cell, (texts[0], texts[1])))
    return {ref: text for column in columns.values() for ref, text in _drawn_in(column).items()}


def _has_room(text: Node) -> bool:
    return text.rect is not None and bool(text.rect.area)


def _drawn_in(column: Sequence[tuple[Node, _Texts]]) -> dict[Ref, str]:
    said = [[texts[which].name for _, texts in column] for which in (0, 1)]
    headings, entries = sorted(said, key=lambda texts: len(set(texts)))
    counts = Counter(entries)
    begins = [True, *(before != heading for before, heading in pairwise(headings))]
    heads = [first and counts[entry] > 1 for first, entry in zip(begins, entries, strict=True)]
    if not any(heads) or all(begins):
        return {}
    shown = (heading if is_head else entry for heading, entry, is_head in zip(headings, entries, heads, strict=True))
    return {cell.ref: text for (cell, _), text in zip(column, shown, strict=True)}
