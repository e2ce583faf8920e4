"""A stand-in for the model vendors, with their faults by name.

In a test of this process::

    with StandIn() as vendor:
        vendor.behave(vendor_rate_limits(retry_after=2), model="m", first=3)
        provider = OpenAIProvider("openai", "key", vendor.openai_url)
        ...
        assert len(vendor.calls("m")) == 4

For other processes `StandInProcess` does the same over HTTP, or run `python -m testing.vendor`.
"""

from testing.vendor.behaviours import (
    BEHAVIOURS,
    Behaviour,
    vendor_answers,
    vendor_answers_empty,
    vendor_answers_late,
    vendor_cuts_connection,
    vendor_drips,
    vendor_echoes_secrets,
    vendor_fails,
    vendor_finds_image_too_large,
    vendor_forbids,
    vendor_hangs,
    vendor_ignores_cap,
    vendor_lacks_model,
    vendor_loops,
    vendor_never_ends,
    vendor_out_of_quota,
    vendor_overloads,
    vendor_rate_limits,
    vendor_redirects,
    vendor_refuses,
    vendor_refuses_key,
    vendor_rejects_page,
    vendor_sends_bomb,
    vendor_sends_broken_json,
    vendor_sends_error_body,
    vendor_sends_html,
    vendor_sends_json_beyond_reason,
    vendor_sends_surrogates,
    vendor_truncates,
)
from testing.vendor.calls import Call
from testing.vendor.process import RemoteStandIn, StandInProcess
from testing.vendor.rules import Rule
from testing.vendor.standin import StandIn
from testing.vendor.wire import Asked

__all__ = [
    "BEHAVIOURS",
    "Asked",
    "Behaviour",
    "Call",
    "RemoteStandIn",
    "Rule",
    "StandIn",
    "StandInProcess",
    "vendor_answers",
    "vendor_answers_empty",
    "vendor_answers_late",
    "vendor_cuts_connection",
    "vendor_drips",
    "vendor_echoes_secrets",
    "vendor_fails",
    "vendor_finds_image_too_large",
    "vendor_forbids",
    "vendor_hangs",
    "vendor_ignores_cap",
    "vendor_lacks_model",
    "vendor_loops",
    "vendor_never_ends",
    "vendor_out_of_quota",
    "vendor_overloads",
    "vendor_rate_limits",
    "vendor_redirects",
    "vendor_refuses",
    "vendor_refuses_key",
    "vendor_rejects_page",
    "vendor_sends_bomb",
    "vendor_sends_broken_json",
    "vendor_sends_error_body",
    "vendor_sends_html",
    "vendor_sends_json_beyond_reason",
    "vendor_sends_surrogates",
    "vendor_truncates",
]
