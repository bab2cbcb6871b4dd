"""Sources out, translations in: for systems that are reached by hand, by mail or by another tool."""

from collections.abc import Sequence
from pathlib import Path

from babelquake.data import Given, dataset
from babelquake.engine import Cache, Engine
from babelquake.errors import UserError
from babelquake.perturb.suite import Suite
from babelquake.spec import Spec
from babelquake.studies.mt.sources import sources_of, suite_for, texts_to_translate
from babelquake.studies.variants import fillers_of
from babelquake.systems.files import export, imported


def export_sources(
    folder: Path | str,
    data: Given,
    suite: str | Suite | Sequence[str] | None = None,
    *,
    seed: int = 0,
    replicates: int | None = None,
    vocabulary: str | None = None,
    sample: int | None = None,
) -> tuple[Path, int]:
    """Write every distinct source, clean and perturbed, to FOLDER/sources.txt; where it is, and how many there are."""
    material = dataset(data)
    segments, _ = sources_of(material)
    chosen = suite_for(suite, material, replicates, vocabulary).with_model(None)
    by_pair = texts_to_translate(segments, chosen, seed, fillers_of(Engine(Cache())), sample)
    texts = list(dict.fromkeys(text for found in by_pair.values() for text in found))
    return export(Path(folder), texts), len(texts)


def imported_systems(folder: Path | str) -> list[str]:
    """Every FOLDER/NAME.txt beside sources.txt as a system."""
    names = imported(Path(folder))
    if not names:
        raise UserError(f"{folder} holds no translations yet: put NAME.txt beside sources.txt, line for line.")
    return [str(Spec("files").with_options(folder=folder, name=name)) for name in names]
