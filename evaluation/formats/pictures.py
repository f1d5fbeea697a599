"""Images: size, mode, brightness, saturation, contrast, and structural similarity, with Pillow and numpy.

As in OSWorld, `result` is the edited image and `expected` the original.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from evaluation.state.metrics import Metric, Score, metrics_by_name, score_of
from evaluation.state.parameters import Parameters
from evaluation.state.reading import as_format

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from PIL.Image import Image

MAX_LOSS = 0.1
"""Largest loss of structural similarity of two images with the same content."""
_WINDOW_PX = 7
_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2

Size = Annotated[int, Field(ge=1)]
Loss = Annotated[float, Field(ge=0, le=1)]


class ImageSize(Parameters):
    """Size of an image, px."""

    width: Size | None = None
    height: Size | None = None


class ImageMode(Parameters):
    """Mode of an image, as Pillow names it."""

    mode: str


class FileSize(Parameters):
    """Size that a file must stay below, bytes."""

    max_size: Size


def check_image_size(result: Path, expected: ImageSize) -> Score:
    """An image has that width and height."""
    image = _load(result)
    wanted = (expected.width or image.width, expected.height or image.height)
    return score_of(image.size == wanted, f"the image is {image.width} x {image.height} px")


def check_image_mode(result: Path, expected: ImageMode) -> Score:
    """An image has that mode."""
    mode = _load(result).mode
    return score_of(mode == expected.mode, f"the mode is {mode}, expected {expected.mode}")


def check_image_file_size(result: Path, expected: FileSize) -> Score:
    """The file of an image is smaller than that."""
    size = result.stat().st_size
    return score_of(size < expected.max_size, f"{result.name} has {size} bytes, expected less than {expected.max_size}")


def compare_images(result: Path, expected: Path) -> Score:
    """Two images have the same size and the same pixels."""
    import numpy as np

    one, two = _load(result), _load(expected)
    same = one.size == two.size and np.array_equal(np.asarray(one.convert("RGBA")), np.asarray(two.convert("RGBA")))
    return score_of(same, f"{result.name} has {'the same' if same else 'other'} pixels than {expected.name}")


def check_image_mirror(result: Path, expected: Path) -> Score:
    """The result is the expected image, mirrored left to right."""
    from PIL.Image import Transpose

    one, two = _load(result), _load(expected)
    if one.size != two.size:
        return _other_size(one, two)
    likeness = similarity(_gray(one), _gray(two.transpose(Transpose.FLIP_LEFT_RIGHT)))
    return score_of(likeness >= 0.99, f"structural similarity with the mirror image is {likeness:.3f}")


def check_palette_and_structure_sim(result: Path, expected: Path) -> Score:
    """The result is a palette image with the same content."""
    score = _compare(result, expected, MAX_LOSS)
    mode = _load(result).mode
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
    """Return means over square windows."""
    from numpy.lib.stride_tricks import sliding_window_view

    size = min(_WINDOW_PX, *values.shape)
    for axis in (0, 1):
        values = sliding_window_view(values, size, axis).mean(-1)
    return values


def _changed(aspect: str = "", sign: int = 0, *, resize: bool = False) -> Metric:
    """Return a metric for two images with the same content, `result` with more (1) or less (-1) of an aspect."""

    def judge(result: Path, expected: Path, *, threshold: Loss = MAX_LOSS) -> Score:
        return _compare(result, expected, threshold, aspect, sign, resize=resize)

    return Metric.of(judge)


def _compare(
    result: Path, expected: Path, max_loss: float, aspect: str = "", sign: int = 0, *, resize: bool = False
) -> Score:
    one, two = _load(result), _load(expected)
    if one.size != two.size:
        if not resize:
            return _other_size(one, two)
        one = one.resize(two.size)
    gray1, gray2 = _gray(one), _gray(two)
    why, right = "", True
    if aspect:
        before, after = _ASPECTS[aspect](two), _ASPECTS[aspect](one)
        right = (after - before) * sign > 0
        why = f"{aspect} went from {before:.1f} to {after:.1f}; "
        gray1, gray2 = _standard(gray1), _standard(gray2)  # the aspect itself does not count for the structure
    likeness = similarity(gray1, gray2)
    why += f"structural similarity is {likeness:.3f}, expected at least {1 - max_loss:.2f}"
    return score_of(right and likeness >= 1 - max_loss, why)


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


def _load(path: Path) -> Image:
    from PIL import Image

    with as_format(path, "an image", OSError, Image.DecompressionBombError), Image.open(path) as image:
        return image.copy()


def _other_size(one: Image, two: Image) -> Score:
    return Score(0.0, f"the image is {one.width} x {one.height} px, expected {two.width} x {two.height}")


METRICS = {
    "check_structure_sim": _changed(),
    "check_structure_sim_resized": _changed(resize=True),
    "check_brightness_decrease_and_structure_sim": _changed("brightness", -1),
    "check_saturation_increase_and_structure_sim": _changed("saturation", +1),
    "check_contrast_increase_and_structure_sim": _changed("contrast", +1),
    **metrics_by_name(
        check_image_size,
        check_image_mode,
        check_image_file_size,
        compare_images,
        check_image_mirror,
        check_palette_and_structure_sim,
    ),
}
