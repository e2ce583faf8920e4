"""Anthropic's messages API."""

import base64
from typing import Any

from quire.domain.document.transcription import PageQuestion
from quire.providers.judge import Reply, why_hollow
from quire.providers.pricing import Tokens, whole
from quire.providers.vendor import CONNECT_TIMEOUT_S, OUTPUT_CAP, Heard, VendorProvider

ANTHROPIC_URL = "https://api.anthropic.com"


class AnthropicProvider(VendorProvider):
    """Reads pages by messages; `base_url` has no `/v1`, the SDK adds it."""

    def __init__(
        self,
        name: str,
        api_key: str | None,
        base_url: str | None = None,
        *,
        output_cap: int = OUTPUT_CAP,
    ) -> None:
        # Never None: the SDK would look into the environment, which only settings may read.
        url = (base_url or ANTHROPIC_URL).rstrip("/").removesuffix("/v1")
        super().__init__(name, api_key, url, output_cap=output_cap)

    def _build_client(self) -> Any:
        from anthropic import AsyncAnthropic

        client = AsyncAnthropic(api_key=self._api_key, base_url=self._base_url, max_retries=0)
        # The SDK imports its resources on first touch; touch them while still in the thread.
        _ = client.messages.create
        return client

    async def _ask(
        self, client: Any, model: str, question: PageQuestion, cap: int, timeout_s: float
    ) -> Heard:
        from anthropic import Timeout

        message = await client.messages.create(
            model=model,
            max_tokens=cap,
            system=question.system_prompt,
            messages=[{"role": "user", "content": _content(question)}],
            timeout=Timeout(timeout_s, connect=min(CONNECT_TIMEOUT_S, timeout_s)),
        )
        hollow = why_hollow(message, "content")
        return Heard(
            reply=Reply("", hollow=hollow)
            if hollow
            else _reply(message.content, message.stop_reason),
            tokens=_tokens(getattr(message, "usage", None)),
            request_id=getattr(message, "_request_id", None),
        )


def _content(question: PageQuestion) -> list[dict[str, Any]]:
    source = {
        "type": "base64",
        "media_type": question.image.media_type,
        "data": base64.b64encode(question.image.data).decode("ascii"),
    }
    # The image first: the vendor says models read better that way.
    return [
        {"type": "image", "source": source},
        {"type": "text", "text": question.user_prompt},
    ]


def _reply(blocks: list[Any], stop: str | None) -> Reply:
    texts = (block.text for block in blocks if getattr(block, "type", None) == "text")
    return Reply(
        text="".join(text for text in texts if isinstance(text, str)),
        refused="it refuses this page" if stop == "refusal" else None,
        truncated=stop in ("max_tokens", "model_context_window_exceeded"),
        # The model's own window cannot be widened by asking again.
        capped_by_us=stop == "max_tokens",
    )


def _tokens(usage: Any) -> Tokens:
    cache_read = whole(getattr(usage, "cache_read_input_tokens", None))
    cache_written = whole(getattr(usage, "cache_creation_input_tokens", None))
    return Tokens(
        # Anthropic's `input_tokens` leaves out what went through its cache.
        read=whole(getattr(usage, "input_tokens", None)) + cache_read + cache_written,
        written=whole(getattr(usage, "output_tokens", None)),
        cache_read=cache_read,
        cache_written=cache_written,
    )
