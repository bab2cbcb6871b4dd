"""What attacked systems make of the sources that were found."""

from collections.abc import Sequence

import polars as pl

from babelquake.engine import Engine
from babelquake.studies.attack.campaign import Target

TABLE = "renderings"
SCHEMA = {"tuple": pl.String, "rendering": pl.String, "rendering_perturbed": pl.String}


def renderings(engine: Engine, targets: Sequence[Target], attacks: pl.DataFrame) -> pl.DataFrame:
    """Of every eligible perturbation the translations of the original and of the perturbed source."""
    parts = [pl.DataFrame(schema=SCHEMA)]
    for target in targets:
        for pair, system in target.systems.items():
            mine = attacks.filter("success", victim=target.name).filter(
                pl.col("language_pair").eq_missing(pl.lit(pair))
            )
            both = engine.translate(system, [*mine["original"], *mine["perturbed"]])
            parts.append(
                mine.select("tuple").with_columns(
                    rendering=pl.Series(both[: mine.height], dtype=pl.String),
                    rendering_perturbed=pl.Series(both[mine.height :], dtype=pl.String),
                )
            )
    return pl.concat(parts)
