"""Running the app: `babelquake annotate serve`."""

from pathlib import Path

from babelquake.annotate.project import Project
from babelquake.errors import UserError

SECONDS_TO_FINISH = 10


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
    uvicorn.run(
        app, host=host, port=port, log_level="warning", access_log=False, server_header=False,
        timeout_graceful_shutdown=SECONDS_TO_FINISH, forwarded_allow_ips="127.0.0.1,::1",
    )  # fmt: skip
