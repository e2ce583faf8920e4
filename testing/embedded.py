"""The embedded server of a tool's state folder, as its commands note it."""

import json

from quire.temporal.embedded import ServerInfo
from testing.tool import Tool


def server_of(tool: Tool) -> ServerInfo:
    """Where the server that runs now for this state folder is."""
    return ServerInfo(**json.loads((tool.state / "server.json").read_text()))
