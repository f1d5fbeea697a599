from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageEnhance, ImageOps

from evaluation.errors import CheckFailed
from tests.unit.evaluation.judging import judge, value


@pytest.fixture
def original(tmp_path: Path) -> Path:
    ramp = np.linspace(40, 200, 64)
    waves = 20 * np.sin(np.arange(64)[:, None] / 3)
    gray = ramp[None, :] + waves
    image = Image.fromarray(np.stack([gray, gray * 0.8, gray * 0.6], axis=-1).astype(np.uint8))
    image.save(tmp_path / "original.png")
    return tmp_path / "original.png"


def changed(original: Path, how: Any) -> Path:
    path = original.with_name("changed.png")
    how(Image.open(original)).save(path)
    return path


def noise(image: Image.Image) -> Image.Image:
    return Image.fromarray(np.random.default_rng(1).integers(0, 90, (image.height, image.width, 3), np.uint8))


FUNCS = {
    "check_brightness_decrease_and_structure_sim": lambda image: ImageEnhance.Brightness(image).enhance(0.6),
    "check_saturation_increase_and_structure_sim": lambda image: ImageEnhance.Color(image).enhance(1.5),
    "check_contrast_increase_and_structure_sim": lambda image: ImageEnhance.Contrast(image).enhance(1.2),
    "check_structure_sim": lambda image: image,
    "check_structure_sim_resized": lambda image: image.resize((128, 128)),
    "check_image_mirror": ImageOps.mirror,
    "check_palette_and_structure_sim": lambda image: image.quantize(128),
    "compare_images": lambda image: image.convert("RGBA"),
}
UNDONE = ("check_structure_sim", "check_structure_sim_resized", "compare_images")
"""Those for which the untouched image is right."""


@pytest.mark.parametrize("func", FUNCS)
def test_intended_change_scores_1(original: Path, func: str) -> None:
    assert judge(func, changed(original, FUNCS[func]), original).value == 1


@pytest.mark.parametrize("func", FUNCS)
def test_another_image_scores_0(original: Path, func: str) -> None:
    assert judge(func, changed(original, noise), original).value < 0.2


@pytest.mark.parametrize("func", [func for func in FUNCS if func not in UNDONE])
def test_untouched_image_scores_0(original: Path, func: str) -> None:
    assert judge(func, original, original).value == 0


@pytest.mark.parametrize("func", FUNCS)
def test_other_file_scores_0_and_is_an_error_if_expected(original: Path, func: str) -> None:
    text = original.with_name("text.png")
    text.write_text("no image")

    assert value(func, text, original) == 0
    with pytest.raises(CheckFailed, match=r"expected text\.png is not an image"):
        judge(func, original, text)


@pytest.mark.parametrize(
    ("func", "rules", "score"),
    [
        ("check_image_size", {"width": 64, "height": 64}, 1),
        ("check_image_size", {"height": 64}, 1),
        ("check_image_size", {"width": 65}, 0),
        ("check_image_mode", {"mode": "RGB"}, 1),
        ("check_image_mode", {"mode": "L"}, 0),
        ("check_image_file_size", {"max_size": 100_000}, 1),
        ("check_image_file_size", {"max_size": 10}, 0),
    ],
)
def test_metrics_score_one_image(original: Path, func: str, rules: dict[str, Any], score: float) -> None:
    assert value(func, original, rules) == score
