"""Anchors for pixel targets: a position within an element, and a small picture around it.

A pixel means nothing on another screen, and a position within a drawing or a map means little. A target is reused only
if the screen shows the same picture there, or at exactly one other position nearby.
"""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING, Any

from aci.acting.actions import ACTION_ADAPTER, Action
from aci.acting.targets import Place, element_at, fractions
from aci.observation.geometry import Point, Rect

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aci.observation.observation import Observation

ANCHORED = {"at": "element_id", "from_at": "drag_from_id", "drop_at": "drop_on_id"}
"""Fields of primitives that hold a position, and those that hold its element."""
_RADIUS_PX = 20  # shown on each side of the target pixel
_SEARCH_PX = 24  # how far from its position a picture is searched for
_MAX_DIFFERENCE = 6.0  # maximum mean difference in brightness between equal pictures, of 255
_MIN_CONTRAST = 8.0  # minimum standard deviation of a picture that can be searched for


def anchor_points(action: Action, seen: Observation) -> Action | None:
    """Return a primitive with positions in elements instead of pixels; None if there is no element at one of them."""
    fields = action.model_dump()
    boxes: dict[str, Rect] = {}
    for place, named in ANCHORED.items():
        at = fields.get(place)
        if isinstance(at, tuple) and fields[named] is None:
            point = Point(*at)
            element = element_at(point, seen)
            if element is None:
                return None
            fields[named], fields[place] = element.id, fractions(point, element.rect)
            boxes[place] = element.rect
    if fields.get("path") and "from_at" in boxes:  # its points are pixels, too
        box = boxes["from_at"]
        if not all(box.contains(Point(*point)) for point in fields["path"]):
            return None
        fields["path"] = tuple(fractions(Point(*point), box) for point in fields["path"])
    return action if not boxes else ACTION_ADAPTER.validate_python(fields)


def pictures_of(action: Action, seen: Observation) -> dict[str, str]:
    """Return the pictures around the targets of a primitive, by field, as PNG files in base64."""
    fields = action.model_dump()
    found = {}
    for place, named in ANCHORED.items():
        element = seen.by_id.get(fields.get(named) or -1)
        if isinstance(fields.get(place), tuple) and element is not None:
            point = Place(element.id, *fields[place]).inside(element.rect)
            found[place] = _encode(_crop(seen.screenshot, point))
    return found


def find_places(fields: dict[str, Any], pictures: dict[str, str], seen: Observation) -> str:
    """Move the positions of a primitive to where their pictures are now.

    Args:
        fields: The fields of the primitive, with the ids of its elements on this screen; updated in place.
        pictures: The pictures around its targets by field.
        seen: The screen.

    Returns:
        Which picture was not found, in words; empty if all were.
    """
    for place, picture in pictures.items():
        element = seen.by_id[fields[ANCHORED[place]]]
        point = Place(element.id, *fields[place]).inside(element.rect)
        found = _locate(_decode(picture), seen.screenshot, point, element.rect)
        if found is None or (found != point and fields.get("path")):  # a path would have to move as a whole
            return f"the {element.role} {element.name!r} does not look at the target position as it did when learned"
        fields[place] = fractions(found, element.rect)
    return ""


def _locate(picture: NDArray[np.uint8], screen: NDArray[np.uint8], point: Point, box: Rect) -> Point | None:
    """Return the pixel around which the screen shows a picture: the given one, else the only match nearby."""
    import numpy as np

    if _difference(picture, _crop(screen, point)) <= _MAX_DIFFERENCE:
        return point
    if float(np.std(picture)) < _MIN_CONTRAST:
        return None
    near = [
        Point(x, y)
        for x in range(max(box.x, point.x - _SEARCH_PX), min(box.right, point.x + _SEARCH_PX + 1))
        for y in range(max(box.y, point.y - _SEARCH_PX), min(box.bottom, point.y + _SEARCH_PX + 1))
    ]
    alike = [(_difference(picture, _crop(screen, each)), each) for each in near]
    alike = sorted(pair for pair in alike if pair[0] <= _MAX_DIFFERENCE)
    if not alike:
        return None
    best = alike[0][1]
    apart = any(max(abs(each.x - best.x), abs(each.y - best.y)) > _RADIUS_PX // 4 for _, each in alike)
    return None if apart else best


def _crop(screen: NDArray[np.uint8], point: Point) -> NDArray[np.uint8]:
    """Return the pixels around a point, (N, N, 3) uint8 RGB, padded with black beyond the screen."""
    import numpy as np

    size = 2 * _RADIUS_PX + 1
    picture = np.zeros((size, size, 3), np.uint8)
    top, left = point.y - _RADIUS_PX, point.x - _RADIUS_PX
    part = screen[max(top, 0) : top + size, max(left, 0) : left + size]
    picture[max(-top, 0) : max(-top, 0) + part.shape[0], max(-left, 0) : max(-left, 0) + part.shape[1]] = part
    return picture


def _difference(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    import numpy as np

    return float(np.mean(np.maximum(one, other) - np.minimum(one, other)))


def _encode(picture: NDArray[np.uint8]) -> str:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode("ascii")


def _decode(picture: str) -> NDArray[np.uint8]:
    import numpy as np
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(picture))) as image:
        return np.asarray(image.convert("RGB"))
