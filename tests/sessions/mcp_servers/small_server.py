"""An MCP server over standard input and output in plain Python: it starts at once, and misbehaves when asked to."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

NUMBER = {"type": "integer"}
TOOLS = {
    "add": {"a": NUMBER, "b": NUMBER},
    "secret": {"name": {"type": "string"}},
    **{name: {} for name in ("picture", "fail", "die", "hang", "shout", "garble")},
}


def main() -> None:
    for line in sys.stdin:
        asked = json.loads(line)
        if "id" in asked:
            answer = answered(asked["method"], asked.get("params") or {})
            if answer is not None:
                print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], **answer}), flush=True)


def answered(method: str, params: dict[str, Any]) -> dict[str, Any] | None:
    if method == "initialize":
        about = {"serverInfo": {"name": "Example", "version": "1"}, "capabilities": {"tools": {}}}
        return {"result": {"protocolVersion": params["protocolVersion"], **about}}
    if method == "tools/list":
        return {"result": page(params.get("cursor"))}
    if method == "tools/call":
        return called(params["name"], params.get("arguments") or {})
    return {"error": {"code": -32601, "message": f"there is no {method} here"}}


def page(cursor: str | None) -> dict[str, Any]:
    """Tools come in two pages."""
    names = list(TOOLS)
    some = names[:3] if cursor is None else names[3:]
    tools = [
        {
            "name": name,
            "description": f"The tool {name}.",
            "inputSchema": {"type": "object", "properties": TOOLS[name], "required": list(TOOLS[name])},
        }
        for name in some
    ]
    return {"tools": tools, **({"nextCursor": "2"} if cursor is None else {})}


def called(name: str, arguments: dict[str, Any]) -> dict[str, Any] | None:
    if name == "add":
        return said(str(arguments["a"] + arguments["b"]))
    if name == "secret":
        return said(os.environ.get(arguments["name"], "not set"))
    if name == "picture":
        image = {"type": "image", "data": "AAAA" * 10, "mimeType": "image/png"}
        return {"result": {"content": [{"type": "text", "text": "here it is"}, image]}}
    if name == "fail":
        return said("there is no cheese", is_error=True)
    if name == "die":
        print("out of cheese", file=sys.stderr, flush=True)
        os._exit(3)
    if name == "shout":
        for _ in range(200):
            print("x" * 10_000, file=sys.stderr)
        return said("done")
    if name == "garble":
        return {"result": {"content": "no list of parts"}}
    return None


def said(text: str, *, is_error: bool = False) -> dict[str, Any]:
    return {"result": {"content": [{"type": "text", "text": text}], "isError": is_error}}


if __name__ == "__main__":
    main()
