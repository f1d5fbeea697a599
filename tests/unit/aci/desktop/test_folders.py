"""Creating the folder of a private desktop."""

from __future__ import annotations

from pathlib import Path

import pytest

from aci.desktop import folders
from aci.errors import StartFailed


@pytest.mark.parametrize(("error", "raised"), [(KeyboardInterrupt(), KeyboardInterrupt), (OSError(28), StartFailed)])
def test_interrupted_creation_leaves_no_folder(
    error: BaseException, raised: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "_MAX_PARENT", 1000)  # the folders of tests lie deep; no socket is made here

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(folders.DesktopFolder, "write_owner", fail)
    with pytest.raises(raised):
        folders.create_folder(tmp_path)
    assert list(folders.common_folder(tmp_path).iterdir()) == []
