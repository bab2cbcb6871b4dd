"""`babelquake mt`: how sturdy is a translation system?"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from babelquake.cli.guard import guarded
from babelquake.cli.options import (
    AsJson,
    CacheFile,
    Columns,
    Config,
    Data,
    Examples,
    LanguagePair,
    Replicates,
    Resamples,
    Restart,
    Scorers,
    Seed,
    Sort,
    Suites,
    columns_of,
    engine_of,
    read_data,
)


@guarded
def mt(
    data: Data,
    system: Annotated[
        list[str] | None, typer.Option("--system", "-s", help="A system, e.g. bundled[model=de-en-bpe]; repeatable.")
    ] = None,
    suite: Suites = None,
    scorer: Scorers = ["chrf", "bleu[lowercase=true]"],  # noqa: B006 – typer's way to give a repeatable default
    out: Annotated[Path | None, typer.Option("--out", "-o", help="The run folder to make or to continue.")] = None,
    seed: Seed = 0,
    replicates: Replicates = None,
    threshold: Annotated[
        float, typer.Option("--threshold", min=0, max=100, help="Sentence chrF below which a change is inconsistent.")
    ] = 75.0,
    reset: Annotated[
        str,
        typer.Option("--reset", help="Undo final marks that follow the source's: auto (punctuation), always, never."),
    ] = "auto",
    resamples: Resamples = 10_000,
    columns: Columns = None,
    language_pair: LanguagePair = None,
    config: Config = None,
    cache: CacheFile = None,
    restart: Restart = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count texts, characters and cost; send nothing.")] = False,
    export: Annotated[
        Path | None, typer.Option("--export", help="Write every distinct source to DIR/sources.txt and stop.")
    ] = None,
    import_: Annotated[
        Path | None, typer.Option("--import", help="Take each DIR/NAME.txt beside sources.txt as one system.")
    ] = None,
    examples: Examples = 0,
    sort: Sort = "drop",
    as_json: AsJson = False,
) -> None:
    """Measure how translations change when the source changes a little: ROBUST, CONSIS, % inconsistent.

    Example: babelquake mt -s 'bundled[model=de-en-bpe]' -d sample -p everyday -o runs/everyday
    """
    from babelquake.errors import UserError
    from babelquake.perturb.suite import suite as suite_of
    from babelquake.studies.translation import one_row_per_source, source_variants, texts_to_translate, translation

    if reset not in ("auto", "always", "never"):
        raise UserError(f"--reset {reset}: expected auto, always or never.")
    material = read_data(data, columns_of(columns), language_pair)
    chosen = suite_of(suite or ["everyday"], replicates)
    engine = engine_of(cache)
    systems = [*(system or []), *_imported(import_)]
    if export or dry_run:
        segments = one_row_per_source(material.segments)
        texts = texts_to_translate(segments, source_variants(segments, chosen, seed))
        if export:
            from babelquake.systems.files import export as write_sources

            written = write_sources(export, texts)
            typer.echo(
                f"{len(texts)} distinct sources in {written}. Put each system's translations beside it as NAME.txt,"
            )
            typer.echo(f"line for line, then run the same command with --import {export}.")
            return
        _print_estimate(systems, texts, material.language_pairs, engine, segments.height, as_json)
        return
    if not systems:
        raise UserError("no system is named: give --system, e.g. --system 'command[cmd=cat]', or --import DIR.")
    if out is None:
        raise UserError("no run folder is named: give --out DIR.")
    run = translation(
        systems, material, chosen, scorer, out, seed=seed, replicates=replicates, threshold=threshold,
        reset=reset, resamples=resamples, restart=restart, engine=engine,  # type: ignore[arg-type]
    )  # fmt: skip
    from babelquake.cli.results import show

    show(run, examples, sort, as_json)


def _imported(folder: Path | None) -> list[str]:
    if folder is None:
        return []
    from babelquake.errors import UserError
    from babelquake.spec import Spec
    from babelquake.systems.files import imported

    names = imported(folder)
    if not names:
        raise UserError(f"{folder} holds no translations yet: put NAME.txt beside sources.txt, line for line.")
    return [str(Spec("files").with_options(folder=folder, name=name)) for name in names]


def _print_estimate(
    systems: list[str], texts: list[str], pairs: list[str], engine: Any, segments: int, as_json: bool
) -> None:
    from babelquake.systems import system as system_of

    pair = pairs[0] if pairs else None
    estimates = []
    for what in systems:
        item = system_of(what, pair)
        unsent = engine.untranslated(item, texts)
        characters = sum(map(len, unsent))
        price = item.price_per_million
        cost = round(characters / 1e6 * price, 2) if price is not None else None
        estimates.append({"system": item.name, "texts": len(unsent), "characters": characters, "dollars": cost})
        item.close()
    if as_json:
        typer.echo(json.dumps({"segments": segments, "texts": len(texts), "systems": estimates}, ensure_ascii=False))
        return
    typer.echo(f"{segments} segments, {len(texts)} distinct sources, clean and perturbed.")
    for row in estimates:
        price_tag = f", about ${row['dollars']:.2f}" if row["dollars"] is not None else ""
        typer.echo(f"{row['system']}: {row['texts']} still to send, {row['characters']:,} characters{price_tag}")
