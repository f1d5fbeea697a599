"""Images: size, mode, brightness, saturation, contrast, sharpness and structural similarity, with Pillow and numpy.

As in OSWorld, `result` is the edited image and `expected` the original.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from agent_s.errors import install_command
from evaluation.errors import CheckFailed
from evaluation.state.metrics import Metric, Score, score_of
from evaluation.state.reading import as_format

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

ALIKE = 0.9  # least structural similarity of two images with the same content
ALIKE_WITH_MORE_CONTRAST = 0.65
MIRRORED = 0.99
LIKE_HASH = 5  # largest number of bits in which the perceptual hashes of two images that look alike differ
CENTERED = 0.05  # largest distance of something centered from the middle, as a part of the image's side
_WINDOW_PX = 7
_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
_LEVEL = 128

Size = Annotated[int, Field(ge=1)]


def check_image_size(
    result: Path, width: Size | None = None, height: Size | None = None, ignore_transparent: bool = False
) -> Score:
    """An image has that width and height, px; those of its part that is not transparent with `ignore_transparent`."""
    image = load_picture(result)
    found = image.size
    if "transparency" in image.info or (ignore_transparent and image.mode in ("RGBA", "LA")):
        box = image.convert("RGBA").getchannel("A").getbbox() or (0, 0, 0, 0)
        found = box[2] - box[0], box[3] - box[1]
    same = found == (width or found[0], height or found[1])
    return score_of(same, f"the image is {found[0]} x {found[1]} px")


def check_image_mode(result: Path, mode: str) -> Score:
    """An image has that mode, as Pillow names it."""
    found = load_picture(result).mode
    return score_of(found == mode, f"the mode is {found}, expected {mode}")


def check_image_file_size(result: Path, max_size: Size) -> Score:
    """The file of an image is smaller than that, bytes."""
    size = result.stat().st_size
    return score_of(size < max_size, f"{result.name} has {size} bytes, expected less than {max_size}")


def compare_images(
    result: Path,
    expected: Path,
    *,
    binary: bool = False,
    threshold: float = 0.98,
    require_same_size: bool = False,
    reference_base_result: float | None = None,
) -> Score:
    """The structural similarity of two images in gray, of other sizes after scaling to the smaller one.

    Args:
        result: The image.
        expected: Another one.
        binary: Whether the score is 1 if the similarity is greater than `threshold`, and 0 otherwise.
        threshold: See `binary`.
        require_same_size: Whether images of other sizes score 0.
        reference_base_result: Similarity that scores 0; greater ones are stretched over 0 to 1.
    """
    from PIL.Image import Resampling

    one, two = load_picture(result).convert("L"), load_picture(expected).convert("L")
    if require_same_size and one.size != two.size:
        return _other_size(one, two)
    size = min(one.size, two.size)
    likeness = similarity(*(_values(image.resize(size, Resampling.LANCZOS)) for image in (one, two)))
    why = f"structural similarity is {likeness:.3f}"
    if binary:
        return score_of(likeness > threshold, f"{why}, expected more than {threshold}")
    if (base := reference_base_result) is not None:
        return Score((likeness - base) / (1 - base) if likeness >= base + 0.01 else 0.0, f"{why}; {base} counts as 0")
    return Score(likeness, why)


def compare_image_list(result: Path | list[Path], expected: Path | list[Path]) -> Score:
    """Each image has the pixels of the expected one, once scaled to its size."""
    import numpy as np
    from PIL.Image import Resampling

    found, wanted = ([paths] if isinstance(paths, Path) else paths for paths in (result, expected))
    for path, other in zip(found, wanted, strict=False):
        one, two = load_picture(path), load_picture(other)
        one = one if one.size == two.size else one.resize(two.size, Resampling.LANCZOS)
        if not np.array_equal(np.asarray(one.convert("RGBA")), np.asarray(two.convert("RGBA"))):
            return Score(0.0, f"{path.name} has other pixels than {other.name}")
    return Score(1.0, "the pixels are the same")


def check_image_mirror(result: Path, expected: Path) -> Score:
    """The result is the expected image, mirrored left to right."""
    from PIL.Image import Transpose

    mirrored = load_picture(result).transpose(Transpose.FLIP_LEFT_RIGHT)
    return _alike(mirrored, load_picture(expected), MIRRORED)


def check_structure_sim(result: Path, expected: Path) -> Score:
    """Two images have the same size and the same content."""
    return _alike(load_picture(result), load_picture(expected))


def check_structure_sim_resized(result: Path, expected: Path) -> Score:
    """The part of an image that is not transparent, scaled to the size of another one, has the same content."""
    one, two = load_picture(result), load_picture(expected)
    if one.mode in ("RGBA", "LA") or "transparency" in one.info:
        box = one.convert("RGBA").getchannel("A").getbbox()
        if box is None:
            return Score(0.0, f"{result.name} is transparent")
        one = one.convert("RGBA").crop(box).convert("RGB")
    return _alike(one.resize(two.size), two)


def check_palette_and_structure_sim(result: Path, expected: Path) -> Score:
    """The result is a palette image with the same content."""
    one, two = load_picture(result), load_picture(expected)
    return _alike(one, two) if one.mode == "P" else Score(0.0, f"the mode is {one.mode}, not P")


def check_brightness_decrease_and_structure_sim(
    result: Path, expected: Path, *, threshold: Annotated[float, Field(ge=0)] = 0.03
) -> Score:
    """An image is darker than another, and the same once both have the same brightness."""
    import numpy as np
    from PIL.Image import Resampling

    one, two = load_picture(result), load_picture(expected)
    after, before = (_brightness(image) for image in (one, two))
    if not 0 < after < before:
        return Score(0.0, f"the brightness went from {before:.1f} to {after:.1f}")
    one, two = (_leveled(image, level) for image, level in ((one, after), (two, before)))
    one = one if one.size == two.size else one.resize(two.size, Resampling.LANCZOS)
    difference = np.mean(((_values(one.convert("RGB")) - _values(two.convert("RGB"))) / 255) ** 2)
    why = f"the brightness went from {before:.1f} to {after:.1f}; the mean square difference is {difference:.3f}"
    return score_of(bool(difference < threshold), why)


def check_saturation_increase_and_structure_sim(result: Path, expected: Path) -> Score:
    """An image has more saturation than another, and the same hues and values."""
    one, two = (load_picture(path).convert("HSV") for path in (result, expected))
    after, before = (float(_values(image.getchannel("S")).mean()) for image in (one, two))
    why = f"the saturation went from {before:.1f} to {after:.1f}"
    if after <= before:
        return Score(0.0, why)
    alike = [_alike(one.getchannel(band), two.getchannel(band)) for band in "HV"]
    return Score(min(score.value for score in alike), "; ".join([why, *(score.why for score in alike)]))


def check_contrast_increase_and_structure_sim(result: Path, expected: Path) -> Score:
    """An image has more contrast than another, and the same content."""
    one, two = load_picture(result), load_picture(expected)
    after, before = (float(_values(image).std()) for image in (one, two))
    why = f"the contrast went from {before:.1f} to {after:.1f}"
    return _alike(one, two, ALIKE_WITH_MORE_CONTRAST) if after > before else Score(0.0, why)


def check_green_background(result: Path, expected: Path) -> Score:
    """An image is green, more than red or blue, where another is not black."""
    found, mask = (_values(load_picture(path).convert("RGB")) for path in (result, expected))
    if found.shape != mask.shape:
        return Score(0.0, "the images have other sizes")
    background = mask.any(axis=2)
    red, green, blue = (found[..., band][background] for band in range(3))
    holds = bool(((green > red) & (green > blue)).all())
    return score_of(holds, f"the background is {'' if holds else 'not '}green")


def check_triangle_position(result: Path) -> Score:
    """What has the second rarest color is in the middle of the image, within 5% of its sides."""
    import numpy as np

    pixels = np.asarray(load_picture(result))
    pixels = pixels.reshape(*pixels.shape[:2], -1)
    colors, counts = np.unique(pixels.reshape(-1, pixels.shape[2]), axis=0, return_counts=True)
    if len(colors) < 2:
        return Score(0.0, "the image has one color")
    middle = np.argwhere((pixels == colors[np.argsort(counts)][1]).all(axis=2)).mean(axis=0)
    sides = np.array(pixels.shape[:2])
    centered = bool((np.abs(middle - sides / 2) < CENTERED * sides).all())
    return score_of(centered, f"its middle is at {middle[1]:.0f}, {middle[0]:.0f} of {sides[1]} x {sides[0]} px")


def check_sharper(result: Path, expected: Path) -> Score:
    """An image is sharper than another: its second derivative varies more."""
    after, before = (_sharpness(load_picture(path)) for path in (result, expected))
    return score_of(after > before, f"the sharpness went from {before:.1f} to {after:.1f}")


def compare_image_text(result: Path, type: Literal["text"], text: str) -> Score:
    """A text can be read in an image, by the engine that also reads screens."""
    from aci.ocr.engines import default_engine

    engine = default_engine()
    if engine is None:
        raise CheckFailed(f"reading texts in images needs RapidOCR: {install_command('ocr')}")
    pixels = _values(load_picture(result).convert("RGB")).astype("uint8")
    texts = " ".join(box.text for box in engine.recognize(pixels))
    return score_of(text.strip() in texts, f"the image says {texts!r}")


def similarity(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
    """Return the mean structural similarity of two images of the same size (Wang et al. 2004), from -1 to 1.

    Local variances are those of samples, and bands count the same, as in scikit-image.

    Args:
        one: (H, W) or (H, W, bands) float64, 0 to 255.
        two: Likewise.
    """
    size = min(_WINDOW_PX, *one.shape[:2])
    sample = size * size / max(size * size - 1, 1)
    mean1, mean2 = _local_mean(one), _local_mean(two)
    variance1 = sample * (_local_mean(one * one) - mean1 * mean1)
    variance2 = sample * (_local_mean(two * two) - mean2 * mean2)
    covariance = sample * (_local_mean(one * two) - mean1 * mean2)
    luminance = (2 * mean1 * mean2 + _C1) / (mean1**2 + mean2**2 + _C1)
    structure = (2 * covariance + _C2) / (variance1 + variance2 + _C2)
    return round(float((luminance * structure).mean()), 9)


def perceptual_hash(image: Image) -> int:
    """Return 64 bits that images which look alike share: the signs of the low frequencies around their median."""
    import numpy as np
    from PIL.Image import Resampling

    side = 32
    values = _values(image.convert("L").resize((side, side), Resampling.LANCZOS))
    positions = np.arange(side)
    cosines = np.cos(np.pi * (2 * positions[None, :] + 1) * positions[:, None] / (2 * side))  # DCT-II
    low = (cosines @ values @ cosines.T)[:8, :8]
    bits = (low > np.median(low)).ravel()
    return int("".join("1" if bit else "0" for bit in bits), 2)


def hash_distance(one: int, two: int) -> int:
    """Return the number of bits in which two hashes differ."""
    return (one ^ two).bit_count()


def load_picture(path: Path) -> Image:
    """Return an image.

    Raises:
        WrongFormat: The file is none.
    """
    from PIL import Image

    with as_format(path, "an image", OSError, SyntaxError, Image.DecompressionBombError), Image.open(path) as image:
        return image.copy()


def _local_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means over square windows."""
    from numpy.lib.stride_tricks import sliding_window_view

    size = min(_WINDOW_PX, *values.shape[:2])
    for axis in (0, 1):
        values = sliding_window_view(values, size, axis).mean(-1)
    return values


def _alike(one: Image, two: Image, least: float = ALIKE) -> Score:
    if one.size != two.size:
        return _other_size(one, two)
    if min(one.size) < _WINDOW_PX:
        return Score(0.0, f"an image of {one.width} x {one.height} px is too small to be compared")
    likeness = similarity(_values(one.convert("RGB")), _values(two.convert("RGB")))
    return score_of(likeness >= least, f"structural similarity is {likeness:.3f}, expected at least {least}")


def _values(image: Image) -> NDArray[np.float64]:
    import numpy as np

    return np.asarray(image, dtype=np.float64)


def _brightness(image: Image) -> float:
    return float(_values(image.convert("L")).mean())


def _leveled(image: Image, brightness: float) -> Image:
    return image.point(lambda value: min(255, int(value * _LEVEL / brightness)))


def _sharpness(image: Image) -> float:
    import numpy as np

    around = np.pad(_values(image.convert("RGB").convert("L")), 1, mode="reflect")
    inner = around[1:-1, 1:-1]
    derivative = around[:-2, 1:-1] + around[2:, 1:-1] + around[1:-1, :-2] + around[1:-1, 2:] - 4 * inner
    return float(derivative.var())


def _other_size(one: Image, two: Image) -> Score:
    return Score(0.0, f"the image is {one.width} x {one.height} px, expected {two.width} x {two.height}")


METRICS = {"check_file_exists_and_structure_sim": Metric.of(check_structure_sim)}
