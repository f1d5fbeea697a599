"""Names of colours."""

from __future__ import annotations

from colorsys import rgb_to_hls

_HUES = (
    (15, "red"), (45, "orange"), (70, "yellow"), (165, "green"), (195, "cyan"), (255, "blue"), (290, "purple"),
    (340, "pink"), (360, "red"),
)  # fmt: skip
_DARK, _LIGHT = 0.12, 0.93  # lightness, 0 to 1, below and above which a colour is black or white
_GREY = 0.15  # difference of the largest and smallest channel, 0 to 1, below which a colour is grey
_BROWN = 0.4  # lightness below which orange is brown


def color_name(color: tuple[int, int, int]) -> str:
    """Return the everyday name of an RGB colour, such as "dark blue" or "orange"."""
    red, green, blue = (channel / 255 for channel in color)
    hue, lightness, _ = rgb_to_hls(red, green, blue)
    if lightness < _DARK:
        return "black"
    if lightness > _LIGHT:
        return "white"
    if max(red, green, blue) - min(red, green, blue) < _GREY:
        return "dark grey" if lightness < 0.35 else "light grey" if lightness > 0.7 else "grey"
    name = next(name for limit, name in _HUES if hue * 360 <= limit)
    if name == "orange" and lightness < _BROWN:
        return "brown"
    return f"dark {name}" if lightness < 0.3 else f"light {name}" if lightness > 0.75 else name
