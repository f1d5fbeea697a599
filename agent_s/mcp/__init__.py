"""The server for clients of the Model Context Protocol (MCP): desktops, their primitives, and the agent as tools.

`agent_s.mcp.server` speaks the protocol, by the official SDK; `desktop_tools` and `agent_tools` are the tools;
`desktops` holds what is open; `conversation` is a call that asks the person at the client.
"""
