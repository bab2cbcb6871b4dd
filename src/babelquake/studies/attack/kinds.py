"""The numbers of the attack study."""

from babelquake.runs.measures import Kind

SUCCESS = Kind(
    "success",
    "sentences with a successful attack",
    "% of sentences",
    better="down",
    paper="Huang 2023 Tables 1 and 2",
    head="% successful",
)
QUERIES = Kind(
    "queries",
    "questions to the victim",
    "questions to the victim per sentence",
    paper="Huang 2023 §2.2",
    head="questions",
)
QUERIES_PER_SUCCESS = Kind(
    "queries_per_success", "questions per success", "questions to the victim", head="per success"
)
WORDS_CHANGED = Kind("words_changed", "words changed", "words, median of eligible perturbations", head="words")
EDIT_SHARE = Kind("edit_share", "share of edits", "% of edits")
GAIN = Kind(
    "gain",
    "effect of a successful attack",
    "standard deviations of the victim, median of eligible perturbations",
    better="down",
    head="effect",
)
MEAN_RISE = Kind(
    "mean_rise",
    "mean rise of the score",
    "standard deviations of the victim, mean of all sentences",
    better="down",
    head="mean rise",
)
LENGTH = Kind("length", "words per text", "words, mean", paper="Huang 2023 Figure 3")
SHORTER = Kind("shorter", "words fewer", "words, difference of means", paper="Huang 2023 §3.1")
TRANSFER = Kind("transfer", "attacks that fool another metric", "% of eligible perturbations", better="down")
TRANSFER_DROP = Kind("transfer_drop", "effect on another metric", "standard deviations, mean", better="down")
PEARSON_ORIGINAL = Kind(
    "pearson_original", "agreement with people, original texts", "Pearson's r", better="up", paper="Huang 2023 Figure 2"
)
PEARSON_PERTURBED = Kind(
    "pearson_perturbed",
    "agreement with people, attacked texts",
    "Pearson's r",
    better="up",
    paper="Huang 2023 Figure 2",
)
DEGRADATION = Kind(
    "degradation",
    "loss that the metric sees",
    "standard deviations, median",
    better="down",
    paper="Huang 2023 Figure 5",
)
DEGRADATION_HUMAN = Kind(
    "degradation_human", "loss that people see", "standard deviations, median", paper="Huang 2023 Figure 5"
)
OVERPENALISED = Kind(
    "overpenalised",
    "loss beyond what people see",
    "metric less human, medians",
    better="down",
    paper="Huang 2023 Figure 5",
)
SPREAD = Kind(
    "spread", "spread beside people's", "sd of the metric's over sd of humans' degradation", paper="Huang 2023 §3.1"
)
CELLS = Kind(
    "cells_overpenalised",
    "cells that go further than people",
    "cells with p < 0.05",
    better="down",
    paper="Huang 2023 §3.1",
)
