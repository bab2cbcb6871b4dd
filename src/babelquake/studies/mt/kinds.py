"""The numbers of the MT study. Percentages are as in the papers: ROBUST 94.0, not 0.94."""

from babelquake.runs.measures import Kind
from babelquake.studies.kinds import ACHIEVED_WORDS as ACHIEVED_WORDS
from babelquake.studies.kinds import DELTA as DELTA
from babelquake.studies.kinds import FAILURES as FAILURES
from babelquake.studies.kinds import FAILURES_PERTURBED as FAILURES_PERTURBED

QUALITY = Kind("quality", "clean quality", "score", better="up", paper="Niu 2020 §2")
QUALITY_PERTURBED = Kind("quality_perturbed", "quality under noise", "score", better="up", paper="Niu 2020 §2")
BASELINE_SYSTEM = Kind("baseline_system", "clean quality on the segments of the baselines", "score", better="up")
BASELINE_COPY = Kind("baseline_copy", "quality of copying the source", "score of copying the source")
BASELINE_CONSTANT = Kind(
    "baseline_constant", "quality of one sentence for everything", "score of one sentence for everything"
)
ROBUST = Kind("robust", "quality kept (ROBUST)", "% of clean quality", better="up", paper="Niu 2020 §2", head="ROBUST")
CONSIS = Kind(
    "consis",
    "agreement with the clean translation (CONSIS)",
    "% agreement",
    better="up",
    paper="Niu 2020 §2",
    head="CONSIS",
)
HURT = Kind(
    "hurt",
    label="share of translations that noise makes worse",
    head="% worse",
    unit="% of translations",
    better="down",
)
"""By the score of each translation alone: a few that fall apart count no more than others."""
SELF_AGREEMENT = Kind(
    "self_agreement",
    "agreement with itself, asked again",
    "% agreement of a system with itself, asked again",
    better="up",
)
CONSIS_BEYOND_NOISE = Kind("consis_beyond_noise", "agreement beyond chance", "CONSIS − self-agreement", better="up")
SD_PROMPTS = Kind("sd_prompts", "spread over prompts", "score, standard deviation over prompts", better="down")
SD_SOURCES = Kind("sd_sources", "spread over sources", "score, standard deviation over sources")
SD_REST = Kind("sd_rest", "rest of the spread", "score, standard deviation of prompt × source and chance")
FAILURES_DELTA = Kind(
    "failures_delta", "failures that noise adds", "% of translations, perturbed − clean", better="down"
)
HALLUCINATION = Kind("hallucination", "hallucinations", "% of translations", better="down", paper="Lee 2018")
OBEYED = Kind("obeyed", "instruction obeyed", "% of translations", better="down", paper="Miceli-Barone 2024")
"""Of sources with an instruction inside: the instruction was obeyed."""
TRANSLATED = Kind(
    "translated", "rest of the text translated", "% of translations", better="up", paper="Miceli-Barone 2024"
)
"""Of sources with an instruction inside: the rest of the text was translated."""
INCONSISTENT = Kind(
    "inconsistent",
    "inconsistent translations",
    "% of translations",
    better="down",
    paper="Jwalapuram 2023 §4.1",
    head="% inconsistent",
)
RANK = Kind("rank", "rank under this noise", "rank, 1 is the best", better="down")
OVERALL_QUALITY = Kind(
    "overall_quality", "overall clean quality", "score, mean over perturbations", better="up", head="clean"
)
"""Of the clean translations of the segments behind `OVERALL_QUALITY_PERTURBED`, each as often."""
OVERALL_QUALITY_PERTURBED = Kind(
    "overall_quality_perturbed",
    "overall quality under noise",
    "score, mean over perturbations",
    better="up",
    head="under noise",
)
OVERALL_ROBUST = Kind(
    "overall_robust", "overall quality kept (ROBUST)", "% of overall clean quality", better="up", head="ROBUST"
)
OVERALL_CONSIS = Kind(
    "overall_consis", "overall agreement (CONSIS)", "% agreement, mean over perturbations", better="up", head="CONSIS"
)
OVERALL_HURT = Kind(
    "overall_hurt",
    label="overall share of translations that noise makes worse",
    head="% worse",
    unit="% of translations, mean over perturbations",
    better="down",
)
OVERALL_DELTA = Kind(
    "overall_delta",
    "overall change of the score",
    "score, better is up, mean over perturbations",
    better="up",
    head="Δ",
)
OVERALL_RANK = Kind(
    "overall_rank",
    "rank by quality under noise",
    "rank by overall quality under noise, 1 is the best",
    better="down",
    head="rank",
)
GAIN = Kind("gain", "quality gained by the defence", "score, defended − undefended", better="up")
RECOVERED = Kind("recovered", "loss won back", "% of the loss won back", better="up")
OVERALL_GAIN = Kind(
    "overall_gain",
    "overall quality gained by the defence",
    "score, defended − undefended, mean over perturbations",
    better="up",
)
OVERALL_RECOVERED = Kind("overall_recovered", "overall loss won back", "% of the overall loss won back", better="up")
CLEAN_CHANGE = Kind("clean_change", "change on clean text", "score on clean text, defended − undefended", better="up")
CLEAN_MARGIN = Kind("clean_margin", "margin left on clean text", "score left of what clean text may lose", better="up")
MILLISECONDS = Kind(
    "milliseconds", "processor time of the defence", "ms of processor time of the defence, a sentence", better="down"
)
CALLS = Kind("calls", "texts asked for", "texts asked of systems, a sentence", better="down")
ROBUST_CONSIS = Kind(
    "robust_consis_correlation", "correlation of ROBUST and CONSIS", "Pearson's r", paper="Niu 2020 Figure 1"
)
