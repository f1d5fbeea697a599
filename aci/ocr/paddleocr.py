"""PaddleOCR 3 with models from a local folder: the most exact engine, and by far the largest."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aci.errors import MissingDependency, RecognitionFailed
from aci.observation.geometry import Rect
from aci.ocr.text_engine import TextBox, pip_command

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_DETECTION, _RECOGNITION = "det", "rec"


class PaddleOcr:
    """Reads text with PaddleOCR 3.

    The folder of models holds two folders, `det` and `rec`, each with an `inference.yml` whose `Global.model_name`
    names the model, and the model itself: Paddle's own files, or an `inference.onnx`. Models are never fetched from
    the network.

    Raises:
        MissingDependency: There are no models in the folder.
    """

    def __init__(self, models: Path | None) -> None:
        self._models = models
        self._folders = {kind: _folder(models, kind) for kind in (_DETECTION, _RECOGNITION)}
        self._lock = threading.Lock()
        self._reader: Any = None

    def recognize(self, pixels: NDArray[np.uint8]) -> list[TextBox]:
        """Find and read the text in a picture; see `aci.ocr.engines.TextEngine`."""
        import numpy as np

        with self._lock:
            if self._reader is None:
                self._reader = self._load()
            try:
                answers = self._reader.predict(np.ascontiguousarray(pixels[:, :, ::-1]))
            except (RuntimeError, ValueError) as error:
                raise RecognitionFailed(f"PaddleOCR failed: {error}") from error
        return [
            TextBox(_rect(corners), text, float(score))
            for answer in answers
            for corners, text, score in zip(answer["rec_boxes"], answer["rec_texts"], answer["rec_scores"], strict=True)
            if text.strip()
        ]

    def _load(self) -> Any:
        detection, recognition = self._folders[_DETECTION], self._folders[_RECOGNITION]
        onnx = (detection / "inference.onnx").exists()
        try:
            return _pipeline(detection, recognition, onnx)
        except ImportError as error:
            package = "onnxruntime" if onnx else "paddlepaddle"
            raise MissingDependency(
                f"PaddleOCR cannot be loaded: {error}.", pip_command("paddleocr", package)
            ) from error
        except (RuntimeError, ValueError, LookupError, OSError) as error:
            raise RecognitionFailed(f"PaddleOCR cannot use the models in {self._models}: {error!r}") from error


def _pipeline(detection: Path, recognition: Path, onnx: bool) -> Any:
    from paddleocr import PaddleOCR

    return PaddleOCR(
        text_detection_model_name=_model_name(detection),
        text_detection_model_dir=str(detection),
        text_recognition_model_name=_model_name(recognition),
        text_recognition_model_dir=str(recognition),
        # Each of these would be one more model, for photographed pages.
        use_doc_orientation_classify=False,
        use_doc_unwarping=False,
        use_textline_orientation=False,
        text_det_limit_type="max",
        text_det_limit_side_len=2000,
        text_det_unclip_ratio=1.2,
        **({"engine": "onnxruntime"} if onnx else {}),
    )


def _folder(models: Path | None, kind: str) -> Path:
    if models is None or not (models / kind / "inference.yml").exists():
        where = f"in {models}" if models is not None else "(no folder was named)"
        raise MissingDependency(
            f"PaddleOCR has no models {where}: it takes a folder with {_DETECTION}/inference.yml and "
            f"{_RECOGNITION}/inference.yml, each with its model, as PaddleOCR's model list offers them for download."
        )
    return models / kind


def _model_name(folder: Path) -> str:
    import yaml

    return str(yaml.safe_load((folder / "inference.yml").read_text())["Global"]["model_name"])


def _rect(box: Any) -> Rect:
    left, top, right, bottom = (int(value) for value in box)
    return Rect(left, top, right - left, bottom - top)
