"""The command line: parse, call one study, print."""


def main() -> None:
    """The `babelquake` command."""
    from babelquake.cli.app import app
    from babelquake.cli.guard import enter

    enter(app)
