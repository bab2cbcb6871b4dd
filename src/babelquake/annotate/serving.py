"""Running the app: `babelquake annotate serve`."""

import socket
from pathlib import Path

from babelquake.annotate.project import Project
from babelquake.errors import UserError

SECONDS_TO_FINISH = 10
BACKLOG = 512


def serve(path: str | Path, host: str = "127.0.0.1", port: int = 8000, https: bool = False) -> None:
    """Serve a project until interrupted; requests under way are finished.

    With `https` (behind a reverse proxy that speaks it) cookies travel over encrypted connections only.
    """
    try:
        import uvicorn

        from babelquake.annotate.app import make_app
    except ImportError as error:
        raise UserError("serving needs FastAPI and uvicorn: pip install 'babelquake[annotate]'.") from error
    app = make_app(Project(path), secure_cookies=https)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        forwarded_allow_ips="127.0.0.1,::1",
        timeout_graceful_shutdown=SECONDS_TO_FINISH,
    )
    with _listening(host, port) as listener:
        uvicorn.Server(config).run(sockets=[listener])


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
        raise UserError(f"--host {host} --port {port} cannot be listened on: {error.strerror or error}.") from None
