"""`python -m babelquake.train.KIND`: the command line for a GPU machine on which little is installed."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from babelquake.errors import BabelquakeError


def run_module(kind: str, train: Callable[..., Path], arguments: Sequence[str] | None) -> None:
    """Read the arguments, train, and end with the error's status if something was wrong."""
    parser = argparse.ArgumentParser(prog=f"python -m babelquake.train.{kind}", description=train.__doc__)
    parser.add_argument("--config", required=True, help="YAML or JSON file, or the name of a bundled config")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device")
    parser.add_argument("--start", help="the folder of the encoder to go on from")
    numbers: tuple[tuple[str, Any], ...] = (("seed", int), ("steps", int), ("minutes", float), ("until", float))
    for name, number in numbers:
        parser.add_argument(f"--{name}", type=number)
    options = vars(parser.parse_args(arguments))
    try:
        print(train(options.pop("config"), options.pop("data"), options.pop("out"), **options))
    except BabelquakeError as error:
        parser.exit(error.exit_status, f"babelquake: {error}\n")
