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
from babelquake.train.config import Config
from babelquake.train.quality import QualityRecipe
from babelquake.train.recipes import CausalRecipe, MaskedRecipe, MetricRecipe
from babelquake.train.vectors import VectorRecipe

CONFIGURED = {"nmt": Config, "mlm": MaskedRecipe, "clm": CausalRecipe, "metric": MetricRecipe}
"""Kinds of training that follow a file of settings."""
PLAIN = {"vectors": VectorRecipe, "quality": QualityRecipe}
"""Kinds that need none."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Read the arguments, train, and end with the error's status if something was wrong."""
    parser = argparse.ArgumentParser(prog="python -m babelquake.train", description=__doc__)
    kinds = parser.add_subparsers(dest="kind", required=True)
    for kind, recipe in (CONFIGURED | PLAIN).items():
        one = kinds.add_parser(kind, argument_default=argparse.SUPPRESS)
        one.add_argument("--data", type=Path, required=True)
        one.add_argument("--out", type=Path, required=True)
        if kind in CONFIGURED:
            one.add_argument("--config", required=True, help="YAML or JSON file, or the name of a bundled config")
            one.add_argument("--device")
            one.add_argument("--until", type=float, help="seconds since the epoch at which training shall be over")
        if kind == "nmt":
            one.add_argument("--cache", type=Path)
            one.add_argument("--restart", dest="resume", action="store_false", help="ignore an earlier checkpoint")
        for name, hint in get_type_hints(recipe).items():
            plain = [each for each in get_args(hint) or (hint,) if each in (int, float, str)]
            if plain and get_origin(hint) in (None, UnionType):
                one.add_argument(f"--{name.replace('_', '-')}", type=plain[0])
    given = vars(parser.parse_args(arguments))
    kind, data, out = given.pop("kind"), given.pop("data"), given.pop("out")
    train = import_module(f"babelquake.train.{kind}").train
    try:
        if kind in CONFIGURED:
            print(train(given.pop("config"), data, out, **given))
        else:
            train(data, out, PLAIN[kind](**given))
    except BabelquakeError as error:
        parser.exit(error.exit_status, f"babelquake: {error}\n")


if __name__ == "__main__":
    main()
