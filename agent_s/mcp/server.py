"""The MCP server, with tools and resources, over standard input and output or HTTP on loopback."""

from __future__ import annotations

import base64
import difflib
import io
import logging
from typing import Any

import anyio
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    BlobResourceContents,
    CallToolRequestParams,
    CallToolResult,
    InputRequiredResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
)

from aci.errors import AciError
from agent_s.errors import AgentError
from agent_s.mcp.agent_tools import AgentTools
from agent_s.mcp.conversation import Conversation, Question, response_to
from agent_s.mcp.desktop_tools import DesktopTools, look
from agent_s.mcp.desktops import Desktops
from agent_s.mcp.tool import Reply, Tool, ToolProblem
from agent_s.runs.listing import find_run, list_runs
from agent_s.runs.reading import read_trajectory
from agent_s.settings import Settings
from agent_s.terminal.desktop_choice import DesktopChoice
from agent_s.terminal.loopback import LOOPBACK, guarded
from agent_s.trajectory.report import render_report
from agent_s.version import program_version
from memory_store import MemoryStoreError

logger = logging.getLogger(__name__)

NO_TOKEN = "The header Authorization: Bearer TOKEN is missing or wrong; agent-s mcp prints the token."
MOST_RUNS = 20
INSTRUCTIONS = (
    "Use desktops: observe first, then act by the ids it returns. Each tool that acts returns what happened and what "
    "has changed since you looked last. run_task lets an agent do a whole task by itself."
)
_SCREEN, _RUN = "screen://", "run://"

Context = ServerRequestContext[Any, Any]


class McpServer:
    """Serves MCP clients.

    Args:
        settings: The model, the memory and the parts of desktops.
        screen: The person's own screen, or a machine, that clients may use too; None for none.
    """

    def __init__(self, settings: Settings, screen: DesktopChoice | None = None) -> None:
        self._settings = settings
        self._desktops = Desktops(settings, screen)
        tools = [*DesktopTools(settings, self._desktops).tools(), *AgentTools(settings, self._desktops).tools()]
        self._tools = {tool.name: tool for tool in tools}
        self._waiting: dict[str, Conversation] = {}
        self.sdk_server: Server[Any] = Server(
            "agent-s",
            version=program_version(),
            title="agent-s",
            instructions=INSTRUCTIONS,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
        )

    async def serve_stdio(self) -> None:
        """Serve one client over standard input and output until it closes them."""
        async with stdio_server() as (incoming, outgoing):
            await self.sdk_server.run(incoming, outgoing, self.sdk_server.create_initialization_options())

    async def serve_http(self, port: int, token: str) -> None:
        """Serve clients that have the token over streamable HTTP on loopback, until cancelled."""
        import uvicorn

        app = guarded(self.sdk_server.streamable_http_app(host=LOOPBACK), token, NO_TOKEN)
        config = uvicorn.Config(app, host=LOOPBACK, port=port, log_level="warning", timeout_graceful_shutdown=2)
        await uvicorn.Server(config).serve()

    async def close(self) -> None:
        """Cancel the current calls and end all private desktops."""
        for conversation in self._waiting.values():
            await conversation.cancel()
        self._waiting.clear()
        await anyio.to_thread.run_sync(self._desktops.close)

    async def _list_tools(self, context: Context, params: Any) -> ListToolsResult:
        return ListToolsResult(tools=[tool.listed() for tool in self._tools.values()])

    async def _call_tool(self, context: Context, params: CallToolRequestParams) -> CallToolResult | InputRequiredResult:
        try:
            conversation = self._resumed(params) if params.request_state else self._begun(params)
        except ToolProblem as problem:
            return _failed(problem)
        try:
            return await self._go_on(conversation, context)
        except (ToolProblem, AciError, AgentError, MemoryStoreError) as problem:
            return _failed(problem)
        except Exception:
            logger.exception("The tool %s failed", params.name)
            raise
        except BaseException:
            with anyio.CancelScope(shield=True):
                await conversation.cancel()
            raise

    def _begun(self, params: CallToolRequestParams) -> Conversation:
        tool = self._find(params.name)
        given = tool.read_arguments(params.arguments)
        return Conversation(lambda person: tool.run(given, person))

    def _resumed(self, params: CallToolRequestParams) -> Conversation:
        conversation = self._waiting.pop(params.request_state or "", None)
        if conversation is None:
            raise ToolProblem("This call has ended: call the tool again without request_state.")
        conversation.settle(response_to(params.input_responses))
        return conversation

    async def _go_on(self, conversation: Conversation, context: Context) -> CallToolResult | InputRequiredResult:
        session, told = context.session, 0
        while True:
            said = await conversation.next(session)
            match said:
                case Reply():
                    return said.as_result()
                case Question() if session.can_send_request:
                    conversation.settle(await session.elicit_form(said.message, said.schema, context.request_id))
                case Question():
                    self._waiting[conversation.state] = conversation
                    return said.as_result(conversation.state)
                case str():
                    told += 1
                    await session.report_progress(told, message=said)

    def _find(self, name: str) -> Tool:
        tool = self._tools.get(name)
        if tool is None:
            near = difflib.get_close_matches(name, self._tools, n=1)
            meant = f" Did you mean {near[0]}?" if near else ""
            raise ToolProblem(f"There is no tool {name!r}.{meant} There are: {', '.join(self._tools)}.")
        return tool

    async def _list_resources(self, context: Context, params: Any) -> ListResourcesResult:
        screens = [
            Resource(uri=f"{_SCREEN}{one.name}", name=f"screen of {one.name}", mime_type="image/png")
            for one in self._desktops
        ]
        runs = [
            Resource(
                uri=f"{_RUN}{run.run_id}",
                name=run.instruction[:120] or run.run_id,
                description=f"{run.status or 'cut off'}, {run.steps} steps",
                mime_type="text/html",
            )
            for run in list_runs(self._settings.runs_folder)[:MOST_RUNS]
        ]
        return ListResourcesResult(resources=[*screens, *runs])

    async def _list_templates(self, context: Context, params: Any) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(
            resource_templates=[
                ResourceTemplate(uri_template=f"{_SCREEN}{{desktop}}", name="screenshot", mime_type="image/png"),
                ResourceTemplate(uri_template=f"{_RUN}{{run}}", name="report of a run", mime_type="text/html"),
            ]
        )

    async def _read_resource(self, context: Context, params: ReadResourceRequestParams) -> ReadResourceResult:
        uri = str(params.uri)
        try:
            if uri.startswith(_SCREEN):
                return ReadResourceResult(contents=[await self._screen(uri)])
            if uri.startswith(_RUN):
                return ReadResourceResult(contents=[await anyio.to_thread.run_sync(self._report, uri)])
        except (ToolProblem, AciError, AgentError) as problem:
            raise MCPError(code=INVALID_PARAMS, message=str(problem)) from problem
        raise MCPError(code=INVALID_PARAMS, message=f"There is no resource {uri!r}: use {_SCREEN}NAME or {_RUN}ID.")

    async def _screen(self, uri: str) -> BlobResourceContents:
        from PIL import Image

        seen = await look(self._desktops.get(uri.removeprefix(_SCREEN)))
        file = io.BytesIO()
        Image.fromarray(seen.screenshot).save(file, "PNG")
        return BlobResourceContents(uri=uri, mime_type="image/png", blob=base64.b64encode(file.getvalue()).decode())

    def _report(self, uri: str) -> TextResourceContents:
        folder = find_run(self._settings.runs_folder, uri.removeprefix(_RUN))
        page = render_report(read_trajectory(folder), embed=True)
        return TextResourceContents(uri=uri, mime_type="text/html", text=page)


def _failed(problem: Exception) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=str(problem))], is_error=True)
