"""Connections to this machine only, in every Python process that finds this folder on its path.

What is refused is written down in the file that LOOPBACK_LOG names, so that code which takes a refusal in its stride is
found too.
"""

import contextlib
import ipaddress
import os
import socket
import sys
from typing import Any

_connect, _connect_ex, _resolve = socket.socket.connect, socket.socket.connect_ex, socket.getaddrinfo


def _own() -> set[str]:
    """The addresses of this machine: under its own name, and from which it would speak to others (nothing is sent)."""
    found = {socket.gethostname()}
    with contextlib.suppress(OSError):  # the name may not be known
        found.update(socket.gethostbyname_ex(socket.gethostname())[2])
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:  # nor a way out
        _connect(out, ("198.51.100.1", 9))
        found.add(out.getsockname()[0])
    return found


OWN = _own()


def is_here(host: Any) -> bool:
    """Whether a name or address is this machine's own, without asking anybody."""
    name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
    if name in ("", "localhost", "localhost.localdomain", "*") or name in OWN:
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return False
    return address.is_loopback or address.is_unspecified


def _refuse(what: str) -> OSError:
    """The refusal, written down. Ray's dashboard asks in which cloud it runs, whatever it is told: that is not news."""
    log = os.environ.get("LOOPBACK_LOG")
    if log and not getattr(sys, "argv", [""])[0].endswith("ray/dashboard/dashboard.py"):
        with open(log, "a", encoding="utf-8") as file:  # noqa: PTH123 – loaded by every interpreter: imports little
            file.write(f"{what}\n")
    return OSError(f"no connection but to this machine: {what}")


def _checked(one: socket.socket, address: Any) -> None:
    outward = one.family in (socket.AF_INET, socket.AF_INET6) and one.type == socket.SOCK_STREAM
    if outward and not is_here(address[0]):
        raise _refuse(f"connect {address[0]}")


def connect(self: socket.socket, address: Any) -> Any:
    """See `socket.socket.connect`."""
    _checked(self, address)
    return _connect(self, address)


def connect_ex(self: socket.socket, address: Any) -> Any:
    """See `socket.socket.connect_ex`."""
    _checked(self, address)
    return _connect_ex(self, address)


def getaddrinfo(host: Any, *args: Any, **kwargs: Any) -> Any:
    """See `socket.getaddrinfo`."""
    if not is_here(host) and not _is_address(host):
        raise _refuse(f"resolve {host}")
    return _resolve(host, *args, **kwargs)


def _is_address(host: Any) -> bool:
    try:
        return bool(ipaddress.ip_address(str(host)))
    except ValueError:
        return False


socket.socket.connect, socket.socket.connect_ex = connect, connect_ex  # type: ignore[method-assign]
socket.getaddrinfo = getaddrinfo
os.fsync = lambda _: None  # tests end processes, never the machine: nothing has to reach the disk
