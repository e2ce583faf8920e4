"""Anthropic's messages API."""

import base64
from dataclasses import replace
from typing import TYPE_CHECKING, Any

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

PUBLIC_URL = "https://api.anthropic.com"
_VERSION = "2023-06-01"


class AnthropicTransport(Transport):
    """Sends calls as messages; `base_url` has no `/v1`, the SDK adds it."""

    package = "anthropic"

    def __init__(self, api_key: str | None, base_url: str | None = None) -> None:
        super().__init__(api_key, _without_version(base_url or PUBLIC_URL))

    def build_client(self) -> Any:
        """See `Transport.build_client`; the SDK's own retries are off."""
        from anthropic import AsyncAnthropic, DefaultAsyncHttpxClient

        client = AsyncAnthropic(
            api_key=self.api_key,
            base_url=self.base_url,
            max_retries=0,
            http_client=DefaultAsyncHttpxClient(**client_options()),
        )
        # The SDK imports its resources on first touch; touch them while still in the thread.
        _ = client.messages.create
        return client

    async def send(self, client: Any, call: ModelCall) -> ModelReply:
        """See `Transport.send`."""
        from anthropic import Timeout

        message = await client.messages.create(
            model=call.model,
            max_tokens=call.cap,
            system=call.system_prompt,
            messages=[{"role": "user", "content": _content(call)}],
            timeout=Timeout(call.timeout_s, connect=min(call.connect_s, call.timeout_s)),
        )
        malformed = why_malformed(message, "content")
        reply = ModelReply("", malformed=malformed) if malformed else _reply(message)
        return replace(
            reply,
            tokens=_tokens(getattr(message, "usage", None)),
            request_id=getattr(message, "_request_id", None),
        )


def _without_version(url: str) -> str:
    return url.rstrip("/").removesuffix("/v1")


def _content(call: ModelCall) -> list[dict[str, Any]]:
    # The images first: the vendor says models read better that way.
    return [
        *({"type": "image", "source": _source(image)} for image in call.images),
        {"type": "text", "text": call.user_prompt},
    ]


def _source(image: "PageImage") -> dict[str, str]:
    return {
        "type": "base64",
        "media_type": image.media_type,
        "data": base64.b64encode(image.data).decode("ascii"),
    }


def _reply(message: Any) -> ModelReply:
    """The text, and why it ends."""
    blocks, stop = message.content, getattr(message, "stop_reason", None)
    texts = (
        getattr(block, "text", None) for block in blocks if getattr(block, "type", None) == "text"
    )
    return ModelReply(
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


def _list_models(base_url: str, key: str) -> ProbeRequest:
    url = f"{_without_version(base_url)}/v1/models"
    return ProbeRequest(url, {"x-api-key": key, "anthropic-version": _VERSION})


_BY_CODE_OR_STATUS = [
    "RequestTimeoutError",
    "PreconditionFailedError",
    "ContentTooLargeError",
    "RequestHeaderFieldsTooLargeError",
    "ClientClosedRequestError",
    "HTTPNotImplementedError",
    "ServiceUnavailableError",
    "GatewayTimeoutError",
    "OverloadedError",
    "CMEKContextUnavailableError",
    "CMEKKeyDisabledError",
    "CMEKKeyNetworkBlockedError",
    "CMEKKeyUnreachableError",
    "ClaudeCodeKeyCreatorNotMemberError",
    "ClaudeCodeVersionTooOldError",
    "EnforcedSpendLimitReachedError",
    "OrganizationOnHoldError",
    "OrganizationTypeNotSupportedError",
    "RampLimitExceededError",
    "RequestBodyEncodingInvalidError",
    "RequestBodyEncodingUnsupportedError",
    "RequestBodyTooLargeAfterDecodingError",
    "SandboxEgressRestrictedError",
]
FAILURES = SdkFailures(
    package=AnthropicTransport.package,
    exceptions={
        **SDK_EXCEPTIONS,
        **dict.fromkeys(_BY_CODE_OR_STATUS),
        "CredentialsError": FailureKind.AUTH,
        "IdentityTokenFileError": FailureKind.AUTH,
        "WorkloadIdentityError": FailureKind.AUTH,
        # Features Quire does not use (webhooks, middleware): a bug of ours if ever raised.
        "AnthropicError": FailureKind.BUG,
        "APIWebhookValidationError": FailureKind.BUG,
        "RetryableError": FailureKind.BUG,
    },
    codes={
        "billing_error": FailureKind.QUOTA,
        "enforced_spend_limit_reached": FailureKind.QUOTA,
        "organization_on_hold": FailureKind.AUTH,
        "organization_type_not_supported": FailureKind.AUTH,
        "claude_code_key_creator_not_member": FailureKind.AUTH,
        "cmek_key_disabled": FailureKind.AUTH,
        "cmek_key_network_blocked": FailureKind.AUTH,
        "request_too_large": FailureKind.IMAGE_SIZE,
    },
    # A plain `invalid_request_error` without a code: only its message separates an account
    # without credit, or an image that may be tried smaller, from a page that cannot be read.
    messages=(
        (r"credit balance is too low", FailureKind.QUOTA),
        (
            r"reached your specified (workspace )?API usage limits",
            FailureKind.QUOTA,
        ),
        (r"image (exceeds|dimensions exceed)", FailureKind.IMAGE_SIZE),
    ),
)
ANTHROPIC = ProviderSpec(
    name="anthropic",
    models={
        "primary": "claude-sonnet-5-5",
        "secondary": "claude-opus-5-5",
        "fast": "claude-haiku-5-5",
    },
    public_url=PUBLIC_URL,
    build=AnthropicTransport,
    probe=_list_models,
    failures=FAILURES,
)
