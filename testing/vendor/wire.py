"""The two vendors' JSON: reading their requests, writing their answers and errors."""

import base64
import hashlib
import itertools
import re
from dataclasses import dataclass
from typing import Any, Literal

from testing.prose import WORDS

Api = Literal["openai", "anthropic"]
Json = dict[str, Any]

_ids = itertools.count(1)

ERROR_TYPES: dict[Api, dict[int, str]] = {
    "openai": {
        401: "invalid_request_error",
        403: "insufficient_permissions",
        429: "requests",
        500: "server_error",
        503: "server_error",
    },
    "anthropic": {
        401: "authentication_error",
        402: "billing_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        504: "timeout_error",
        529: "overloaded_error",
    },
}


@dataclass(frozen=True)
class Asked:
    """What a request asked, whichever vendor's language it spoke."""

    api: Api
    model: str
    system: str
    user: str
    cap: int | None
    cap_name: str | None
    image_media_type: str | None
    image_base64: str

    @property
    def image(self) -> bytes:
        """The page's picture; decoded only for those who look."""
        return base64.b64decode(self.image_base64)

    @property
    def image_bytes(self) -> int:
        return len(self.image_base64) * 3 // 4 - self.image_base64.count("=", -2)

    @property
    def image_mark(self) -> str:
        """The picture's fingerprint, in twelve letters; none without a picture."""
        return (
            hashlib.sha256(self.image_base64.encode()).hexdigest()[:12] if self.image_base64 else ""
        )


def parse(api: Api, body: Json) -> Asked:
    """Read a request as the vendor would; KeyError and the like mean a malformed one."""
    return _parse_openai(body) if api == "openai" else _parse_anthropic(body)


def _parts(content: str | list[Json]) -> list[Json]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _parse_openai(body: Json) -> Asked:
    system: list[str] = []
    user: list[str] = []
    media_type, data = None, ""
    for message in body["messages"]:
        for part in _parts(message["content"]):
            if part["type"] == "text":
                (system if message["role"] in ("system", "developer") else user).append(
                    part["text"]
                )
            elif part["type"] == "image_url":
                head, data = part["image_url"]["url"].split(",", 1)
                media_type = head.removeprefix("data:").removesuffix(";base64")
    cap_name = next((n for n in ("max_completion_tokens", "max_tokens") if n in body), None)
    cap = body[cap_name] if cap_name else None
    return Asked(
        "openai", body["model"], "\n".join(system), "\n".join(user), cap, cap_name, media_type, data
    )


def _parse_anthropic(body: Json) -> Asked:
    user: list[str] = []
    media_type, data = None, ""
    for message in body["messages"]:
        for part in _parts(message["content"]):
            if part["type"] == "text":
                user.append(part["text"])
            elif part["type"] == "image":
                media_type, data = part["source"]["media_type"], part["source"]["data"]
    system = "\n".join(block["text"] for block in _parts(body.get("system", "")))
    cap = body["max_tokens"]
    return Asked(
        "anthropic", body["model"], system, "\n".join(user), cap, "max_tokens", media_type, data
    )


def models() -> Json:
    """What is there to be asked: any name is served, so one stands for all."""
    model = {"id": "stand-in", "object": "model", "created": 1_790_000_000, "owned_by": "tests"}
    return {"object": "list", "data": [model]}


def own_words(asked: Asked) -> str:
    """The answer when nobody programmed one: the same request always gets the same text, which
    is that of the pages of the test documents."""
    markers = list(dict.fromkeys(re.findall(r"marker-\d+", asked.user)))
    first = f"Read by {asked.model}: {' '.join(markers)}".rstrip(": ")
    return f"{first}\n{(3 * WORDS).strip()}"


def answer(
    asked: Asked,
    text: str,
    *,
    stop: str | None = None,
    refusal: str | None = None,
    cached: int = 0,
) -> Json:
    """A finished answer; `stop` is the vendor's own word for why it ended."""
    used_in = (len(asked.system) + len(asked.user)) // 4 + (1105 if asked.image_base64 else 0)
    used_out = max(1, len(text) // 4)
    if stop in ("length", "max_tokens") and asked.cap:
        used_out = asked.cap
    if asked.api == "openai":
        said = _openai_answer(asked.model, text, stop, refusal)
        return {**said, "usage": _openai_usage(used_in, used_out, cached)}
    return {
        "id": f"msg_{next(_ids):024d}",
        "type": "message",
        "role": "assistant",
        "model": asked.model,
        "content": [{"type": "text", "text": text}] if text else [],
        "stop_reason": stop or "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": used_in - cached,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": cached,
            "output_tokens": used_out,
            "service_tier": "standard",
        },
    }


def _openai_answer(model: str, text: str, stop: str | None, refusal: str | None) -> Json:
    message: Json = {"role": "assistant", "content": text, "refusal": None, "annotations": []}
    if refusal is not None:
        message |= {"content": None, "refusal": refusal}
    return {
        "id": f"chatcmpl-{next(_ids):024d}",
        "object": "chat.completion",
        "created": 1_790_000_000,
        "model": model,
        "choices": [
            {"index": 0, "message": message, "logprobs": None, "finish_reason": stop or "stop"}
        ],
        "service_tier": "default",
        "system_fingerprint": "fp_standin",
    }


def _openai_usage(used_in: int, used_out: int, cached: int) -> Json:
    return {
        "prompt_tokens": used_in,
        "completion_tokens": used_out,
        "total_tokens": used_in + used_out,
        "prompt_tokens_details": {"cached_tokens": cached, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def billed(body: Json) -> tuple[int, int]:
    """The tokens of input and output that a body says it took."""
    usage: Json = body.get("usage") or {}
    names = ("prompt_tokens", "input_tokens", "cache_read_input_tokens")
    read = sum(usage.get(name, 0) for name in names)
    return read, usage.get("completion_tokens", 0) + usage.get("output_tokens", 0)


def error(
    api: Api, status: int, message: str, code: str | None = None, param: str | None = None
) -> Json:
    """An error body as the vendor writes it."""
    kind = ERROR_TYPES[api].get(status, "api_error" if status >= 500 else "invalid_request_error")
    if api == "openai":
        return {"error": {"message": message, "type": kind, "param": param, "code": code}}
    details: Json = {"details": {"error_code": code}} if code else {}
    return {
        "type": "error",
        "error": {"type": kind, "message": message, **details},
        "request_id": f"req_{next(_ids):024d}",
    }
