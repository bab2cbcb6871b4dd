"""Running the app: `babelquake annotate serve`."""

import socket
from collections.abc import Callable
from pathlib import Path

from babelquake.annotate.project import Project
from babelquake.errors import UserError, setting
from babelquake.paths import install_line

SECONDS_TO_FINISH = 1
"""For requests under way once the server has to stop; each takes milliseconds."""
BACKLOG = 512


def serve(
    path: str | Path,
    host: str = "127.0.0.1",
    port: int = 8000,
    https: bool = False,
    public_url: str = "",
    tell: Callable[[str], None] = lambda address: None,
) -> None:
    """Serve a project until a signal comes; requests under way are finished. `tell` receives the address.

    With `https` (behind a reverse proxy that speaks it) cookies travel over encrypted connections only. `public_url` is
    where annotators reach the app, for the links in invitations.
    """
    try:
        import uvicorn

        from babelquake.annotate.app import make_app
        from babelquake.annotate.web import Bounded, Server
    except ImportError as error:
        raise UserError(f"serving needs FastAPI and uvicorn: {install_line('annotate')}.") from error
    project = Project(path)
    with _listening(host, port) as listener:
        address = f"http://{host}:{listener.getsockname()[1]}"
        config = uvicorn.Config(
            make_app(project, secure_cookies=https, public_url=public_url or address),
            http=Bounded,
            log_level="warning",
            access_log=False,
            server_header=False,
            forwarded_allow_ips="127.0.0.1,::1",
            timeout_graceful_shutdown=SECONDS_TO_FINISH,
        )
        tell(address)
        Server(config).run(sockets=[listener])


def _listening(host: str, port: int) -> socket.socket:
    """A socket on that address; an address that is taken, or not ours, is the user's to change.

    The protocol is named because only then answers are sent without waiting for more to send with them.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(BACKLOG)
        return listener
    except OSError as error:
        listener.close()
        where = f"{setting('host', host)}, {setting('port', port)}"
        raise UserError(f"cannot listen at {where}: {error.strerror or error}.") from None
