"""The engine's memory of encodings: one per engine, bounded, shared by every scorer and layer of the same encoder."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager

from babelquake.models.base import Encoder, Encoding, Vectors

BOUND = 2**30
"""Bytes of vectors that are kept: some 20,000 sentences of one layer of a small encoder."""
OVERHEAD = 500
"""Bytes that an entry takes besides its arrays, about."""
Elsewhere = Callable[[tuple[int, ...], list[list[str]]], Iterable[tuple[int, Sequence[Encoding]]]]
"""Who encodes batches with these layers in place of this process: position and encodings of each, in any order."""


class Memory:
    """Encodings by (encoder signature, text), the least recently used dropped first."""

    def __init__(self, bound: int = BOUND) -> None:
        self.bound = bound
        self.bytes = 0
        self._known: OrderedDict[tuple[str, str], Encoding] = OrderedDict()
        self._expected: dict[str, set[int]] = {}

    @contextmanager
    def expecting(self, wanted: Iterable[tuple[Encoder, Sequence[int]]]) -> Iterator[None]:
        """While this holds, whoever asks for a layer of an encoder gets all of these with it, in one pass."""
        for encoder, layers in wanted:
            self._expected.setdefault(encoder.signature, set()).update(layers)
        try:
            yield
        finally:
            self._expected.clear()

    def __len__(self) -> int:
        return len(self._known)

    def encode(
        self, encoder: Encoder, texts: Sequence[str], layers: Iterable[int], elsewhere: Elsewhere | None = None
    ) -> Vectors:
        """The encodings of texts with at least these layers; only what is not known is computed, here or elsewhere.

        Where some layers of a text are known and others are not, the text is encoded again with all of them, so that
        one pass through the model gives every layer.
        """
        signature = encoder.signature
        wanted = set(layers) | self._expected.get(signature, set())
        found: dict[str, Encoding] = {}
        missing: dict[tuple[int, ...], list[str]] = {}
        for text in dict.fromkeys(texts):
            known = self._known.get((signature, text))
            if known is not None and wanted <= known.layers.keys():
                self._known.move_to_end((signature, text))
                found[text] = known
            else:
                every = wanted if known is None else wanted | known.layers.keys()
                missing.setdefault(tuple(sorted(every)), []).append(text)
        for asked, some in missing.items():
            some.sort(key=lambda text: (-len(text), text))
            step = encoder.limits.texts
            batches = [some[start : start + step] for start in range(0, len(some), step)]
            made = (
                elsewhere(asked, batches) if elsewhere else enumerate(encoder.encode(part, asked) for part in batches)
            )
            for place, encodings in made:
                for text, encoding in zip(batches[place], encodings, strict=True):
                    found[text] = encoding
                    self._keep((signature, text), encoding)
        return found

    def clear(self) -> None:
        """Forget everything."""
        self._known.clear()
        self.bytes = 0

    def _keep(self, key: tuple[str, str], encoding: Encoding) -> None:
        size = size_of(key, encoding)
        if (old := self._known.pop(key, None)) is not None:
            self.bytes -= size_of(key, old)
        if size > self.bound:
            return
        self._known[key] = encoding
        self.bytes += size
        while self.bytes > self.bound:
            oldest, dropped = self._known.popitem(last=False)
            self.bytes -= size_of(oldest, dropped)


def size_of(key: tuple[str, str], encoding: Encoding) -> int:
    """The bytes that an entry takes: its arrays, its text, and some for the objects around them."""
    return encoding.nbytes + len(key[1]) + OVERHEAD
