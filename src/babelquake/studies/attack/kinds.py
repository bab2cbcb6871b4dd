"""The numbers of the attack study."""

from babelquake.runs.measures import Kind

SUCCESS = Kind("success", unit="% of sentences", better="down", paper="Huang 2023 Tables 1 and 2")
QUERIES = Kind("queries", unit="questions to the victim per sentence", paper="Huang 2023 §2.2")
QUERIES_PER_SUCCESS = Kind("queries_per_success", unit="questions to the victim")
WORDS_CHANGED = Kind("words_changed", unit="words, median of eligible perturbations")
EDIT_SHARE = Kind("edit_share", unit="% of edits")
GAIN = Kind("gain", unit="standard deviations of the victim, median of eligible perturbations", better="down")
MEAN_RISE = Kind("mean_rise", unit="standard deviations of the victim, mean of all sentences", better="down")
LENGTH = Kind("length", unit="words, mean", paper="Huang 2023 Figure 3")
SHORTER = Kind("shorter", unit="words, difference of means", paper="Huang 2023 §3.1")
TRANSFER = Kind("transfer", unit="% of eligible perturbations", better="down")
TRANSFER_DROP = Kind("transfer_drop", unit="standard deviations, mean", better="down")
PEARSON_ORIGINAL = Kind("pearson_original", unit="Pearson's r", better="up", paper="Huang 2023 Figure 2")
PEARSON_PERTURBED = Kind("pearson_perturbed", unit="Pearson's r", better="up", paper="Huang 2023 Figure 2")
DEGRADATION = Kind("degradation", unit="standard deviations, median", better="down", paper="Huang 2023 Figure 5")
DEGRADATION_HUMAN = Kind("degradation_human", unit="standard deviations, median", paper="Huang 2023 Figure 5")
OVERPENALISED = Kind("overpenalised", unit="metric less human, medians", better="down", paper="Huang 2023 Figure 5")
SPREAD = Kind("spread", unit="sd of the metric's over sd of humans' degradation", paper="Huang 2023 §3.1")
CELLS = Kind("cells_overpenalised", unit="cells with p < 0.05", better="down", paper="Huang 2023 §3.1")
