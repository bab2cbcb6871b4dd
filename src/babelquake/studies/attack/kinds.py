"""The numbers of the attack study."""

from babelquake.runs.measures import Kind

SUCCESS = Kind(
    "success",
    label="sentences with a successful attack",
    head="% successful",
    unit="% of sentences",
    better="down",
    paper="Huang 2023 Tables 1 and 2",
)
QUERIES = Kind(
    "queries",
    label="questions to the victim",
    head="questions",
    unit="questions to the victim per sentence",
    paper="Huang 2023 §2.2",
)
QUERIES_PER_SUCCESS = Kind(
    "queries_per_success", label="questions per success", head="per success", unit="questions to the victim"
)
WORDS_CHANGED = Kind(
    "words_changed", label="words changed", head="words", unit="words, median of eligible perturbations"
)
EDIT_SHARE = Kind("edit_share", label="share of edits", unit="% of edits")
GAIN = Kind(
    "gain",
    label="effect of a successful attack",
    head="effect",
    unit="standard deviations of the victim, median of eligible perturbations",
    better="down",
)
MEAN_RISE = Kind(
    "mean_rise",
    label="mean rise of the score",
    head="mean rise",
    unit="standard deviations of the victim, mean of all sentences",
    better="down",
)
LENGTH = Kind("length", label="words per text", unit="words, mean", paper="Huang 2023 Figure 3")
SHORTER = Kind("shorter", label="words fewer", unit="words, difference of means", paper="Huang 2023 §3.1")
TRANSFER = Kind("transfer", label="attacks that fool another metric", unit="% of eligible perturbations", better="down")
TRANSFER_DROP = Kind("transfer_drop", label="effect on another metric", unit="standard deviations, mean", better="down")
PEARSON_ORIGINAL = Kind(
    "pearson_original",
    label="agreement with people, original texts",
    unit="Pearson's r",
    better="up",
    paper="Huang 2023 Figure 2",
)
PEARSON_PERTURBED = Kind(
    "pearson_perturbed",
    label="agreement with people, attacked texts",
    unit="Pearson's r",
    better="up",
    paper="Huang 2023 Figure 2",
)
DEGRADATION = Kind(
    "degradation",
    label="loss that the metric sees",
    unit="standard deviations, median",
    better="down",
    paper="Huang 2023 Figure 5",
)
DEGRADATION_HUMAN = Kind(
    "degradation_human", label="loss that people see", unit="standard deviations, median", paper="Huang 2023 Figure 5"
)
OVERPENALISED = Kind(
    "overpenalised",
    label="loss beyond what people see",
    unit="metric less human, medians",
    better="down",
    paper="Huang 2023 Figure 5",
)
SPREAD = Kind(
    "spread",
    label="spread beside people's",
    unit="sd of the metric's over sd of humans' degradation",
    paper="Huang 2023 §3.1",
)
CELLS = Kind(
    "cells_overpenalised",
    label="cells that go further than people",
    unit="cells with p < 0.05",
    better="down",
    paper="Huang 2023 §3.1",
)
