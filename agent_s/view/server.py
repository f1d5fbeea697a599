"""The server of `agent-s view`, for pages, recorded and current runs, and the screen of a current run."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import anyio
import anyio.to_thread
import uvicorn
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from aci.errors import AciError
from agent_s.errors import AgentError
from agent_s.events import RunEnded
from agent_s.runs.following import RunFollower, is_being_recorded, read_live_info
from agent_s.runs.reading import SCREENS_FOLDER, SENT_FOLDER
from agent_s.terminal.loopback import LOOPBACK, guarded
from agent_s.trajectory.presenting import Presenter
from agent_s.view.screen import FRAME_S, ScreenFeed

if TYPE_CHECKING:
    from starlette.requests import Request

    from agent_s.view.folders import RunsFolder

POLL_S = 0.2
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-cache",
}
NO_TOKEN = "The token is missing or wrong: open the address that agent-s printed."
_PAGES = files("agent_s.view") / "static"
_SHARED = files("agent_s.trajectory") / "templates"
_FILES = {
    **{name: _PAGES / name for name in ("list.js", "open.js", "view.css")},
    **{name: _SHARED / name for name in ("run.js", "run.css", "style.css")},
}
_KINDS = {"js": "text/javascript", "css": "text/css", "html": "text/html"}


class OrderedRun(Protocol):
    """A run of this process that can be controlled."""

    @property
    def folder(self) -> Path | None:
        """Folder of the run; None before it begins."""

    def state(self) -> dict[str, Any]:
        """Return the state that the page shows besides the events."""

    def do(self, order: bytes) -> None:
        """Carry out a command given as JSON.

        Raises:
            AgentError: The command is unknown.
        """


class Viewer:
    """The pages of the runs in a folder.

    Args:
        folder: Folder of the runs.
        live: Run of this process that the page can control; None if there is none.
    """

    def __init__(self, folder: RunsFolder, live: OrderedRun | None = None) -> None:
        self._folder = folder
        self._live = live
        self._is_closing: Callable[[], bool] = lambda: False

    def server(self, token: str) -> uvicorn.Server:
        """Return a server on loopback; `run` takes its socket."""
        config = uvicorn.Config(
            guarded(self._app(), token, NO_TOKEN), log_level="warning", timeout_graceful_shutdown=10, lifespan="off"
        )
        server = uvicorn.Server(config)
        self._is_closing = lambda: server.should_exit
        return server

    def _app(self) -> Starlette:
        routes = [
            Route("/", self._start),
            Route("/rows", self._rows),
            Route("/compare", self._compare),
            Route("/static/{file}", self._static),
            Route("/run/{name}/", self._run),
            Route("/run/{name}/events", self._events),
            Route("/run/{name}/screen", self._screen),
            Route("/run/{name}/do", self._do, methods=["POST"]),
            Route("/run/{name}/{kind}/{file}", self._picture),
        ]
        problems: dict[Any, Any] = {AgentError: _explained, AciError: _explained}
        return Starlette(routes=routes, exception_handlers=problems)

    async def _start(self, request: Request) -> Response:
        if self._folder.is_run:
            return RedirectResponse(f"run/{self._folder.path.resolve().name}/", headers=HEADERS)
        return _page("list.html")

    async def _run(self, request: Request) -> Response:
        self._found(request)
        return _page("run.html")

    async def _compare(self, request: Request) -> Response:
        return _page("compare.html")

    async def _static(self, request: Request) -> Response:
        file = _FILES.get(request.path_params["file"])
        if file is None:
            raise HTTPException(404)
        return Response(file.read_bytes(), media_type=_KINDS[file.name.rpartition(".")[2]], headers=HEADERS)

    async def _rows(self, request: Request) -> Response:
        rows = await anyio.to_thread.run_sync(self._folder.rows)
        return JSONResponse({"folder": str(self._folder.path), "rows": rows}, headers=HEADERS)

    async def _picture(self, request: Request) -> Response:
        kind, file = request.path_params["kind"], request.path_params["file"]
        path = self._found(request) / kind / file
        if kind not in (SCREENS_FOLDER, SENT_FOLDER) or path.suffix not in (".png", ".jpeg") or not path.is_file():
            raise HTTPException(404)
        return FileResponse(path, headers={**HEADERS, "Cache-Control": "private, max-age=86400"})

    async def _events(self, request: Request) -> Response:
        folder, last = self._found(request), request.headers.get("last-event-id", "")
        skip = int(last) + 1 if last.isdecimal() else 0
        return StreamingResponse(self._lines(folder, skip), media_type="text/event-stream", headers=HEADERS)

    async def _lines(self, folder: Path, skip: int) -> AsyncIterator[str]:
        """Yield the events of a run, and the state of a live one, as server-sent events until the run ends."""
        follower, present, number, state = RunFollower(folder), Presenter(), 0, ""
        live = self._live if self._live is not None and self._live.folder == folder else None
        info = read_live_info(folder)
        view = info.view if info is not None and live is None else ""
        yield f"event: folder\ndata: {json.dumps({'folder': str(folder), 'view': view})}\n\n"
        while True:
            going_on = (
                is_being_recorded(folder) and not self._is_closing()
            )  # checked first, or the last events could be missed
            try:
                events = await anyio.to_thread.run_sync(follower.new_events)
            except AgentError as error:
                yield f"event: problem\ndata: {json.dumps(str(error))}\n\n"
                break
            for event in events:
                if number >= skip:
                    yield f"id: {number}\ndata: {json.dumps(present(event), ensure_ascii=False)}\n\n"
                else:
                    present(event)
                number += 1
            now = json.dumps({"live": going_on, **(live.state() if live is not None and going_on else {})})
            if now != state:
                state = now
                yield f"event: state\ndata: {state}\n\n"
            if not going_on:
                break
            if events and isinstance(events[-1], RunEnded):
                continue
            await anyio.sleep(POLL_S)
        yield "event: end\ndata: {}\n\n"

    async def _screen(self, request: Request) -> Response:
        folder = self._found(request)
        info = read_live_info(folder)
        if info is None or not info.display:
            raise HTTPException(404, "The screen of this run cannot be seen from here.")
        feed = await anyio.to_thread.run_sync(ScreenFeed, info.display)
        return StreamingResponse(
            self._frames(folder, feed), media_type="multipart/x-mixed-replace; boundary=frame", headers=HEADERS
        )

    async def _frames(self, folder: Path, feed: ScreenFeed) -> AsyncIterator[bytes]:
        """Yield the screen whenever it has changed, as parts of a multipart response."""
        try:
            while not self._is_closing() and is_being_recorded(folder):
                with anyio.CancelScope(shield=True):  # the feed must not be closed while it is used
                    picture = await anyio.to_thread.run_sync(feed.changed)
                if picture is not None:
                    yield b"--frame\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n" % len(picture)
                    yield picture + b"\r\n"
                await anyio.sleep(FRAME_S)
        except AciError:  # the desktop was closed before the end of the run was recorded
            return
        finally:
            feed.close()

    async def _do(self, request: Request) -> Response:
        live, folder = self._live, self._found(request)
        if live is None or live.folder != folder:
            raise HTTPException(409, "This run cannot be controlled here. Start it with agent-s run --view.")
        if request.headers.get("content-type") != "application/json":
            raise HTTPException(415, "Orders must be JSON.")
        live.do(await request.body())
        return JSONResponse(live.state(), headers=HEADERS)

    def _found(self, request: Request) -> Path:
        return self._folder.find(request.path_params["name"])


def address_of(port: int, token: str) -> str:
    """Return the address of the pages."""
    return f"http://{LOOPBACK}:{port}/{token}/"


def _page(name: str) -> Response:
    return Response((_PAGES / name).read_bytes(), media_type="text/html", headers=HEADERS)


async def _explained(request: Request, problem: Exception) -> Response:
    return Response(f"{problem}\n", 400, media_type="text/plain", headers=HEADERS)
