"""The default engine: PP-OCR models by ONNX Runtime, which come with the package `rapidocr` and work offline."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

from aci.errors import MissingDependency, RecognitionFailed
from aci.observation.geometry import Rect
from aci.ocr.text_engine import TextBox, pip_command, restore_ellipsis

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REQUIREMENTS = ("rapidocr>=3", "onnxruntime>=1.17")
_LARGEST_SIDE_PX = 2000

_SETTINGS: dict[str, Any] = {
    "Global.log_level": "critical",
    "Global.max_side_len": _LARGEST_SIDE_PX,
    # The classifier that turns text upright takes short labels for upside down ones.
    "Global.use_cls": False,
    # Boxes grown less and not widened keep labels apart that stand close to each other.
    "Det.unclip_ratio": 1.2,
    "Det.use_dilation": False,
    # The default enlarges small pictures until their shorter side is 736 px.
    "Det.limit_type": "max",
    "Det.limit_side_len": _LARGEST_SIDE_PX,
    # Lines of a batch are padded to its longest one, which costs more than a batch saves, and misreads some of them.
    "Rec.rec_batch_num": 1,
    # Lines are padded to at least this width; by default to one that short labels never reach, which costs a third.
    "Rec.rec_img_shape": [3, 48, 48],
    # More would wait for each other actively, which doubles the work on a busy machine.
    "EngineConfig.onnxruntime.intra_op_num_threads": 1,
    "EngineConfig.onnxruntime.inter_op_num_threads": 1,
}


class RapidOcr:
    """Reads text with RapidOCR 3 and the models in its package; each call uses one processor."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reader: Any = None

    def recognize(self, pixels: NDArray[np.uint8]) -> list[TextBox]:
        """Find and read the text in a picture; see `aci.ocr.engines.TextEngine`."""
        import numpy as np

        with self._lock:
            if self._reader is None:
                self._reader = self._load()
        try:
            answer = self._reader(np.ascontiguousarray(pixels[:, :, ::-1]))
        except self._failures() as error:
            raise RecognitionFailed(f"RapidOCR failed: {error}") from error
        if answer.boxes is None or answer.txts is None:
            return []
        return [
            TextBox(_around(corners), restore_ellipsis(text), float(score))
            for corners, text, score in zip(answer.boxes, answer.txts, answer.scores, strict=True)
        ]

    def _load(self) -> Any:
        try:
            from rapidocr import RapidOCR
        except ImportError as error:  # such as a library of the system that its own libraries need
            raise MissingDependency(f"RapidOCR cannot be loaded: {error}.", pip_command(*REQUIREMENTS)) from error
        return RapidOCR(params=_SETTINGS)

    @staticmethod
    def _failures() -> tuple[type[Exception], ...]:
        import cv2
        from rapidocr.ch_ppocr_det.utils import ResizeImgError
        from rapidocr.inference_engine.onnxruntime.main import ONNXRuntimeError
        from rapidocr.utils.download_file import DownloadFileException

        return (cv2.error, ResizeImgError, ONNXRuntimeError, DownloadFileException, FileNotFoundError, ValueError)


def _around(corners: NDArray[np.float32]) -> Rect:
    left, top = (int(value) for value in corners.min(axis=0))
    right, bottom = (int(value) for value in corners.max(axis=0))
    return Rect(left, top, right - left, bottom - top)
