"""Documents as segments: one row each, sentences on lines, judged sentence by sentence where lines fit."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from babelquake.engine import Engine
from babelquake.scorers.base import Array, Questions, Scorer
from babelquake.studies.inquiries import lines_of


def documents_of(segments: pl.DataFrame) -> pl.DataFrame:
    """One row per document, in the order in which they begin; a segment without a document is one itself.

    Sentences without a source are left out. References are joined where every sentence has as many.
    """
    named = segments.filter(pl.col("source").fill_null("").str.strip_chars() != "").with_columns(
        pl.coalesce("document", "id").alias("document"),
        source=pl.col("source").str.replace_all("\n", " "),
    )
    keys = ["language_pair", "document"]
    rows = []
    for (pair, document), part in named.group_by(keys, maintain_order=True):
        first = part.row(0, named=True)
        given = [[text.replace("\n", " ") for text in one or ()] for one in part["references"].to_list()]
        each = {len(one) for one in given}
        joined = ["\n".join(texts) for texts in zip(*given, strict=True)] if len(each) == 1 else []
        rows.append(
            {
                **first,
                "id": str(document),
                "language_pair": pair,
                "source": "\n".join(part["source"]),
                "references": joined,
            }
        )
    schema = {name: kind for name, kind in named.schema.items() if name != "row"}
    return pl.DataFrame(rows, schema=schema).with_row_index("row")


def judged_by_sentence(engine: Engine, scorer: Scorer, questions: Questions, fits: Sequence[bool | None]) -> Array:
    """A scorer's rows: of documents whose lines fit those of all that they are compared with, the sum over sentences.

    `fits` is None for texts that are not documents, False for documents that are judged as a whole.
    """
    if all(fit is None for fit in fits):
        return engine.judge(scorer, questions)
    translations: list[str] = []
    references: list[list[str]] = []
    sources: list[str] = []
    counts, whole = [], []
    for place, (translation, fit) in enumerate(zip(questions.translations, fits, strict=True)):
        given = list(questions.references[place]) if questions.references is not None else []
        source = questions.sources[place] if questions.sources is not None else ""
        lines = [lines_of(text) for text in (translation, source or "", *given)]
        together = not fit or len({len(some) for some in lines}) > 1
        parts = [[text] for text in (translation, source or "", *given)] if together else lines
        translations += parts[0]
        sources += parts[1]
        references += [list(some) for some in zip(*parts[2:], strict=True)] if given else [[] for _ in parts[0]]
        counts.append(len(parts[0]))
        whole.append(max(1, len(lines[1])) if together else 0)
    asked = Questions(translations, references if questions.references is not None else None, sources)
    rows = engine.judge(scorer, asked)
    starts = np.cumsum([0, *counts[:-1]])
    summed = np.add.reduceat(rows, starts, axis=0) if len(counts) else rows
    for place, sentences in enumerate(whole):
        if sentences:
            summed[place] = scorer.of_document(summed[place], sentences)
    return np.asarray(summed)
