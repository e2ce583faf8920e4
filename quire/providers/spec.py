"""What a vendor's file declares of itself, so that nothing else needs to know the vendor."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from quire.contracts.codes import FailureKind
from quire.providers.transport import Transport


@dataclass(frozen=True)
class SdkFailures:
    """What the failures of one vendor mean.

    Exceptions stand by class name, so that the SDK need not be imported. `None` beside a class:
    the vendor's code and the HTTP status decide.
    """

    package: str
    exceptions: Mapping[str, FailureKind | None]
    #: The vendor's own codes and types say more than the status they come with.
    codes: Mapping[str, FailureKind] = field(default_factory=dict)
    #: For what a vendor sends without a code, with status 400: patterns of its messages, of any
    #: case. They are compiled when they are needed, since settings import this at every start.
    messages: tuple[tuple[str, FailureKind], ...] = ()


@dataclass(frozen=True)
class ProbeRequest:
    """A GET that costs nothing and needs the key: a listing of the vendor's models."""

    url: str
    headers: Mapping[str, str]


@dataclass(frozen=True)
class ProviderSpec:
    """One vendor: its name, its default models by tier, and how to call, probe and understand it.

    Its settings are those of `ProviderSettings`, with the name as their prefix.
    """

    name: str
    models: Mapping[str, str]
    #: Where calls go unless a setting names another place.
    public_url: str
    #: From the key and the base URL of the settings, either of which may be missing.
    build: Callable[[str | None, str | None], Transport]
    #: From the base URL and the key, both given.
    probe: Callable[[str, str], ProbeRequest]
    failures: SdkFailures
