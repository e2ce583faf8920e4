"""OpenAI's chat completions, and every server that speaks them (vLLM, Ollama, DeepInfra, ...).

Chat completions rather than the newer Responses API, because only they are spoken everywhere.
"""

import base64
from typing import Any
from urllib.parse import urlsplit

from quire.domain.document.transcription import PageQuestion
from quire.providers.judge import Reply, why_hollow
from quire.providers.pricing import Tokens, whole
from quire.providers.vendor import CONNECT_TIMEOUT_S, OUTPUT_CAP, Heard, VendorProvider

OPENAI_URL = "https://api.openai.com/v1"
_VENDOR_HOSTS = (".openai.com", ".openai.azure.com")
_CAPS = ("max_completion_tokens", "max_tokens")


class OpenAIProvider(VendorProvider):
    """Reads pages by chat completions; `base_url` ends in `/v1`."""

    def __init__(
        self,
        name: str,
        api_key: str | None,
        base_url: str | None = None,
        *,
        output_cap: int = OUTPUT_CAP,
    ) -> None:
        # Never None: the SDK would look into the environment, which only settings may read.
        super().__init__(name, api_key, base_url or OPENAI_URL, output_cap=output_cap)
        # OpenAI's newer models refuse `max_tokens`; many compatible servers know nothing else
        # and some ignore what they do not know, which would leave the answer without a cap.
        host = "." + (urlsplit(base_url or OPENAI_URL).hostname or "")
        self._cap_name = _CAPS[0 if host.endswith(_VENDOR_HOSTS) else 1]
        self._cap_name_of: dict[str, str] = {}

    def _build_client(self) -> Any:
        from openai import AsyncOpenAI

        # Imported here for the thread's sake: a call must not wait for it.
        from openai.types.chat import ChatCompletion  # noqa: F401

        return AsyncOpenAI(api_key=self._api_key, base_url=self._base_url, max_retries=0)

    async def _ask(
        self, client: Any, model: str, question: PageQuestion, cap: int, timeout_s: float
    ) -> Heard:
        cap_name = self._cap_name_of.get(model, self._cap_name)
        try:
            return await self._create(client, model, question, {cap_name: cap}, timeout_s)
        except client_errors() as error:
            if error.code != "unsupported_parameter" or error.param != cap_name:
                raise
        # A gateway in front of OpenAI, or a server that dropped the old name: learn it once.
        other = _CAPS[1 - _CAPS.index(cap_name)]
        heard = await self._create(client, model, question, {other: cap}, timeout_s)
        self._cap_name_of[model] = other
        return heard

    async def _create(
        self,
        client: Any,
        model: str,
        question: PageQuestion,
        cap: dict[str, int],
        timeout_s: float,
    ) -> Heard:
        from openai import Timeout
        from openai.types.chat import ChatCompletion

        # `chat.completions.create` looks through every field for names to translate, which
        # takes longer than all the rest of a call and changes nothing in ours.
        completion = await client.post(
            "/chat/completions",
            cast_to=ChatCompletion,
            body={"model": model, "messages": _messages(question), **cap},
            options={"timeout": Timeout(timeout_s, connect=min(CONNECT_TIMEOUT_S, timeout_s))},
        )
        hollow = why_hollow(completion, "choices")
        return Heard(
            reply=Reply("", hollow=hollow) if hollow else _reply(completion.choices),
            tokens=_tokens(getattr(completion, "usage", None)),
            request_id=getattr(completion, "_request_id", None),
        )


def client_errors() -> Any:
    """The SDK's 400; a function, so that the SDK is imported no earlier than needed."""
    from openai import BadRequestError

    return BadRequestError


def _messages(question: PageQuestion) -> list[dict[str, Any]]:
    image = question.image
    data = base64.b64encode(image.data).decode("ascii")
    url = f"data:{image.media_type};base64,{data}"
    return [
        {"role": "system", "content": question.system_prompt},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": question.user_prompt},
                {"type": "image_url", "image_url": {"url": url, "detail": "high"}},
            ],
        },
    ]


def _reply(choices: list[Any]) -> Reply:
    if not choices:
        return Reply("")
    choice = choices[0]
    message = choice.message
    finish = choice.finish_reason
    refusal = getattr(message, "refusal", None)
    refused = "it refuses this page" if refusal else None
    if finish == "content_filter":
        refused = "its content filter stopped the answer"
    truncated = finish == "length"
    return Reply(
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
