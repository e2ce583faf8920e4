"""One call to a vendor's model and its reply, in words that no vendor owns."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from quire.providers.tokens import Tokens

if TYPE_CHECKING:
    from quire.domain.document.transcription import PageImage

CONNECT_TIMEOUT_S = 10.0
#: A server on one's own machine needs no key, but the SDKs insist on one.
NO_KEY = "no-key-needed"


@dataclass(frozen=True)
class ModelCall:
    """One call: a model, the two prompts, any number of images, and what the call may take."""

    model: str
    system_prompt: str
    user_prompt: str
    images: "tuple[PageImage, ...]"
    #: The most tokens that the model may write.
    cap: int
    timeout_s: float
    #: How much of that the connection may take.
    connect_s: float = CONNECT_TIMEOUT_S


@dataclass(frozen=True)
class ModelReply:
    """What came back. The transport states facts; whether the text is any good is judged later."""

    text: str
    refused: str | None = None
    truncated: bool = False
    #: More room would help: the cap that cut the reply off was ours.
    capped_by_us: bool = False
    #: A success in name only: why the body holds no reply at all.
    malformed: str | None = None
    tokens: Tokens = field(default_factory=Tokens)
    request_id: str | None = None


class Transport(ABC):
    """One vendor's way of sending a call, through its SDK.

    The SDK takes up to two seconds to import, so only `build_client` may import it first.
    """

    #: The SDK's package, which is also the name of its logger.
    package: ClassVar[str]

    def __init__(self, api_key: str | None, base_url: str) -> None:
        # A key read from a file often ends in a newline, which no HTTP header can carry.
        self.api_key = (api_key or "").strip() or NO_KEY
        # Never None: the SDK would look into the environment, which only settings may read.
        self.base_url = base_url

    @abstractmethod
    def build_client(self) -> Any:
        """Import the SDK and make its client; runs in a thread."""

    @abstractmethod
    async def send(self, client: Any, call: ModelCall) -> ModelReply:
        """Send the call once; raises whatever the SDK raises."""

    async def close(self, client: Any) -> None:
        """Close the client's connections."""
        await client.close()


def why_malformed(body: Any, field: str) -> str | None:
    """What the SDKs pass off as a success: HTML as a `str`, an error as a model full of None.

    Returned and not raised, because such a body may still say what it is billed for.
    """
    if isinstance(body, str):
        return "The vendor answered 200 without JSON."
    if not isinstance(getattr(body, field, None), list):
        return f"The vendor answered 200 without {field} (an error body?)."
    return None
