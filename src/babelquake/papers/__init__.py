"""The papers' tables as data, and the studies that measure them again."""

from babelquake.papers.paper import Paper, PaperTable, paper, paper_names
from babelquake.papers.reproducing import Cell, Reproduction, reproduce, restored

__all__ = ["Cell", "Paper", "PaperTable", "Reproduction", "paper", "paper_names", "reproduce", "restored"]
