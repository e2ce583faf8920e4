"""A vendor that does not exist, declared in one file as a real one is."""

from typing import Any

from quire.contracts.codes import FailureKind
from quire.providers.spec import ProbeRequest, ProviderSpec, SdkFailures
from quire.providers.tokens import Tokens
from quire.providers.transport import ModelCall, ModelReply, Transport


class OutOfInk(Exception):
    """What the vendor's SDK raises."""


OutOfInk.__module__ = "made_up_sdk.errors"


class MadeUpTransport(Transport):
    """Answers by itself; a model named `dry` fails."""

    package = "made_up_sdk"

    def __init__(self, api_key: str | None, base_url: str | None = None) -> None:
        super().__init__(api_key, base_url or "http://127.0.0.1:9")

    def build_client(self) -> Any:
        return self

    async def send(self, client: Any, call: ModelCall) -> ModelReply:
        if call.model == "dry":
            raise OutOfInk
        return ModelReply(f"Read by {call.model}.", tokens=Tokens(read=10, written=5))

    async def close(self, client: Any) -> None:
        pass


MADE_UP = ProviderSpec(
    name="made_up",
    models={"primary": "quill", "secondary": "brush", "fast": "chalk"},
    public_url="http://127.0.0.1:9",
    build=MadeUpTransport,
    probe=lambda base_url, key: ProbeRequest(f"{base_url}/list", {"x-made-up-key": key}),
    failures=SdkFailures(package="made_up_sdk", exceptions={"OutOfInk": FailureKind.QUOTA}),
)
