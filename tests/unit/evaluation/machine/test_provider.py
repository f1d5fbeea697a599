from __future__ import annotations

import os
import sys
import types
from pathlib import Path

import pytest

from evaluation.machine.provider import use_machine

requests = pytest.importorskip("requests")


def test_the_token_reaches_the_machine_and_no_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package, module = types.ModuleType("desktop_env"), types.ModuleType("desktop_env.desktop_env")
    package.desktop_env = module  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "desktop_env", package)
    monkeypatch.setitem(sys.modules, "desktop_env.desktop_env", module)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("NETRC", "")
    use_machine("http://s3cret@10.0.0.9:5000")
    for _ in range(2):
        assert requests.utils.get_netrc_auth("http://10.0.0.9:5000/screenshot") == ("agent", "s3cret")
    assert requests.utils.get_netrc_auth("http://10.0.0.10:5000/screenshot") is None
    assert list(tmp_path.iterdir()) == []
    os.close(int(os.environ["NETRC"].rpartition("/")[2]))
