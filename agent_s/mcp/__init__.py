"""The server for clients of the Model Context Protocol (MCP): desktops, their primitives, and the agent as tools.

`agent_s.mcp.server` implements the protocol with the official SDK; `desktop_tools` and `agent_tools` are the tools;
`desktops` holds the open desktops; `conversation` lets a call ask the person at the client.
"""
