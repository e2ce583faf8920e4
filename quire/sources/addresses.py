"""Which addresses a URL may lead to, and a transport that connects to checked addresses only."""

import ipaddress
import socket
from functools import partial

import httpx

from quire.domain import errors
from quire.threads import Dependency, threads_of

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")


def is_public(address: Address) -> bool:
    """Whether the address is not private, loopback, link-local, unspecified, shared, reserved or
    multicast. An IPv6 address that wraps an IPv4 address is judged by the latter."""
    if isinstance(address, ipaddress.IPv6Address):
        wrapped = address.ipv4_mapped or address.sixtofour
        if wrapped is None and address in _NAT64:
            wrapped = ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
        if wrapped is not None:
            return is_public(wrapped)
    return address.is_global and not address.is_multicast


async def resolve(host: str, port: int, *, allow_private: bool) -> list[str]:
    """The host's addresses; refused when any of them is not public."""
    try:
        found = await threads_of(Dependency.NAMES).run(
            partial(socket.getaddrinfo, host, port, type=socket.SOCK_STREAM)
        )
    except (socket.gaierror, UnicodeError):
        raise errors.no_such_host(host) from None
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in found))
    for address in addresses:
        if not allow_private and not is_public(ipaddress.ip_address(address.partition("%")[0])):
            raise errors.private_address(host)
    return addresses


class CheckedTransport(httpx.AsyncBaseTransport):
    """Connects to the address that was checked: a name may resolve differently the second time."""

    def __init__(self, *, allow_private: bool) -> None:
        self._allow_private = allow_private
        # No connection is reused: the next host may share the address and not the certificate.
        self._inner = httpx.AsyncHTTPTransport(limits=httpx.Limits(max_keepalive_connections=0))

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request to the first checked address that can be reached."""
        host = request.url.host
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        addresses = await resolve(host, port, allow_private=self._allow_private)
        # TLS still verifies the name; the Host header is set already.
        request.extensions = {**request.extensions, "sni_hostname": host}
        for address in addresses[:-1]:
            request.url = request.url.copy_with(host=address)
            try:
                return await self._inner.handle_async_request(request)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                continue
        request.url = request.url.copy_with(host=addresses[-1])
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        """Close the connections."""
        await self._inner.aclose()
