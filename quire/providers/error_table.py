"""What failures mean that are no single vendor's: of the SDKs' common shape, HTTP and Python.

A vendor's own file adds what only its SDK raises. Classes stand by name, so that no library
need be imported. `None` beside a class: the vendor's code and the HTTP status decide.
"""

from quire.contracts.codes import FailureKind

#: Most vendors' SDKs come out of one generator and name these exceptions alike.
SDK_EXCEPTIONS: dict[str, FailureKind | None] = {
    "APIStatusError": None,
    "BadRequestError": None,
    "AuthenticationError": None,
    "PermissionDeniedError": None,
    "NotFoundError": None,
    "ConflictError": None,
    "UnprocessableEntityError": None,
    "RateLimitError": None,
    "InternalServerError": None,
    "APITimeoutError": FailureKind.TIMEOUT,
    "APIConnectionError": FailureKind.CONNECT,
    "APIResponseValidationError": FailureKind.BAD_BODY,
    # Never raised as itself by what Quire uses.
    "APIError": FailureKind.BUG,
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
    # Nothing of ours recurses; a body that is nested too deeply makes the SDKs do so.
    "RecursionError": FailureKind.BAD_BODY,
}
#: Keyed by the top package of the class. The SDKs let some errors of their HTTP stack through.
COMMON: dict[str, dict[str, FailureKind | None]] = {
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
