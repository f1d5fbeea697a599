from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from evaluation.state.server import MAX_BODY, FormServer, Submission


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FormServer]:
    (tmp_path / "secret.txt").write_text("not served")
    pages = tmp_path / "pages"
    pages.mkdir()
    (pages / "form.html").write_text("<p>{code} {other}</p>")
    (pages / "page.css").write_text("p { color: red } {code}")
    with FormServer(pages, {"code": "KQT-4821"}) as running:
        yield running


def test_values_are_filled_into_pages_but_not_into_other_files(server: FormServer) -> None:
    page = httpx.get(f"{server.address}/form.html?x=1")

    assert page.text == "<p>KQT-4821 {other}</p>"
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert httpx.get(f"{server.address}/page.css").text == "p { color: red } {code}"


def test_posted_form_is_kept_and_answered_with_the_page(server: FormServer) -> None:
    answer = httpx.post(
        f"{server.address}/form.html", data={"name": "Zoë & Co", "empty": "", "many": ["a", "b"]}, timeout=60
    )

    assert answer.status_code == 200
    assert answer.text == "<p>KQT-4821 {other}</p>"
    assert server.submissions == (Submission("/form.html", {"name": "Zoë & Co", "empty": "", "many": ["a", "b"]}),)


def test_only_posted_forms_of_limited_size_are_kept(server: FormServer) -> None:
    as_json = httpx.post(f"{server.address}/form.html", json={"name": "x"})
    too_large = httpx.post(f"{server.address}/form.html", data={"name": "x" * MAX_BODY})

    assert (as_json.status_code, too_large.status_code) == (415, 400)
    assert server.submissions == ()


@pytest.mark.parametrize("path", ["/../secret.txt", "/%2e%2e/secret.txt", "/..%2fsecret.txt", "/absent.html", "/"])
def test_only_files_of_the_folder_are_served(server: FormServer, path: str) -> None:
    where = urlsplit(server.address)
    with socket.create_connection((where.hostname, where.port), timeout=60) as connection:
        connection.sendall(f"GET {path} HTTP/1.0\r\n\r\n".encode())
        answer = b"".join(iter(lambda: connection.recv(4096), b""))

    assert b" 404 " in answer.splitlines()[0]
    assert b"not served" not in answer


def test_port_is_free_again_even_after_an_error(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), FormServer(tmp_path, {}) as server:
        port = urlsplit(server.address).port
        raise ZeroDivisionError

    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0
