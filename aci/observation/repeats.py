"""Elements that say nothing that another element does not say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from aci.observation.snapshot import Element, Snapshot, State

_CAPTIONS = frozenset({"label", "static", "caption", "text line"})
_PICTURES = frozenset({"image", "icon", "canvas", "drawing area", "animation", "section"})
_CONTROLS: frozenset[State] = frozenset({"focusable", "checkable", "selectable", "has_popup"})
_ENDINGS = " :*\u00a0\uff1a"  # of captions
_LEAST_PX = 24  # smaller pictures without a name are decoration


def listed(observation: Snapshot, before: Mapping[int, Element] | None = None) -> list[Element]:
    """Return the elements that a text for a model lists.

    Left out are captions beside the field that they name, nameless pictures that lie in a control or measure a few
    pixels, and the captions in `before`, which were left out earlier, as long as they say the same. What has the focus
    is always listed.
    """
    captions = before or {}
    fields: dict[tuple[int, str], list[Element]] = {}
    for element in observation.elements:
        if _is_field(element):
            for said in _captions_of(element):
                fields.setdefault((element.window_id, said), []).append(element)
    controls = [element for element in observation.elements if element.states & _CONTROLS]

    def says_nothing_new(element: Element) -> bool:
        if element.id == observation.focus_id or not _is_plain(element):
            return False
        if element.role in _CAPTIONS and element.name:
            named = fields.get((element.window_id, element.name.strip(_ENDINGS)), ())
            known = captions.get(element.id)
            same = known is not None and known.name == element.name
            return same or any(_is_beside(element, field) for field in named)
        return element.role in _PICTURES and not element.name and _is_decoration(element, controls)

    return [element for element in observation.elements if not says_nothing_new(element)]


def _is_field(element: Element) -> bool:
    if element.role in _CAPTIONS:
        return False
    takes = element.role == "combo box" or bool(element.states & {"checkable", "editable"})
    return takes or element.text is not None or element.value is not None


def _captions_of(field: Element) -> Iterator[str]:
    """Yield what a caption of a field may say: its name or, as it may have several, the first words of its label."""
    if field.name:
        yield field.name.strip(_ENDINGS)
    words = field.label.split(" ") if field.label else []
    for count in range(1, len(words) + 1):
        yield " ".join(words[:count]).strip(_ENDINGS)


def _is_plain(element: Element) -> bool:
    """Return whether an element has nothing but a name or a description."""
    return element.text in (None, "", element.name) and element.value is None and not element.states - {"focusable"}


def _is_beside(caption: Element, field: Element) -> bool:
    """Return whether a caption stands in the line of a field, or right above or below it."""
    one, other = caption.rect, field.rect
    apart = max(one.y, other.y) - min(one.bottom, other.bottom)
    across = max(one.x, other.x) < min(one.right, other.right)
    return apart < 0 or (across and apart <= one.height)


def _is_decoration(picture: Element, controls: Sequence[Element]) -> bool:
    if not picture.description and min(picture.rect.width, picture.rect.height) < _LEAST_PX:
        return True
    return any(
        control.window_id == picture.window_id
        and control.id != picture.id
        and control.rect.area >= picture.rect.area
        and control.rect.contains(picture.rect.center)
        for control in controls
    )
