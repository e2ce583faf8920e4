"""OpenAI's chat completions, and every server that speaks them (vLLM, Ollama, DeepInfra, ...).

Chat completions rather than the newer Responses API, because only they are spoken everywhere.
"""

import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from quire.contracts.codes import FailureKind
from quire.providers.bounded_body import client_options
from quire.providers.error_table import SDK_EXCEPTIONS
from quire.providers.spec import ProbeRequest, ProviderSpec, SdkFailures
from quire.providers.tokens import Tokens, whole
from quire.providers.transport import (
    ModelCall,
    ModelReply,
    Transport,
    why_malformed,
)

if TYPE_CHECKING:
    from quire.domain.document.transcription import PageImage

PUBLIC_URL = "https://api.openai.com/v1"
_VENDOR_HOSTS = (".openai.com", ".openai.azure.com")
_CAPS = ("max_completion_tokens", "max_tokens")


class OpenAITransport(Transport):
    """Sends calls as chat completions; `base_url` ends in `/v1`."""

    package = "openai"

    def __init__(self, api_key: str | None, base_url: str | None = None) -> None:
        super().__init__(api_key, base_url or PUBLIC_URL)
        # OpenAI's newer models refuse `max_tokens`; many compatible servers know nothing else
        # and some ignore what they do not know, which would leave the reply without a cap.
        host = "." + (urlsplit(self.base_url).hostname or "")
        self._cap_name = _CAPS[0 if host.endswith(_VENDOR_HOSTS) else 1]
        self._cap_name_of: dict[str, str] = {}

    def build_client(self) -> Any:
        """See `Transport.build_client`; the SDK's own retries are off."""
        from openai import AsyncOpenAI, DefaultAsyncHttpxClient

        # Imported here, in the thread: a call must not wait for it.
        from openai.types.chat import ChatCompletion  # noqa: F401

        return AsyncOpenAI(
            api_key=self.api_key,
            base_url=self.base_url,
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(**client_options()),
        )

    async def send(self, client: Any, call: ModelCall) -> ModelReply:
        """See `Transport.send`; a server that wants the cap's other name gets it."""
        from openai import BadRequestError

        cap_name = self._cap_name_of.get(call.model, self._cap_name)
        try:
            return await _create(client, call, cap_name)
        except BadRequestError as error:
            if error.code != "unsupported_parameter" or error.param != cap_name:
                raise
        # A gateway in front of OpenAI, or a server that dropped the old name: learn it once.
        other = _CAPS[1 - _CAPS.index(cap_name)]
        reply = await _create(client, call, other)
        self._cap_name_of[call.model] = other
        return reply


async def _create(client: Any, call: ModelCall, cap_name: str) -> ModelReply:
    from openai import Timeout
    from openai.types.chat import ChatCompletion

    connect_s = min(call.connect_s, call.timeout_s)
    # `chat.completions.create` searches every field for names to translate, which takes longer
    # than all the rest of a call and changes nothing in ours.
    completion = await client.post(
        "/chat/completions",
        cast_to=ChatCompletion,
        body={"model": call.model, "messages": _messages(call), cap_name: call.cap},
        options={"timeout": Timeout(call.timeout_s, connect=connect_s)},
    )
    malformed = why_malformed(completion, "choices")
    reply = ModelReply("", malformed=malformed) if malformed else _reply(completion.choices)
    return replace(
        reply,
        tokens=_tokens(getattr(completion, "usage", None)),
        request_id=getattr(completion, "_request_id", None),
    )


def _messages(call: ModelCall) -> list[dict[str, Any]]:
    return [
        {"role": "system", "content": call.system_prompt},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": call.user_prompt},
                *({"type": "image_url", "image_url": _picture(image)} for image in call.images),
            ],
        },
    ]


def _picture(image: "PageImage") -> dict[str, str]:
    data = base64.b64encode(image.data).decode("ascii")
    return {"url": f"data:{image.media_type};base64,{data}", "detail": "high"}


def _reply(choices: list[Any]) -> ModelReply:
    """The text, and why it ends."""
    if not choices:
        return ModelReply("")
    # The SDK does not check what it passes on: a choice may be anything.
    message = getattr(choices[0], "message", None)
    finish = getattr(choices[0], "finish_reason", None)
    refused = "it refuses this page" if getattr(message, "refusal", None) else None
    if finish == "content_filter":
        refused = "its content filter stopped the answer"
    truncated = finish == "length"
    return ModelReply(
        text=_text(getattr(message, "content", None)),
        refused=refused,
        truncated=truncated,
        capped_by_us=truncated,
    )


def _text(content: Any) -> str:
    """Plain text; some compatible servers send it in parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "".join(str(part.get("text") or "") for part in parts if isinstance(part, dict))


def _tokens(usage: Any) -> Tokens:
    """Servers of one's own may leave usage out."""
    details = getattr(usage, "prompt_tokens_details", None)
    return Tokens(
        read=whole(getattr(usage, "prompt_tokens", None)),
        written=whole(getattr(usage, "completion_tokens", None)),
        cache_read=whole(getattr(details, "cached_tokens", None)),
    )


def _list_models(base_url: str, key: str) -> ProbeRequest:
    return ProbeRequest(f"{base_url}/models", {"authorization": f"Bearer {key}"})


FAILURES = SdkFailures(
    package=OpenAITransport.package,
    exceptions={
        **SDK_EXCEPTIONS,
        "OAuthError": None,
        "LengthFinishReasonError": FailureKind.OUTPUT,
        "ContentFilterFinishReasonError": FailureKind.CONTENT,
        "SubjectTokenProviderError": FailureKind.AUTH,
        # Features Quire does not use (webhooks, sockets): a bug of ours if they are ever raised.
        "OpenAIError": FailureKind.BUG,
        "InvalidWebhookSignatureError": FailureKind.BUG,
        "WebSocketConnectionClosedError": FailureKind.BUG,
        "WebSocketQueueFullError": FailureKind.BUG,
    },
    codes={
        "insufficient_quota": FailureKind.QUOTA,
        "billing_hard_limit_reached": FailureKind.QUOTA,
        "billing_not_active": FailureKind.QUOTA,
        "account_deactivated": FailureKind.AUTH,
        "model_not_found": FailureKind.MODEL,
        "image_too_large": FailureKind.IMAGE_SIZE,
        "image_file_too_large": FailureKind.IMAGE_SIZE,
        "content_filter": FailureKind.CONTENT,
        "content_policy_violation": FailureKind.CONTENT,
        "image_content_policy_violation": FailureKind.CONTENT,
        "moderation_blocked": FailureKind.CONTENT,
        # A parameter is wrong for this model, not for this page: the other routes must have it.
        "unsupported_parameter": FailureKind.MODEL,
        "unsupported_value": FailureKind.MODEL,
    },
)
OPENAI = ProviderSpec(
    name="openai",
    models={"primary": "gpt-6.1-sol", "secondary": "gpt-6.1-terra", "fast": "gpt-6-luna"},
    public_url=PUBLIC_URL,
    build=OpenAITransport,
    probe=_list_models,
    failures=FAILURES,
)
