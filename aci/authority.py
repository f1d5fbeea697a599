"""Cookies of X displays: who does not show a display's cookie cannot look at it or type into it.

Programs find the cookie in the file that XAUTHORITY names. The libraries in this process would look for that name in
this process's own environment, which belongs to whoever uses this package; so the cookies of displays that were started
here are handed to them directly.

Sources: Xsecurity(7), Xau(3), xcb_connect_to_display_with_auth_info(3).
"""

from __future__ import annotations

import ctypes
import os
import re
import secrets
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

METHOD = b"MIT-MAGIC-COOKIE-1"
_FAMILY_LOCAL, _FAMILY_WILD = 256, 65535
"""Families of addresses: this machine by its name, and any (Xauth.h)."""
_LOCAL_NAME = re.compile(r"(?:unix)?:(\d+)(?:\.\d+)?")

_cookies: dict[int, bytes] = {}
_teaching = threading.RLock()


def write_cookie(path: Path) -> bytes:
    """Write a new cookie to a file that only this user can read; it is for whatever display is given the file.

    Returns:
        The cookie.
    """
    cookie = secrets.token_bytes(16)
    # Most clients take the entry for any address; python-xlib knows only that of the machine. Without a number
    # both are for any display, so that the file can be there before the server has chosen one.
    entries = (_entry(_FAMILY_LOCAL, socket.gethostname().encode(), cookie), _entry(_FAMILY_WILD, b"", cookie))
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(b"".join(entries))
    return cookie


def know(display: str, cookie: bytes) -> None:
    """Let connections of this process to a display show its cookie."""
    _cookies[_number(display)] = cookie


def forget(display: str) -> None:
    """Let connections to a display show no cookie of ours any more."""
    _cookies.pop(_number(display), None)


@contextmanager
def shown_by_xlib() -> Iterator[None]:
    """Let what python-xlib connects to within the block be shown the cookies that are known."""
    from Xlib.support import connect

    with _teaching:
        usual = connect.get_auth

        def get_auth(end: Any, name: str, protocol: str | None, host: str, number: int) -> tuple[bytes, bytes]:
            cookie = _cookies.get(number) if host in ("", "unix") else None
            return usual(end, name, protocol, host, number) if cookie is None else (METHOD, cookie)

        connect.get_auth = get_auth
        try:
            yield
        finally:
            connect.get_auth = usual


@contextmanager
def shown_by_mss() -> Iterator[None]:
    """Let what mss connects to within the block be shown the cookies that are known."""
    from mss.linux import xcb, xcbhelpers

    xcb.initialize()
    library: Any = xcbhelpers.LIB.xcb
    with _teaching:
        usual = library.xcb_connect
        connect_with = library.xcb_connect_to_display_with_auth_info
        connect_with.argtypes = [ctypes.c_char_p, ctypes.POINTER(_AuthInfo), ctypes.POINTER(ctypes.c_int)]
        connect_with.restype = usual.restype

        def xcb_connect(name: bytes | None, screen: Any) -> Any:
            local = _LOCAL_NAME.fullmatch((name or b"").decode())
            cookie = _cookies.get(int(local[1])) if local else None
            if cookie is None:
                return usual(name, screen)
            return connect_with(name, _AuthInfo(len(METHOD), METHOD, len(cookie), cookie), screen)

        library.xcb_connect = xcb_connect
        try:
            yield
        finally:
            library.xcb_connect = usual


class _AuthInfo(ctypes.Structure):
    """`xcb_auth_info_t`."""

    _fields_ = (
        ("namelen", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("datalen", ctypes.c_int),
        ("data", ctypes.c_char_p),
    )


def _number(display: str) -> int:
    local = _LOCAL_NAME.fullmatch(display)
    if local is None:
        raise ValueError(f"{display!r} is no display of this machine")
    return int(local[1])


def _entry(family: int, address: bytes, cookie: bytes) -> bytes:
    """Return one entry of an authority file: big-endian lengths before each part."""
    parts = (address, b"", METHOD, cookie)
    return struct.pack(">H", family) + b"".join(struct.pack(">H", len(part)) + part for part in parts)
