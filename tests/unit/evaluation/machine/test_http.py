"""The HTTP side of a served machine: who may ask, and how forms and errors are read."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from evaluation.machine.http import Answer, MachineServer, Request, as_json


class Echo:
    """Keeps what it was sent."""

    def __init__(self) -> None:
        self.seen: list[Request] = []

    def __call__(self, request: Request) -> Answer:
        self.seen.append(request)
        return as_json({"path": request.text("path", "none")})

    def fail(self, request: Request) -> Answer:
        raise OSError("the disk is full")


@pytest.fixture
def echo() -> Echo:
    return Echo()


@pytest.fixture
def server(echo: Echo) -> Iterator[MachineServer]:
    endpoints = {("POST", "/echo"): echo, ("GET", "/fail"): echo.fail}
    with MachineServer(endpoints, token="s3cret") as running:
        yield running


@pytest.fixture
def client(server: MachineServer) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=f"http://s3cret@127.0.0.1:{server.server_port}", trust_env=False) as made:
        yield made


def test_json_and_forms_are_read(client: httpx.Client, echo: Echo) -> None:
    assert client.post("/echo", json={"path": "a"}).json() == {"path": "a"}
    assert client.post("/echo", data={"path": "b c"}).json() == {"path": "b c"}


def test_files_arrive_byte_by_byte(client: httpx.Client, echo: Echo) -> None:
    content = bytes(range(256)) * 40 + b"\r\n--almost a boundary\r\n\r\n\n\r"
    client.post("/echo", data={"file_path": "/home/user/a"}, files={"file_data": ("a", content)})
    [request] = echo.seen
    assert request.files == {"file_data": content} and request.fields == {"file_path": "/home/user/a"}


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Authorization": "Bearer wrong"}, 401),
        ({"Authorization": ""}, 401),
        ({"Authorization": "Basic ???"}, 401),
        ({"Authorization": "Bearer s3cret"}, 200),
        ({"Origin": "https://example.org"}, 403),
        ({"Host": "example.org:80"}, 403),
    ],
)
def test_only_clients_with_the_token_that_are_not_web_pages_are_served(
    server: MachineServer, echo: Echo, headers: dict[str, str], status: int
) -> None:
    sent = {"Authorization": "Bearer s3cret", **headers}
    answer = httpx.post(f"http://127.0.0.1:{server.server_port}/echo", json={}, headers=sent, trust_env=False)
    assert answer.status_code == status
    assert len(echo.seen) == (status == 200)


@pytest.mark.parametrize(
    ("content", "kind"), [(b"{", "application/json"), (b"[1]", "application/json"), (b"x", "multipart/form-data")]
)
def test_a_malformed_request_is_reported_to_the_client(client: httpx.Client, content: bytes, kind: str) -> None:
    answer = client.post("/echo", content=content, headers={"Content-Type": kind})
    assert answer.status_code == 400 and answer.json()["error"]


def test_a_missing_key_is_named(client: httpx.Client) -> None:
    answer = client.post("/echo", json={"path": 7})
    assert answer.status_code == 400 and answer.json()["error"] == "the key 'path' must be a text"


def test_an_unknown_path_lists_what_there_is(client: httpx.Client) -> None:
    answer = client.get("/screensot")
    assert answer.status_code == 404 and "GET /fail, POST /echo" in answer.json()["message"]


def test_a_failure_is_an_answer(client: httpx.Client) -> None:
    answer = client.get("/fail")
    assert answer.status_code == 500 and answer.json() == {"status": "error", "message": "the disk is full"}
