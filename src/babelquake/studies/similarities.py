"""How alike the tokens of two sentences are to BERTScore, layer by layer, with clean and perturbed references."""

from collections.abc import Sequence

from babelquake.engine import Engine
from babelquake.errors import UserError
from babelquake.perturb import perturb
from babelquake.perturb.suite import Perturbations
from babelquake.perturb.suite import suite as suite_of
from babelquake.scorers.base import Questions, Scorer
from babelquake.scorers.bertscore import BertScore, Similarities
from babelquake.scorers.bertscore import similarities as matrix
from babelquake.studies.judging import of_each
from babelquake.studies.resolve import AnyScorer, scorers_of


def similarities(
    scorers: AnyScorer | Sequence[AnyScorer],
    translation: str,
    references: str | Sequence[str],
    suite: Perturbations = (),
    *,
    lang: str | None = "en",
    seed: int = 0,
    engine: Engine | None = None,
) -> list[Similarities]:
    """A matrix of cosines for every scorer and every reference, as it is and as the suite perturbs it (Vu Figure 5).

    >>> similarities("bertscore[model=minilm-en,layer=first|best]", "a cat sat", "the cat sat", "visual[level=0.3]")
    """
    chosen = [_bertscore(scorer) for scorer in scorers_of(scorers)]
    given = [references] if isinstance(references, str) else references
    texts = [version for reference in given for version in _versions(reference, suite, lang, seed)]
    caller = engine or Engine()
    asked = Questions([translation] * len(texts), [[text] for text, _ in texts])

    def matrices(scorer: BertScore) -> list[Similarities]:
        scorer.prepare(asked)
        vectors = caller.encode(scorer.encoder, scorer.texts(asked), scorer.layers)
        return [matrix(scorer, translation, text, vectors, name) for text, name in texts]

    return [one for some in of_each(chosen, matrices).values() for one in some]


def _bertscore(scorer: Scorer) -> BertScore:
    if not isinstance(scorer, BertScore):
        raise UserError(f"'{scorer.name}' does not compare token vectors. Use bertscore[model=…,layer=…].")
    return scorer


def _versions(reference: str, suite: Perturbations, lang: str | None, seed: int) -> list[tuple[str, str]]:
    """A reference as it is, and under every perturbation that applies to it."""
    found = [(reference, "")]
    if suite:
        for perturbation in suite_of(suite).perturbations:
            (text,) = perturb(str(perturbation.spec), [reference], lang=lang, seed=seed)
            if text is not None and text != reference:
                found.append((text, str(perturbation.spec)))
    return found
