"""Language models of the transformers library: masked ones, which have whole words for gaps, and causal ones, which
have the probability of every token after those before it.

Texts that begin alike share their first tokens under a causal model: variants of one sentence cost what is new. In the
order of their tokens, a text has in common with all before it what it has with the one just before.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Annotated, Any, Literal

import numpy as np
import regex
from numpy.typing import NDArray

from babelquake.errors import UserError
from babelquake.models.base import CausalLM, MaskedLM, Matrix
from babelquake.models.batching import TOKENS, Block, Tokens, chunks, enough, equal, sent
from babelquake.models.sequence_reader import Group, Numbers, Ribbon, filled_up
from babelquake.models.transformer import Backed, Precision
from babelquake.resource import Filler, Gap, halving
from babelquake.spec import Range

BEGINNINGS = ("Ġ", "▁")
"""Marks of pieces that begin a word, in byte-level BPE and SentencePiece; WordPiece marks those that do not."""
CONTINUES = "##"
"""WordPiece's mark."""
ONE_WORD = regex.compile(r"\w[\w'*@-]*")
"""What TextAttack takes for a word."""


class TransformerMaskedLM(Backed, MaskedLM):
    """Offers whole words for a gap, with their probabilities.

    `words=any` offers pieces of words and numbers as words too, which is how TextAttack fills its gaps.
    """

    auto = "AutoModelForMaskedLM"

    def __init__(
        self,
        model: str,
        precision: Precision = "float32",
        device: str = "auto",
        tokens: Annotated[int, Range(1, 1 << 20)] = TOKENS,
        instead: str = "",
        words: Literal["whole", "any"] = "whole",
    ) -> None:
        super().__init__(model, precision, device, tokens, instead)
        self.words = words

    @property
    def signature(self) -> str:
        """Name, content of the files, precision, version; which words count, where it is not whole ones alone."""
        return super().signature + ("" if self.words == "whole" else f"|words:{self.words}")

    def fill(self, gaps: Sequence[Gap], top: int) -> list[list[Filler]]:
        """For each gap the whole words among the `top` likeliest pieces; none where the gap was cut off."""
        tokenizer = self.core.tokenizer
        if tokenizer.mask_token is None:
            raise UserError(f"{self.core.checkpoint.name} has no mask token; a masked language model is needed.")
        mask: int = tokenizer.mask_token_id
        ids, _ = self.core.tokenised([f"{gap.before}{tokenizer.mask_token}{gap.after}" for gap in gaps])
        ids = [tokens if mask in tokens else [] for tokens in ids]
        found: list[list[Filler]] = [[] for _ in gaps]
        for places in self.core.batches(ids):
            offers = halving(lambda some: self._offers(some, mask, top), [ids[place] for place in places])
            for place, (numbers, chances) in zip(places, offers, strict=True):
                pairs = zip(numbers, chances, strict=True)
                found[place] = [
                    Filler(self._words[number], chance) for number, chance in pairs if number in self._words
                ]
        return found

    def _offers(self, sequences: list[list[int]], mask: int, top: int) -> list[tuple[list[int], list[float]]]:
        import torch

        core, sheet = self.core, self.core.sheet(sequences)

        def at_the_gaps(_: Any, __: Any, output: Any) -> Any:
            """The head is expensive and reads each position by itself: it is given the gaps' alone."""
            texts = zip(sheet.texts(output.last_hidden_state), sequences, strict=True)
            output.last_hidden_state = enough(torch.stack([state[one.index(mask)] for state, one in texts]))[:, None]
            return output

        hook = core.model.base_model.register_forward_hook(at_the_gaps)
        try:
            logits = core.run(core.model, sheet).logits[: len(sequences), 0]
        finally:
            hook.remove()
        best = torch.topk(torch.softmax(logits.float(), dim=-1), min(top, logits.shape[-1]))
        return list(zip(best.indices.tolist(), best.values.tolist(), strict=True))

    @cached_property
    def _words(self) -> dict[int, str]:
        """The pieces that are words by themselves: letters only, and not the continuation of a word; or any."""
        tokenizer = self.core.tokenizer
        marked = any(piece.startswith(BEGINNINGS) for piece in tokenizer.tokenize("a word or two"))
        special = set(tokenizer.all_special_ids)
        found = {}
        for piece, number in tokenizer.get_vocab().items():
            begins = piece.startswith(BEGINNINGS) if marked else not piece.startswith(CONTINUES)
            word = tokenizer.convert_tokens_to_string([piece]).strip() if begins or self.words == "any" else ""
            word = word.removeprefix(CONTINUES)
            counts = word.isalpha() if self.words == "whole" else ONE_WORD.fullmatch(word)
            if counts and number not in special:
                found[number] = word
        return found


STEP = 32
"""Texts share beginnings with texts of the same number of tokens by this step: attention then has the same shape."""


@dataclass(frozen=True)
class Beginnings:
    """Texts as a tree of their beginnings: each distinct one is a node, after its parent."""

    ribbon: Ribbon
    """The nodes that something follows; the others need not be read."""
    nodes: int
    """How many these are."""
    parents: Numbers
    """For every node but the first of a text, on the ribbon: after which node it comes."""
    tokens: Numbers
    """The tokens of these nodes."""
    paths: list[Numbers]
    """For every text which of these nodes it is made of, its begin token left out."""


@dataclass(frozen=True)
class _Kin:
    """Texts that may share beginnings, in the order of their tokens."""

    places: list[int]
    step: int
    """Tokens that attention sees of each."""
    tokens: Numbers
    """A row each, filled up."""
    lengths: Numbers
    common: Numbers
    """With how many tokens each begins like the one before it."""


def alike(sequences: Tokens, tokens: int) -> Iterator[list[int]]:
    """Places of sequences with at most so many distinct beginnings together, those that begin alike side by side."""
    portion: list[int] = []
    size = 0
    for kin in reversed(_kins(sequences)):
        for place, length, known in zip(kin.places, kin.lengths.tolist(), kin.common.tolist(), strict=True):
            new = length - known
            if portion and size + new > tokens:
                yield portion
                portion, size, new = [], 0, length
            portion.append(place)
            size += new
    if portion:
        yield portion


def beginnings(sequences: Tokens, device: str, size: int) -> Beginnings:
    """The tree of sequences of at least two tokens; those whose sizes differ by a step share nothing."""
    nodes, ends, seen = 0, 0, 0
    columns, told, taken, shapes = [], [], [], []
    paths: dict[int, Numbers] = {}
    for kin in _kins(sequences):
        at, lengths = np.arange(kin.tokens.shape[1]), kin.lengths[:, None]
        read = np.minimum(kin.common, np.append(0, kin.lengths[:-1] - 1))[:, None]  # nobody reads a last token
        new = (at >= read) & (at < lengths - 1)
        node = _numbered(new, nodes)
        rows, depths = np.nonzero(new)
        columns.append((kin.tokens[new], depths, seen + rows * kin.step + depths))
        new = (at >= np.maximum(kin.common, 1)[:, None]) & (at < lengths)
        end = _numbered(new, ends)
        rows, depths = np.nonzero(new)
        told.append((node[rows, depths - 1], kin.tokens[new]))
        paths |= {place: end[row, 1 : kin.lengths[row]] for row, place in enumerate(kin.places)}
        taken.append(np.take_along_axis(node, np.minimum(np.arange(kin.step), lengths - 2), axis=1).ravel())
        shapes.append(Group(len(kin.places), kin.step, slice(seen, seen + taken[-1].size)))
        nodes, ends, seen = nodes + columns[-1][0].size, ends + rows.size, seen + taken[-1].size
    ids = np.zeros((3, filled_up(nodes, size, device)), dtype=np.int64)
    ids[:, :nodes] = np.concatenate(columns, axis=1)
    numbers, positions, places = sent(ids, device)
    attended = sent(np.concatenate(taken), device)
    made = Ribbon(numbers, positions, shapes, causal=True, seen=attended, back=places[:nodes])
    parents, tokens = np.concatenate(told, axis=1)
    return Beginnings(made, nodes, parents, tokens, [paths[place] for place in range(len(sequences))])


def _kins(sequences: Tokens) -> list[_Kin]:
    """The sequences by what attention sees of them, the shortest first."""
    steps: dict[int, list[int]] = defaultdict(list)
    for place, sequence in enumerate(sequences):
        steps[-(-(len(sequence) - 1) // STEP) * STEP].append(place)
    return [
        _kin(sequences, sorted(steps[step], key=lambda place: list(sequences[place])), step) for step in sorted(steps)
    ]


def _kin(sequences: Tokens, places: list[int], step: int) -> _Kin:
    some: list[Sequence[int]] = [sequences[place] for place in places]
    lengths = np.array([len(one) for one in some])
    tokens = np.full((len(some), int(lengths.max())), -1)
    tokens[np.arange(tokens.shape[1]) < lengths[:, None]] = np.fromiter(chain.from_iterable(some), np.int64)
    common = np.zeros_like(lengths)
    same = np.pad(tokens[1:] == tokens[:-1], ((0, 0), (0, 1)))  # ends with a difference
    common[1:] = np.minimum(same.argmin(axis=1), np.minimum(lengths[1:], lengths[:-1]))
    return _Kin(places, step, tokens, lengths, common)


def _numbered(new: NDArray[np.bool_], start: int) -> Numbers:
    """Numbers of the new nodes, row by row; all others are those of the row above."""
    numbers = np.where(new, start + np.cumsum(new).reshape(new.shape) - 1, 0)
    return np.maximum.accumulate(numbers, axis=0)


ROOM = 2**26
"""Numbers that the predictions of one batch may hold on the CPU: tokens times vocabulary."""


class TransformerCausalLM(Backed, CausalLM):
    """Log-probabilities of a text's tokens, the first one after the begin token (as Hugging Face evaluate counts)."""

    auto = "AutoModelForCausalLM"
    together = 2048

    @cached_property
    def begin(self) -> int:
        """The token that every text begins with; models without one take the token that ends a text."""
        if any("ForMaskedLM" in name for name in self.core.config.architectures or ()):
            raise UserError(
                f"'{self.core.checkpoint.name}' is a checkpoint of another kind: a masked language model, which sees "
                "what follows. Expected a causal one, such as gpt2 or gpt-en."
            )
        tokenizer = self.core.tokenizer
        number = tokenizer.bos_token_id if tokenizer.bos_token_id is not None else tokenizer.eos_token_id
        if number is None:
            raise UserError(f"{self.core.checkpoint.name} has no begin and no end token: it cannot weigh a text.")
        return int(number)

    @cached_property
    def end(self) -> int:
        """The token that ends a text."""
        number = self.core.tokenizer.eos_token_id
        return self.begin if number is None else int(number)

    def log_probabilities(self, texts: Sequence[str]) -> list[Matrix]:
        """One row of logarithms per text. A text without tokens is weighed as a text that ends at once."""
        ids, _ = self.core.tokenised(texts, special=False, room=1)
        whole = [[self.begin, *(tokens or [self.end])] for tokens in ids]
        found: list[Matrix] = [np.zeros(0, dtype=np.float32)] * len(texts)
        shared = self.core.ribbons
        portions = alike(whole, self.core.row) if shared else equal(whole, self.core.device, self._tokens)
        for places in portions:
            work = self._shared if shared else self._weights
            rows = halving(work, [whole[place] for place in places])
            for place, row in zip(places, rows, strict=True):
                found[place] = row
        return found

    @cached_property
    def _tokens(self) -> int:
        return max(1, min(self.core.tokens, ROOM // int(self.core.config.vocab_size)))

    def _shared(self, sequences: list[list[int]]) -> list[Matrix]:
        """Texts on a ribbon; what they have in common at their beginning is read once."""
        import torch

        core = self.core
        tree = beginnings(sequences, core.device, core.row)
        states = core.run(core.model.base_model, tree.ribbon).last_hidden_state[0]
        head = core.model.get_output_embeddings()
        parents = tree.parents
        order = np.argsort(parents, kind="stable")
        after, tokens = sent(np.stack([parents, tree.tokens])[:, order], core.device)
        weights = []
        with torch.inference_mode():
            for own, rows in chunks(states[: tree.nodes]):
                logits = head(rows).float()
                here = slice(*np.searchsorted(parents, (own.start, own.stop), sorter=order).tolist())
                at = after[here] - own.start
                weights.append(logits[at, tokens[here]] - logits.logsumexp(dim=-1)[at])
        found = np.empty(len(parents), dtype=np.float32)
        found[order] = torch.cat(weights).cpu().numpy()
        return [found[path] for path in tree.paths]

    def _weights(self, sequences: list[list[int]]) -> list[Matrix]:
        import torch

        sheet = Block.of(sequences, self.core.device)
        ids = sheet.inputs["input_ids"]
        with torch.inference_mode():
            logits = self.core.model(**sheet.inputs, use_cache=False).logits[:, :-1].float()
            chosen = logits.gather(-1, ids[:, 1:, None])[..., 0]
            weights = chosen - logits.logsumexp(dim=-1)
        return [row.copy() for row in weights[: len(sequences)].cpu().numpy()]
