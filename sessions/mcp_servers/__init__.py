"""Tools of MCP servers that the person has configured (Model Context Protocol, over the official SDK)."""
