"""Moves: what may be done to a word. Each proposes all its candidates for given places of a sentence."""

from babelquake.attacks.moves.base import Move
from babelquake.attacks.moves.characters import DeleteLetter, InsertLetter, SubstituteLetter, SwapLetters
from babelquake.attacks.moves.inflating import Attach, TakeReferenceWord
from babelquake.attacks.moves.masks import MaskInsert, MaskMerge, MaskReplace
from babelquake.attacks.moves.words import DeleteWord, SwapNeighbour

__all__ = [
    "Attach",
    "DeleteLetter",
    "DeleteWord",
    "InsertLetter",
    "MaskInsert",
    "MaskMerge",
    "MaskReplace",
    "Move",
    "SubstituteLetter",
    "SwapLetters",
    "SwapNeighbour",
    "TakeReferenceWord",
]
