"""The command line: parse, call one study, print."""


def main() -> None:
    """The `babelquake` command. It listens for signals before it imports anything that takes time."""
    from babelquake.interrupts import listen

    listen()
    try:
        from babelquake.cli.app import app
        from babelquake.cli.guard import enter
    except KeyboardInterrupt:
        import sys

        from babelquake.interrupts import RESUMABLE, ignore_signals

        ignore_signals(RESUMABLE)
        print("babelquake: interrupted.", file=sys.stderr)
        sys.exit(RESUMABLE)
    enter(app)
