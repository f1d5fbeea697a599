"""Suppression of redundant elements in text forms, such as captions of fields."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from aci.observation.snapshot import Element, Snapshot, State

_CAPTIONS = frozenset({"label", "static", "caption", "text line"})
_PICTURES = frozenset({"image", "icon", "canvas", "drawing area", "animation", "section"})
_CONTROLS: frozenset[State] = frozenset({"focusable", "checkable", "selectable", "has_popup"})
_CAPTION_ENDINGS = " :*\u00a0\uff1a"
_MIN_PX = 24  # smaller pictures without a name are decoration


def listed_elements(observation: Snapshot, before: Mapping[int, Element] | None = None) -> list[Element]:
    """Return the elements that a text for a model lists.

    Omitted are captions next to the field that they label, unnamed pictures that are small or lie within a control, and
    unchanged captions in `before`, which were omitted earlier. The focused element is always listed.
    """
    captions = before or {}
    fields: dict[tuple[int, str], list[Element]] = {}
    for element in observation.elements:
        if _is_field(element):
            for said in _captions_of(element):
                fields.setdefault((element.window_id, said), []).append(element)
    controls = [element for element in observation.elements if element.states & _CONTROLS]

    def is_redundant(element: Element) -> bool:
        if element.id == observation.focus_id or not _is_plain(element):
            return False
        if element.role in _CAPTIONS and element.name:
            named = fields.get((element.window_id, element.name.strip(_CAPTION_ENDINGS)), ())
            known = captions.get(element.id)
            same = known is not None and known.name == element.name
            return same or any(_is_beside(element, field) for field in named)
        return element.role in _PICTURES and not element.name and _is_decoration(element, controls)

    return [element for element in observation.elements if not is_redundant(element)]


def _is_field(element: Element) -> bool:
    if element.role in _CAPTIONS:
        return False
    takes = element.role == "combo box" or bool(element.states & {"checkable", "editable"})
    return takes or element.text is not None or element.value is not None


def _captions_of(field: Element) -> Iterator[str]:
    """Yield possible captions of a field: its name, and leading words of its label, which may join captions."""
    if field.name:
        yield field.name.strip(_CAPTION_ENDINGS)
    words = field.label.split(" ") if field.label else []
    for count in range(1, len(words) + 1):
        yield " ".join(words[:count]).strip(_CAPTION_ENDINGS)


def _is_plain(element: Element) -> bool:
    """Return whether an element has no content, value or states, only a name or a description."""
    return element.text in (None, "", element.name) and element.value is None and not element.states - {"focusable"}


def _is_beside(caption: Element, field: Element) -> bool:
    """Return whether a caption is in line with a field, or right above or below it."""
    one, other = caption.rect, field.rect
    apart = max(one.y, other.y) - min(one.bottom, other.bottom)
    across = max(one.x, other.x) < min(one.right, other.right)
    return apart < 0 or (across and apart <= one.height)


def _is_decoration(picture: Element, controls: Sequence[Element]) -> bool:
    if not picture.description and min(picture.rect.width, picture.rect.height) < _MIN_PX:
        return True
    return any(
        control.window_id == picture.window_id
        and control.id != picture.id
        and control.rect.area >= picture.rect.area
        and control.rect.contains(picture.rect.center)
        for control in controls
    )
