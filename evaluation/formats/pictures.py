"""Images: size, mode, brightness, saturation, contrast, and structural similarity, with Pillow and numpy.

As in OSWorld, `result` is the edited image and `expected` the original.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from evaluation.errors import CheckFailed
from evaluation.state.getters import Parameters
from evaluation.state.metrics import Metric, Score, WrongFormat, by_name, rules_of, score_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

SIMILAR = 0.9
"""Least structural similarity of two images with the same content."""
_WINDOW = 7
_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2


class ImageSize(Parameters):
    """Size of an image, px."""

    width: Annotated[int, Field(ge=1)] | None = None
    height: Annotated[int, Field(ge=1)] | None = None


class Threshold(Parameters):
    """Largest loss of structural similarity, from 0 to 1."""

    threshold: Annotated[float, Field(ge=0, le=1)] = 1 - SIMILAR


def check_image_size(result: Path, expected: ImageSize) -> Score:
    """An image has that width and height."""
    image = _found(result)
    wanted = (expected.width or image.width, expected.height or image.height)
    return score_of(image.size == wanted, f"the image is {image.width} x {image.height} px")


def check_image_mode(result: Path, expected: Any) -> Score:
    """An image has that mode."""
    image = _found(result)
    return score_of(image.mode == expected.mode, f"the mode is {image.mode}, expected {expected.mode}")


def check_image_file_size(result: Path, expected: Any) -> Score:
    """The file of an image is not larger than that."""
    size = result.stat().st_size
    return score_of(
        size < expected.max_size, f"{result.name} has {size} bytes, less than {expected.max_size} are right"
    )


def compare_images(result: Path, expected: Path) -> Score:
    """Two images have the same size and the same pixels."""
    import numpy as np

    one, two = _found(result), _wanted(expected)
    same = one.size == two.size and np.array_equal(np.asarray(one.convert("RGBA")), np.asarray(two.convert("RGBA")))
    return score_of(same, f"{result.name} has {'the same' if same else 'other'} pixels than {expected.name}")


def check_image_mirror(result: Path, expected: Path) -> Score:
    """The result is the expected image, mirrored left to right."""
    from PIL.Image import Transpose

    one, two = _found(result), _wanted(expected)
    if one.size != two.size:
        return _other_size(one, two)
    likeness = similarity(_gray(one), _gray(two.transpose(Transpose.FLIP_LEFT_RIGHT)))
    return score_of(likeness >= 0.99, f"structural similarity with the mirror image is {likeness:.3f}")


def check_palette_and_structure_sim(result: Path, expected: Path) -> Score:
    """The result is a palette image that shows the same thing."""
    score = _pair_score(result, expected, 1 - SIMILAR)
    mode = _found(result).mode
    return score if mode == "P" else Score(0.0, f"the mode is {mode}, not P (palette)")


def similarity(one: NDArray[np.float64], two: NDArray[np.float64]) -> float:
    """Return the mean structural similarity of two gray images of the same size (Wang et al. 2004), from -1 to 1.

    Args:
        one: (H, W) float64, 0 to 255.
        two: Likewise.
    """
    mean1, mean2 = _local_mean(one), _local_mean(two)
    variance1 = _local_mean(one * one) - mean1 * mean1
    variance2 = _local_mean(two * two) - mean2 * mean2
    covariance = _local_mean(one * two) - mean1 * mean2
    luminance = (2 * mean1 * mean2 + _C1) / (mean1**2 + mean2**2 + _C1)
    structure = (2 * covariance + _C2) / (variance1 + variance2 + _C2)
    return float((luminance * structure).mean())


def _local_mean(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return means over square windows, by sums over rectangles."""
    import numpy as np

    size = min(_WINDOW, *values.shape)
    sums = np.pad(values, ((1, 0), (1, 0))).cumsum(0).cumsum(1)
    windows: NDArray[np.float64] = sums[size:, size:] - sums[:-size, size:] - sums[size:, :-size] + sums[:-size, :-size]
    means: NDArray[np.float64] = windows / (size * size)
    return means


def _alike(aspect: str = "", *, resize: bool = False) -> Metric:
    """Return a metric for images that show the same thing, `result` with more or less of an aspect.

    Args:
        aspect: Key of `_ASPECTS`, after its sign; that aspect itself does not count for the structure.
        resize: Whether sizes may differ.
    """

    def judge(result: Path, expected: Path, *, threshold: float) -> Score:
        return _pair_score(result, expected, threshold, aspect, resize=resize)

    return Metric(judge, options=Threshold)


def _pair_score(result: Path, expected: Path, threshold: float, aspect: str = "", *, resize: bool = False) -> Score:
    one, two = _found(result), _wanted(expected)
    if one.size != two.size:
        if not resize:
            return _other_size(one, two)
        one = one.resize(two.size)
    gray1, gray2 = _gray(one), _gray(two)
    why, right = "", True
    if aspect:
        sign, name = aspect[0], aspect[1:]
        before, after = _ASPECTS[name](two), _ASPECTS[name](one)
        right = after > before if sign == "+" else after < before
        why = f"{name} went from {before:.1f} to {after:.1f}; "
        gray1, gray2 = _standard(gray1), _standard(gray2)
    likeness = similarity(gray1, gray2)
    why += f"structural similarity is {likeness:.3f}, {1 - threshold:.2f} needed"
    return score_of(right and likeness >= 1 - threshold, why)


def _standard(values: NDArray[np.float64]) -> NDArray[np.float64]:
    spread = values.std()
    standard: NDArray[np.float64] = (values - values.mean()) / spread * 50 + 128 if spread else values * 0 + 128
    return standard


def _gray(image: Image) -> NDArray[np.float64]:
    import numpy as np

    return np.asarray(image.convert("RGB").convert("L"), dtype=np.float64)


def _saturation(image: Image) -> float:
    import numpy as np

    return float(np.asarray(image.convert("RGB").convert("HSV"))[..., 1].mean())


_ASPECTS: dict[str, Callable[[Image], float]] = {
    "brightness": lambda image: float(_gray(image).mean()),
    "contrast": lambda image: float(_gray(image).std()),
    "saturation": _saturation,
}


def _found(path: Path) -> Image:
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            image.load()
            return image.copy()
    except (UnidentifiedImageError, OSError, Image.DecompressionBombError) as error:
        raise WrongFormat(f"{path.name} is not an image") from error


def _wanted(path: Path | None) -> Image:
    if path is None:
        raise CheckFailed("the expected image is missing")
    try:
        return _found(path)
    except WrongFormat as error:
        raise CheckFailed(f"the expected image {path.name} is not an image") from error


def _other_size(one: Image, two: Image) -> Score:
    return Score(0.0, f"the image is {one.width} x {one.height} px, expected {two.width} x {two.height}")


METRICS = {
    "check_structure_sim": _alike(),
    "check_structure_sim_resized": _alike(resize=True),
    "check_brightness_decrease_and_structure_sim": _alike("-brightness"),
    "check_saturation_increase_and_structure_sim": _alike("+saturation"),
    "check_contrast_increase_and_structure_sim": _alike("+contrast"),
    **by_name(
        Metric(check_image_size, rules=ImageSize),
        Metric(check_image_mode, rules=rules_of("ImageMode", mode=str)),
        Metric(check_image_file_size, rules=rules_of("FileSize", max_size=Annotated[int, Field(ge=1)])),
        Metric(compare_images),
        Metric(check_image_mirror),
        Metric(check_palette_and_structure_sim),
    ),
}
