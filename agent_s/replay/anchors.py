"""Pixels of the screen, kept as a place in an element with a small picture of it, and found again by both.

A pixel means nothing on another screen, and a place in a drawing or a map little. A place is used again only where the
screen shows the same picture there, or at one other place nearby.
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
"""The fields of primitives that name a place, and those that name its element."""
_AROUND_PX = 20  # shown on each side of a pixel
_NEAR_PX = 24  # how far from its place a picture is looked for
_MOST_DIFFERENT = 6.0  # mean difference of the brightness of pixels that still is the same picture, of 255
_LEAST_DRAWN = 8.0  # standard deviation of a picture that can be looked for elsewhere


def anchored(action: Action, seen: Observation) -> Action | None:
    """Return a primitive with places in elements instead of pixels; None if no element is known at one of them."""
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
    """Return the pictures of the places that a primitive names, by field, as PNG files in base64."""
    fields = action.model_dump()
    found = {}
    for place, named in ANCHORED.items():
        element = seen.by_id.get(fields.get(named) or -1)
        if isinstance(fields.get(place), tuple) and element is not None:
            point = Place(element.id, *fields[place]).inside(element.rect)
            found[place] = _encoded(_around(seen.screenshot, point))
    return found


def find_places(fields: dict[str, Any], pictures: dict[str, str], seen: Observation) -> str:
    """Put the places that a primitive names where their pictures are now; return which one is not there, or "".

    Args:
        fields: The fields of the primitive, with the ids of its elements on this screen; its places are changed.
        pictures: The pictures of its places by field.
        seen: The screen.
    """
    for place, picture in pictures.items():
        element = seen.by_id[fields[ANCHORED[place]]]
        point = Place(element.id, *fields[place]).inside(element.rect)
        found = _found(_decoded(picture), seen.screenshot, point, element.rect)
        if found is None or (found != point and fields.get("path")):  # where the rest of a path is now is not known
            return f"the {element.role} {element.name!r} does not look as it did at the place that is meant"
        fields[place] = fractions(found, element.rect)
    return ""


def _found(picture: NDArray[np.uint8], screen: NDArray[np.uint8], point: Point, box: Rect) -> Point | None:
    """Return the pixel around which the screen shows a picture: the one given, else the only one nearby."""
    import numpy as np

    if _difference(picture, _around(screen, point)) <= _MOST_DIFFERENT:
        return point
    if float(np.std(picture)) < _LEAST_DRAWN:
        return None
    near = [
        Point(x, y)
        for x in range(max(box.x, point.x - _NEAR_PX), min(box.right, point.x + _NEAR_PX + 1))
        for y in range(max(box.y, point.y - _NEAR_PX), min(box.bottom, point.y + _NEAR_PX + 1))
    ]
    alike = [(_difference(picture, _around(screen, each)), each) for each in near]
    alike = sorted(pair for pair in alike if pair[0] <= _MOST_DIFFERENT)
    if not alike:
        return None
    best = alike[0][1]
    apart = any(max(abs(each.x - best.x), abs(each.y - best.y)) > _AROUND_PX // 4 for _, each in alike)
    return None if apart else best


def _around(screen: NDArray[np.uint8], point: Point) -> NDArray[np.uint8]:
    """Return the pixels around a point, (N, N, 3) uint8 RGB; beyond the edge of the screen they are black."""
    import numpy as np

    size = 2 * _AROUND_PX + 1
    picture = np.zeros((size, size, 3), np.uint8)
    top, left = point.y - _AROUND_PX, point.x - _AROUND_PX
    part = screen[max(top, 0) : top + size, max(left, 0) : left + size]
    picture[max(-top, 0) : max(-top, 0) + part.shape[0], max(-left, 0) : max(-left, 0) + part.shape[1]] = part
    return picture


def _difference(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> float:
    import numpy as np

    return float(np.mean(np.maximum(one, other) - np.minimum(one, other)))


def _encoded(picture: NDArray[np.uint8]) -> str:
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(picture).save(file, "PNG")
    return base64.b64encode(file.getvalue()).decode("ascii")


def _decoded(picture: str) -> NDArray[np.uint8]:
    import numpy as np
    from PIL import Image

    with Image.open(io.BytesIO(base64.b64decode(picture))) as image:
        return np.asarray(image.convert("RGB"))
