"""Train a small quality-estimation model for many languages: `babelquake train qe --config qe-multi`, or
`python -m babelquake.train qe` where only PyTorch, NumPy and Numba are installed.

Words are made of hashed n-grams (`babelquake.models.ngram_hash`); a transformer reads source and translation together.
It first learns languages from translations: to guess masked words of both sides from the other (translation language
modelling, Conneau and Lample 2019), to find words that were put in another's place (Clark et al. 2020), and to say how
much of a spoilt translation is left. Then it learns people's ratings, post-editors' word tags and edit rates, with
spoilt translations below the true ones.

A data folder holds `pairs.tsv[.xz]`, `ratings.tsv[.xz]`, `dev.tsv[.xz]` as for `train vectors`, `tags.tsv[.xz]`
(language pair, source, translation, word tags 0 or 1, edit rate), and perhaps `probes.tsv[.xz]` (line of `ratings` from
0, `altering` or `preserving`, the rated translation perturbed).
"""

import json
import time
from collections import Counter
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from babelquake.models.ngram_hash import Integers, words_of
from babelquake.train.vectors import (
    ORIGINS,
    Batch,
    Hashed,
    OnGpu,
    correlations,
    load,
    pearson_of,
    progress,
    ranges,
    rows_of,
    save,
    word_table,
)


@dataclass(frozen=True)
class QualityRecipe:
    """What the training can be told."""

    bits: int = 17
    width: int = 192
    hidden: int = 256
    layers: int = 4
    heads: int = 4
    words: int = 48
    vocabulary: int = 32000
    batch: int = 2048
    rated: int = 96
    rate: float = 0.001
    dropout: float = 0.1
    minutes: float = 5.0
    steps: int = 0
    tuning: float = 1.5
    tuning_steps: int = 0
    tuning_rate: float = 0.0002
    tunings: int = 2
    probe_weight: float = 0.5
    seed: int = 5
    start: str = ""


LEFT_OUT = ("guess", "hole")
"""What only the first part of the training needs."""


def network(recipe: QualityRecipe) -> Any:
    """The model as a PyTorch module."""
    import torch
    from torch import nn
    from torch.nn import functional

    class Layer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            d = recipe.hidden
            self.before, self.between = nn.LayerNorm(d), nn.LayerNorm(d)
            self.mix, self.join = nn.Linear(d, 3 * d), nn.Linear(d, d)
            self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)

        def forward(self, x: Any, mask: Any) -> Any:
            size, length, d = x.shape
            q, k, v = self.mix(self.before(x)).view(size, length, 3, recipe.heads, -1).permute(2, 0, 3, 1, 4)
            seen = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask[:, None, None])
            x = x + functional.dropout(
                self.join(seen.transpose(1, 2).reshape(size, length, d)), recipe.dropout, self.training
            )
            inner = functional.gelu(self.up(self.between(x)), approximate="tanh")
            return x + functional.dropout(self.down(inner), recipe.dropout, self.training)

    class Network(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = word_table(recipe.bits, recipe.width)
            self.enter = nn.Linear(recipe.width, recipe.hidden)
            self.side = nn.Parameter(torch.randn(2, recipe.hidden) * 0.02)
            self.place = nn.Parameter(torch.randn(recipe.words, recipe.hidden) * 0.02)
            self.first = nn.Parameter(torch.randn(recipe.hidden) * 0.02)
            self.hole = nn.Parameter(torch.randn(recipe.hidden) * 0.02)
            self.layers = nn.ModuleList(Layer() for _ in range(recipe.layers))
            self.last = nn.LayerNorm(recipe.hidden)
            self.pooled = nn.Linear(2 * recipe.hidden, recipe.hidden)
            self.rating, self.edits, self.share = (nn.Linear(recipe.hidden, 1) for _ in range(3))
            self.tag = nn.Linear(recipe.hidden, 1)
            self.guess = nn.Linear(recipe.hidden, recipe.vocabulary)

        def embed(self, batch: Batch, table: Any = None) -> tuple[Any, Any]:
            """Words as a padded block in the transformer's width, and which of it is text."""
            block, mask = self.words(batch, table)
            return self.enter(block), mask

        def read(self, source: Any, source_mask: Any, target: Any, target_mask: Any) -> tuple[Any, Any, Any]:
            """Source and translation, each with its places; a first token stands before both."""
            one = source + self.side[0] + self.place[: source.shape[1]]
            two = target + self.side[1] + self.place[: target.shape[1]]
            x = torch.cat([self.first.expand(len(one), 1, -1), one, two], 1)
            mask = torch.cat([source_mask.new_ones(len(one), 1), source_mask, target_mask], 1)
            x = functional.dropout(x, recipe.dropout, self.training)
            for layer in self.layers:
                x = layer(x, mask)
            x = self.last(x)
            ahead = 1 + source.shape[1]
            return x[:, 0], x[:, 1:ahead], x[:, ahead:]

        def summary(self, first: Any, target: Any, mask: Any) -> Any:
            mean = (target * mask[..., None]).sum(1) / mask.sum(1, keepdim=True).clamp_min(1)
            return functional.gelu(self.pooled(torch.cat([first, mean], 1)), approximate="tanh")

    return Network()


def _count(texts: list[str]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for text in texts:
        counts.update(words_of(text))
    return counts


def _ids(part: tuple[list[str], dict[str, int]]) -> tuple[Integers, Integers]:
    """Numbers of all words of some texts in one array, and where each text's begin."""
    texts, known = part
    rows = [[known.get(word, 0) for word in words_of(text)] for text in texts]
    return np.array([number for row in rows for number in row], np.int64), np.cumsum([0, *map(len, rows)])


class Words:
    """Texts as hashed n-grams and as numbers of frequent words."""

    def __init__(self, texts: list[str], known: dict[str, int], recipe: QualityRecipe, place: Any, pool: Any) -> None:
        import torch

        self.grams = OnGpu(Hashed(texts, recipe.bits, recipe.words), place)
        parts = list(pool.map(_ids, [(texts[n : n + 20000], known) for n in range(0, len(texts), 20000)]))
        self.ids = torch.from_numpy(np.concatenate([ids for ids, _ in parts])).to(place)

    def numbers(self, chosen: Any, mask: Any) -> Any:
        """The words' numbers as a padded block."""
        begin = self.grams.texts[chosen]
        count = mask.sum(1)
        block = mask.new_zeros(mask.shape, dtype=self.ids.dtype)
        block[mask] = self.ids[ranges(begin, count)]
        return block


def pretrain(model: Any, sides: tuple[Words, Words], chance: Any, recipe: QualityRecipe, place: Any) -> None:
    """Masked words, misplaced words, and how much of a translation is left."""
    import torch
    from torch.nn import functional

    optimiser = torch.optim.AdamW(
        model.parameters(), lr=recipe.rate, weight_decay=0.01, betas=(0.9, 0.98), fused=place.type == "cuda"
    )
    start, step, shown = time.monotonic(), 0, 0.0
    bound = progress(recipe.minutes, recipe.steps)
    while (share := bound(step)) < 1:
        for group in optimiser.param_groups:
            group["lr"] = recipe.rate * min(1.0, (step + 1) / 500) * max(0.02, 1 - share)
        chosen = torch.multinomial(chance, recipe.batch, replacement=True)
        one, other = sides if step % 2 else sides[::-1]
        with torch.autocast(place.type, torch.bfloat16):
            table = model.words.rounded()
            source, source_mask = model.embed(one.grams.batch(chosen, 0.1), table)
            target, target_mask = model.embed(other.grams.batch(chosen, 0.1), table)
            wanted = [side.numbers(chosen, mask) for side, mask in ((one, source_mask), (other, target_mask))]
            hidden = [(torch.rand(mask.shape, device=place) < 0.15) & mask for mask in (source_mask, target_mask)]
            # spoil some translations: words of another in a span, or single words, or a part cut off
            size, longest = target_mask.shape
            kind = torch.randint(0, 4, (size, 1), device=place)
            places = torch.arange(longest, device=place)[None]
            count = target_mask.sum(1, keepdim=True)
            length = (torch.rand(size, 1, device=place) * count).ceil()
            begin = (torch.rand(size, 1, device=place) * (count - length + 1).clamp_min(1)).floor()
            span = (places >= begin) & (places < begin + length) & target_mask
            single = (
                torch.rand(target_mask.shape, device=place) < torch.rand(size, 1, device=place) * 0.4
            ) & target_mask
            shuffled = target.roll(1, 0)[:, torch.randperm(longest, device=place)]
            usable = target_mask.roll(1, 0)
            wrong = torch.where(kind == 1, span & usable, torch.where(kind == 2, single, torch.zeros_like(span)))
            replaced = torch.where((kind == 1)[..., None], target.roll(1, 0), shuffled)
            cut = (kind == 3) & (places >= count - (length * 0.7).floor()) & target_mask
            target = torch.where(wrong[..., None], replaced, target)
            bad = wrong.sum(1) + cut.sum(1)
            target_mask = target_mask & ~cut
            hidden[1] = hidden[1] & ~wrong & ~cut
            source = torch.where(hidden[0][..., None], model.hole.to(source.dtype), source)
            target = torch.where(hidden[1][..., None], model.hole.to(target.dtype), target)
            first, seen_source, seen_target = model.read(source, source_mask, target, target_mask)
            loss = torch.zeros((), device=place)
            for seen, mask, ids in ((seen_source, hidden[0], wanted[0]), (seen_target, hidden[1], wanted[1])):
                asked = mask & (ids > 0)
                loss = loss + functional.cross_entropy(model.guess(seen[asked]).float(), ids[asked])
            flagged = target_mask & ~hidden[1]
            tags = functional.binary_cross_entropy_with_logits(
                model.tag(seen_target[flagged])[:, 0].float(), wrong[flagged].float()
            )
            left = 1 - bad / count[:, 0].clamp_min(1)
            guessed = model.share(model.summary(first, seen_target, target_mask))[:, 0].float()
            kept = (guessed.sigmoid() - left).square().mean()
            total = loss + 4 * tags + 4 * kept
        optimiser.zero_grad(set_to_none=True)
        total.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimiser.step()
        step += 1
        if time.monotonic() - shown > 30:
            shown = time.monotonic()
            losses = [round(float(value.detach()), 3) for value in (loss / 2, tags, kept)]
            print(f"step {step} {shown - start:.0f} s; words, tags, share: {losses}", flush=True)


class Probes:
    """Perturbed versions of rated translations: those that alter the meaning must cost, the others must not."""

    MARGIN = 0.3
    """Standard deviations of ratings that an altered meaning costs at least."""

    def __init__(self, table: list[list[str]], recipe: QualityRecipe, place: Any) -> None:
        import torch

        table = sorted(table, key=lambda row: int(row[0]))
        self.texts = OnGpu(Hashed([row[2] for row in table], recipe.bits, recipe.words), place)
        of = torch.tensor([int(row[0]) for row in table], device=place)
        altering = torch.tensor([row[1] == "altering" for row in table], device=place)
        size = int(of[-1]) + 2 if len(of) else 1
        self.members = [torch.nonzero(altering == kind)[:, 0] for kind in (True, False)]
        counts = [torch.bincount(of[some], minlength=size) for some in self.members]
        self.counts = torch.stack(counts)
        self.begins = self.counts.cumsum(1) - self.counts

    def drawn(self, numbers: Any) -> tuple[Any, Any, Any]:
        """Which of the rated have both kinds, and one probe of each kind for these."""
        import torch

        inside = numbers.clamp(max=self.counts.shape[1] - 1)
        both = torch.nonzero((self.counts[:, inside] > 0).all(0))[:, 0]
        rows = inside[both]
        places = self.begins[:, rows] + (torch.rand(2, len(rows), device=rows.device) * self.counts[:, rows]).long()
        return both, self.members[0][places[0]], self.members[1][places[1]]

    def loss(self, given: Any, altered: Any, kept: Any) -> Any:
        """How far altered meanings cost too little, and kept ones anything."""
        from torch.nn import functional

        cheap = functional.relu(self.MARGIN - (given - altered)) + functional.relu(self.MARGIN - (kept - altered))
        return (cheap + functional.smooth_l1_loss(kept, given, reduction="none")).mean()


def tuned(model: Any, folder: Path, recipe: QualityRecipe, place: Any) -> dict[str, Any]:
    """Tune several times from the same start; the mean of the weights is better than each (Wortsman et al. 2022)."""
    import torch

    start = {name: value.detach().clone() for name, value in model.state_dict().items()}
    found = []
    for number in range(recipe.tunings):
        model.load_state_dict(start)
        torch.manual_seed(recipe.seed + number)
        tune(model, folder, recipe, place)
        found.append({name: value.detach().clone() for name, value in model.state_dict().items()})
    model.load_state_dict({name: torch.stack([one[name] for one in found]).mean(0) for name in start})
    now = figures(model, folder, recipe, place)
    return {"dev": round(float(np.mean([value for key, value in now.items() if key.startswith("dev")])), 4), **now}


def tune(model: Any, folder: Path, recipe: QualityRecipe, place: Any) -> None:
    """Ratings, tags and edit rates; the weights of the best mean Pearson on the part `dev` are kept."""
    import torch
    from torch.nn import functional

    table, tagged = (rows_of(folder, name, needed=True) for name in ("ratings", "tags"))
    pairs = sorted({row[0] for row in table})
    rated = [OnGpu(Hashed([row[side] for row in table], recipe.bits, recipe.words), place) for side in (1, 2)]
    groups = [torch.tensor([n for n, row in enumerate(table) if row[0] == pair], device=place) for pair in pairs]
    wanted = torch.tensor([float(row[4]) for row in table], device=place)
    for members in groups:
        wanted[members] = (wanted[members] - wanted[members].mean()) / wanted[members].std()
    tag_sides = [OnGpu(Hashed([row[side] for row in tagged], recipe.bits, recipe.words), place) for side in (1, 2)]
    edit_rate = torch.tensor([float(row[4]) for row in tagged], device=place)
    tag_lengths = np.array([len(row[3]) for row in tagged])
    tag_values = torch.tensor([int(c) for row in tagged for c in row[3]], device=place, dtype=torch.float32)
    tag_starts = torch.from_numpy(np.cumsum([0, *tag_lengths])).to(place)
    probed_rows = rows_of(folder, "probes")
    probes = Probes(probed_rows, recipe, place) if probed_rows else None
    rounded = model.words.rounded().detach()  # the table stays as it was: ratings are too few to learn words from
    body = [parameter for name, parameter in model.named_parameters() if not name.startswith(("guess", "words"))]
    optimiser = torch.optim.AdamW(
        body, lr=recipe.tuning_rate, weight_decay=0.1, betas=(0.9, 0.98), fused=place.type == "cuda"
    )
    best: tuple[float, dict[str, Any]] = (-1.0, {})
    start, step = time.monotonic(), 0
    bound = progress(recipe.tuning, recipe.tuning_steps)
    while (share := bound(step)) < 1:
        model.train()
        for group in optimiser.param_groups:
            group["lr"] = recipe.tuning_rate * min(1.0, (step + 1) / 100) * max(0.02, 1 - share)
        with torch.autocast(place.type, torch.bfloat16):
            numbers = torch.cat([group[torch.randint(len(group), (recipe.rated,), device=place)] for group in groups])
            (source, source_mask), (target, target_mask) = (
                model.embed(side.batch(numbers, 0.15), rounded) for side in rated
            )
            first, _, seen = model.read(source, source_mask, target, target_mask)
            given = model.rating(model.summary(first, seen, target_mask))[:, 0].float()
            error = functional.smooth_l1_loss(given, wanted[numbers])
            r = correlations(given, wanted[numbers], len(groups))
            # a translation with words of another in it is worse than it was
            size, longest = target_mask.shape
            count = target_mask.sum(1, keepdim=True)
            length = (torch.rand(size, 1, device=place) * count * 0.4).ceil()
            begin = (torch.rand(size, 1, device=place) * (count - length + 1).clamp_min(1)).floor()
            places = torch.arange(longest, device=place)[None]
            span = (places >= begin) & (places < begin + length) & target_mask
            foreign = torch.rand(size, 1, device=place) < 0.5
            worse = torch.where((span & foreign)[..., None], target.roll(1, 0), target)
            worse_mask = target_mask & ~(span & ~foreign)
            first, _, seen = model.read(source, source_mask, worse, worse_mask)
            spoilt = model.rating(model.summary(first, seen, worse_mask))[:, 0].float()
            ranking = functional.relu(0.3 - (given - spoilt)).mean()
            probed = torch.zeros((), device=place)
            if probes is not None:
                both, altered, kept = probes.drawn(numbers)
                again, again_mask = model.embed(rated[0].batch(numbers[both].repeat(2), 0.15), rounded)
                target, target_mask = model.embed(probes.texts.batch(torch.cat([altered, kept]), 0.15), rounded)
                first, _, seen = model.read(again, again_mask, target, target_mask)
                one, other = model.rating(model.summary(first, seen, target_mask))[:, 0].float().chunk(2)
                probed = probes.loss(given[both], one, other)
            some = torch.randint(len(tagged), (512,), device=place)
            (source, source_mask), (target, target_mask) = (
                model.embed(side.batch(some, 0.15), rounded) for side in tag_sides
            )
            first, _, seen = model.read(source, source_mask, target, target_mask)
            labels = target_mask.new_zeros(target_mask.shape, dtype=torch.float32)
            labels[target_mask] = tag_values[ranges(tag_starts[some], target_mask.sum(1))]
            tags = functional.binary_cross_entropy_with_logits(
                model.tag(seen[target_mask])[:, 0].float(), labels[target_mask]
            )
            edits = functional.smooth_l1_loss(
                model.edits(model.summary(first, seen, target_mask))[:, 0].float(), edit_rate[some]
            )
            loss = error + 0.5 * (1 - r).mean() + 0.5 * ranking + 0.5 * tags + edits + recipe.probe_weight * probed
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(body, 1.0)
        optimiser.step()
        step += 1
        if step % 40 == 0:
            now = figures(model, folder, recipe, place)
            mean = float(np.mean([value for key, value in now.items() if key.startswith("dev")]))
            print(
                f"tuning {step} {time.monotonic() - start:.0f} s r {r.mean():.3f} probes {float(probed.detach()):.3f}",
                f"{mean:.4f} {json.dumps(now)}",
                flush=True,
            )
            if mean > best[0]:
                best = (
                    mean,
                    {
                        name: value.detach().clone()
                        for name, value in model.state_dict().items()
                        if not name.startswith("guess")
                    },
                )
    model.load_state_dict(best[1], strict=False)


@cache
def _held_out(folder: Path, recipe: QualityRecipe, place: Any) -> tuple[OnGpu, OnGpu]:
    """Sources and translations of `dev` on the device."""
    rows = rows_of(folder, "dev", needed=True)
    one, other = (OnGpu(Hashed([row[side] for row in rows], recipe.bits, recipe.words), place) for side in (2, 3))
    return one, other


def figures(model: Any, folder: Path, recipe: QualityRecipe, place: Any) -> dict[str, float]:
    """Pearson's r with the mean rating, per part and pair."""
    import torch

    rows, sides = rows_of(folder, "dev", needed=True), _held_out(folder, recipe, place)
    model.eval()
    made = []
    with torch.inference_mode(), torch.autocast(place.type, torch.bfloat16):
        for begin in range(0, len(rows), 1024):
            numbers = torch.arange(begin, min(begin + 1024, len(rows)), device=place)
            (source, source_mask), (target, target_mask) = (model.embed(side.batch(numbers)) for side in sides)
            first, _, seen = model.read(source, source_mask, target, target_mask)
            made.append(model.rating(model.summary(first, seen, target_mask))[:, 0].float().cpu().numpy())
    ratings = np.array([float(row[4]) for row in rows])
    return pearson_of([f"{row[0]} {row[1]}" for row in rows], np.concatenate(made), ratings)


def train(folder: Path, out: Path, recipe: QualityRecipe) -> dict[str, Any]:
    """Pretrain and tune; write the model and return its card."""
    import os
    from concurrent.futures import ProcessPoolExecutor

    import torch

    began = time.monotonic()
    place = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.backends.cuda.matmul.allow_tf32 = True
    torch.manual_seed(recipe.seed)
    out.mkdir(parents=True, exist_ok=True)
    model = network(recipe).to(place)
    with ProcessPoolExecutor(max(1, (os.cpu_count() or 2) - 2)) as pool:
        if recipe.start:
            load(model, Path(recipe.start))
        if recipe.minutes or recipe.steps:
            table = rows_of(folder, "pairs", needed=True)
            texts = [[row[side] for row in table] for side in (1, 2)]
            counts: Counter[str] = Counter()
            for some in pool.map(_count, [side[n : n + 20000] for side in texts for n in range(0, len(side), 20000)]):
                counts.update(some)
            known = {word: number for number, (word, _) in enumerate(counts.most_common(recipe.vocabulary - 1), 1)}
            foreign, english = (Words(side, known, recipe, place, pool) for side in texts)
            per_language = Counter(row[0] for row in table)
            chance = torch.tensor(
                [
                    ORIGINS.get(row[3], 0.5) * (1 if len(row[2]) > 25 else 0.3) / per_language[row[0]] ** 0.5
                    for row in table
                ],
                device=place,
            )
            print(f"{len(table)} pairs, {len(known)} words, {time.monotonic() - began:.0f} s", flush=True)
            pretrain(model, (foreign, english), chance, recipe, place)
            save(model, out / "pretrained", {"recipe": asdict(recipe)}, LEFT_OUT)
    result = tuned(model, folder, recipe, place)
    print(json.dumps(result), flush=True)
    facts = {
        "name": out.name,
        "kind": "quality estimation, a transformer over hashed n-grams",
        "training_seconds": round(time.monotonic() - began),
        "recipe": asdict(recipe),
        "figures": result,
    }
    save(model, out, facts, LEFT_OUT)
    return facts
