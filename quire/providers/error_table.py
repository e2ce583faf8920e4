"""Every failure of a vendor, its SDK or the network, and what it means.

Classes stand by name, so that no SDK need be imported to look them up. `None` beside a class:
the vendor's code and the HTTP status decide.
"""

import re

from quire.contracts.codes import FailureKind

_STATUS_CLASSES = [
    "APIStatusError",
    "BadRequestError",
    "AuthenticationError",
    "OAuthError",
    "PermissionDeniedError",
    "NotFoundError",
    "RequestTimeoutError",
    "ConflictError",
    "PreconditionFailedError",
    "ContentTooLargeError",
    "UnprocessableEntityError",
    "RateLimitError",
    "RequestHeaderFieldsTooLargeError",
    "ClientClosedRequestError",
    "InternalServerError",
    "HTTPNotImplementedError",
    "ServiceUnavailableError",
    "GatewayTimeoutError",
    "OverloadedError",
    # Anthropic's errors with a code of their own, some of them in BY_CODE.
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

_SDK: dict[str, FailureKind | None] = {
    **dict.fromkeys(_STATUS_CLASSES),
    "APITimeoutError": FailureKind.TIMEOUT,
    "APIConnectionError": FailureKind.CONNECT,
    "APIResponseValidationError": FailureKind.BAD_BODY,
    "LengthFinishReasonError": FailureKind.OUTPUT,
    "ContentFilterFinishReasonError": FailureKind.CONTENT,
    "CredentialsError": FailureKind.AUTH,
    "IdentityTokenFileError": FailureKind.AUTH,
    "SubjectTokenProviderError": FailureKind.AUTH,
    "WorkloadIdentityError": FailureKind.AUTH,
    # Features Quire does not use (webhooks, sockets, middleware): ours if they ever come.
    "APIError": FailureKind.BUG,
    "OpenAIError": FailureKind.BUG,
    "AnthropicError": FailureKind.BUG,
    "APIWebhookValidationError": FailureKind.BUG,
    "InvalidWebhookSignatureError": FailureKind.BUG,
    "WebSocketConnectionClosedError": FailureKind.BUG,
    "WebSocketQueueFullError": FailureKind.BUG,
    "RetryableError": FailureKind.BUG,
}
_HTTP: dict[str, FailureKind | None] = {
    "TimeoutException": FailureKind.TIMEOUT,
    "DecodingError": FailureKind.BAD_BODY,
    "InvalidURL": FailureKind.CONNECT,
    "TransportError": FailureKind.CONNECT,
    "RequestError": FailureKind.CONNECT,
    "NetworkError": FailureKind.CONNECT,
    "ProtocolError": FailureKind.CONNECT,
    "BrokenResourceError": FailureKind.CONNECT,
    "ClosedResourceError": FailureKind.CONNECT,
    "EndOfStream": FailureKind.CONNECT,
}
_PYTHON: dict[str, FailureKind | None] = {
    "TimeoutError": FailureKind.TIMEOUT,
    "JSONDecodeError": FailureKind.BAD_BODY,
    "UnicodeDecodeError": FailureKind.BAD_BODY,
    "OSError": FailureKind.CONNECT,
}
#: Keyed by the top package of the class. The SDKs let some errors of their HTTP stack through.
TABLE: dict[str, dict[str, FailureKind | None]] = {
    "openai": _SDK,
    "anthropic": _SDK,
    "httpx2": _HTTP,
    "httpcore2": _HTTP,
    "anyio": _HTTP,
    "builtins": _PYTHON,
    "json": _PYTHON,
}

BY_STATUS: dict[int, FailureKind] = {
    400: FailureKind.REQUEST,
    401: FailureKind.AUTH,
    402: FailureKind.QUOTA,
    403: FailureKind.AUTH,
    404: FailureKind.MODEL,
    407: FailureKind.CONNECT,
    408: FailureKind.TIMEOUT,
    409: FailureKind.SERVER,
    410: FailureKind.MODEL,
    413: FailureKind.IMAGE_SIZE,
    415: FailureKind.REQUEST,
    422: FailureKind.REQUEST,
    429: FailureKind.RATE,
    499: FailureKind.TIMEOUT,
    504: FailureKind.TIMEOUT,
}
#: The vendors' own codes and types say more than the status they come with.
BY_CODE: dict[str, FailureKind] = {
    "insufficient_quota": FailureKind.QUOTA,
    "billing_hard_limit_reached": FailureKind.QUOTA,
    "billing_not_active": FailureKind.QUOTA,
    "billing_error": FailureKind.QUOTA,
    "enforced_spend_limit_reached": FailureKind.QUOTA,
    "organization_on_hold": FailureKind.AUTH,
    "organization_type_not_supported": FailureKind.AUTH,
    "claude_code_key_creator_not_member": FailureKind.AUTH,
    "account_deactivated": FailureKind.AUTH,
    "cmek_key_disabled": FailureKind.AUTH,
    "cmek_key_network_blocked": FailureKind.AUTH,
    "model_not_found": FailureKind.MODEL,
    "image_too_large": FailureKind.IMAGE_SIZE,
    "image_file_too_large": FailureKind.IMAGE_SIZE,
    "request_too_large": FailureKind.IMAGE_SIZE,
    "content_filter": FailureKind.CONTENT,
    "content_policy_violation": FailureKind.CONTENT,
    "image_content_policy_violation": FailureKind.CONTENT,
    "moderation_blocked": FailureKind.CONTENT,
    # A parameter is wrong for this model, not for this page: the other routes must have it.
    "unsupported_parameter": FailureKind.MODEL,
    "unsupported_value": FailureKind.MODEL,
}
# Anthropic sends these as a plain `invalid_request_error` without a code: only the words tell
# an empty purse, or an image that may be tried smaller, from a page that cannot be read.
BY_WORDS: tuple[tuple[re.Pattern[str], FailureKind], ...] = (
    (re.compile(r"credit balance is too low", re.I), FailureKind.QUOTA),
    (re.compile(r"reached your specified (workspace )?API usage limits", re.I), FailureKind.QUOTA),
    (re.compile(r"image (exceeds|dimensions exceed)", re.I), FailureKind.IMAGE_SIZE),
)
