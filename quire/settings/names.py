"""Which names are settings, and which name someone who misspelled one most likely meant."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache
from typing import get_args, get_origin

from pydantic import SecretStr
from pydantic.fields import FieldInfo

from quire.contracts.names import setting_name
from quire.providers.registry import PROVIDERS
from quire.settings.provider import ProviderSettings
from quire.settings.settings import Settings

PREFIX = "QUIRE_"
BY_FILE = "_FILE"
#: The variable of `--config`; a file cannot name another.
CONFIG = "QUIRE_CONFIG"
#: The variable of `--password`, for one command and one document.
PASSWORD = "QUIRE_PASSWORD"  # noqa: S105
# Named like settings, and read by others: the compose file and the benchmarks.
_OF_OTHERS = ("QUIRE_TAG", "QUIRE_BENCH_")
# Kubernetes gives a pod such variables for every service near it, also for one named quire.
_OF_KUBERNETES = re.compile(
    r"QUIRE_(\w+_)?(SERVICE_(HOST|PORT\w*)|PORT(_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)?)"
)
# What Temporal's own reader of settings knows.
_TEMPORAL = (
    "ADDRESS", "NAMESPACE", "API_KEY", "PROFILE", "CONFIG_FILE", "CODEC_ENDPOINT", "CODEC_AUTH",
    "TLS", "TLS_CLIENT_CERT_PATH", "TLS_CLIENT_CERT_DATA", "TLS_CLIENT_KEY_PATH",
    "TLS_CLIENT_KEY_DATA", "TLS_SERVER_CA_CERT_PATH", "TLS_SERVER_CA_CERT_DATA", "TLS_SERVER_NAME",
    "TLS_DISABLE_HOST_VERIFICATION",
)  # fmt: skip
# What can be handed to boto3 without putting it into the environment.
AWS = (
    "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_DEFAULT_REGION",
    "AWS_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3", "AWS_PROFILE", "AWS_CA_BUNDLE",
    "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE",
)  # fmt: skip
# Too many to list, and new ones with every release of the library that reads them.
_OPEN = ("OTEL_", "TEMPORAL_GRPC_META_")
_SECRETS_OF_OTHERS = ("AWS_SECRET_", "AWS_SESSION_", "TEMPORAL_API_KEY", "_HEADERS", "_KEY_DATA")


class Names:
    """Every name that may be set, given the extra providers that there are."""

    def __init__(self, extra_providers: Iterable[str]) -> None:
        fields = dict(_own_fields())
        for provider in (*PROVIDERS, *extra_providers):
            for field, info in ProviderSettings.model_fields.items():
                fields[setting_name(provider, field)] = info
        self.lists = {name for name, info in fields.items() if get_origin(info.annotation) is tuple}
        self.secrets = {name for name, info in fields.items() if _is_secret(info)}
        self._all = {
            *fields, *(name + BY_FILE for name in self.secrets), *AWS,
            *(f"TEMPORAL_{name}" for name in _TEMPORAL),
        }  # fmt: skip

    def __contains__(self, name: str) -> bool:
        return name in self._all or name.startswith(_OPEN)

    def nearest(self, name: str) -> str | None:
        """The setting whose name is most like this one, if any is."""
        found = get_close_matches(name, sorted(self._all), n=1, cutoff=0.7)
        return found[0] if found else None

    def is_secret(self, name: str) -> bool:
        """Whether its value must not be seen; also for what other libraries read."""
        return name in self.secrets or any(part in name for part in _SECRETS_OF_OTHERS)


def is_of_others(variable: str) -> bool:
    """A `QUIRE_` variable that is not meant as a setting."""
    return variable.startswith(_OF_OTHERS) or _OF_KUBERNETES.fullmatch(variable) is not None


@cache
def _own_fields() -> tuple[tuple[str, FieldInfo], ...]:
    return tuple((name.upper(), info) for name, info in Settings.model_fields.items())


def _is_secret(info: FieldInfo) -> bool:
    return SecretStr in (info.annotation, *get_args(info.annotation))
