from __future__ import annotations

from pathlib import Path

import pytest

from aci.accessibility.connection import connect_accessibility
from aci.errors import ConnectionLost


def test_without_a_session_bus_the_error_names_what_is_missing(tmp_path: Path) -> None:
    with pytest.raises(ConnectionLost, match=f"DBUS_SESSION_BUS_ADDRESS is not set.*{tmp_path}"):
        connect_accessibility("dbus", {"XDG_RUNTIME_DIR": str(tmp_path)})
