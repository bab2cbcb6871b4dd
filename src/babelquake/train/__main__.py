"""Every training where little more than PyTorch is installed: `python -m babelquake.train KIND --data DIR --out DIR …`.

The further options are the settings of the kind's recipe.
"""

import argparse
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from types import UnionType
from typing import get_args, get_origin, get_type_hints

from babelquake.errors import BabelquakeError
from babelquake.train.config import CausalRecipe, Config, MaskedRecipe, MetricRecipe, parts
from babelquake.train.quality import QualityRecipe
from babelquake.train.vectors import VectorRecipe, in_parts

CONFIGURED = {"nmt": Config, "mlm": MaskedRecipe, "clm": CausalRecipe, "metric": MetricRecipe}
"""Kinds of training that follow a file of settings."""
IN_PARTS = {"vectors": VectorRecipe, "qe": QualityRecipe}
"""Kinds that may go on part by part, and need no file."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the arguments, train, and end with the error's status if something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m babelquake.train", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    for kind, recipe in (CONFIGURED | IN_PARTS).items():
        one = kinds.add_parser(kind, argument_default=argparse.SUPPRESS)
        one.add_argument("--data", type=Path, required=True)
        one.add_argument("--out", type=Path, required=True)
        configured = kind in CONFIGURED
        one.add_argument("--config", required=configured, help="YAML or JSON file, or the name of a bundled config")
        if configured:
            one.add_argument("--device")
            one.add_argument("--until", type=float, help="seconds since the epoch at which training shall be over")
        if kind == "nmt":
            one.add_argument("--cache", type=Path)
            one.add_argument("--restart", dest="resume", action="store_false", help="ignore an earlier checkpoint")
        for name, hint in get_type_hints(recipe).items():
            plain = [each for each in get_args(hint) or (hint,) if each in (int, float, str)]
            if plain and get_origin(hint) in (None, UnionType) and name != "out":
                one.add_argument(f"--{name.replace('_', '-')}", type=plain[0])
    given = vars(parser.parse_args(arguments))
    kind, data, out = given.pop("kind"), given.pop("data"), given.pop("out")
    train = import_module(f"babelquake.train.{'quality' if kind == 'qe' else kind}").train
    try:
        if kind in CONFIGURED:
            print(train(given.pop("config"), data, out, **given))
        else:
            in_parts(train, data, out, parts(given.pop("config", {}), kind, IN_PARTS[kind], **given))
    except BabelquakeError as error:
        parser.exit(error.exit_status, f"babelquake: {error}\n")


if __name__ == "__main__":
    main()
