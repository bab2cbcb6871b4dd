"""The numbers of the MT study. Percentages are as in the papers: ROBUST 94.0, not 0.94."""

from babelquake.runs.measures import Kind
from babelquake.studies.kinds import ACHIEVED_WORDS as ACHIEVED_WORDS
from babelquake.studies.kinds import DELTA as DELTA
from babelquake.studies.kinds import FAILURES as FAILURES
from babelquake.studies.kinds import FAILURES_PERTURBED as FAILURES_PERTURBED

QUALITY = Kind("quality", label="clean quality", unit="score", better="up", paper="Niu 2020 §2")
QUALITY_PERTURBED = Kind(
    "quality_perturbed", label="quality under noise", unit="score", better="up", paper="Niu 2020 §2"
)
BASELINE_SYSTEM = Kind(
    "baseline_system", label="clean quality on the segments of the baselines", unit="score", better="up"
)
BASELINE_COPY = Kind("baseline_copy", label="quality of copying the source", unit="score of copying the source")
BASELINE_CONSTANT = Kind(
    "baseline_constant", label="quality of one sentence for everything", unit="score of one sentence for everything"
)
ROBUST = Kind(
    "robust",
    label="quality kept (ROBUST)",
    head="ROBUST",
    unit="% of clean quality",
    better="up",
    needs="ratio scale",
    paper="Niu 2020 §2",
)
CONSIS = Kind(
    "consis",
    label="agreement with the clean translation (CONSIS)",
    head="CONSIS",
    unit="% agreement",
    better="up",
    needs="ratio scale",
    paper="Niu 2020 §2",
)
SELF_AGREEMENT = Kind(
    "self_agreement",
    label="agreement with itself, asked again",
    unit="% agreement of a system with itself, asked again",
    better="up",
)
CONSIS_BEYOND_NOISE = Kind(
    "consis_beyond_noise", label="agreement beyond chance", unit="CONSIS − self-agreement", better="up"
)
SD_PROMPTS = Kind(
    "sd_prompts", label="spread over prompts", unit="score, standard deviation over prompts", better="down"
)
SD_SOURCES = Kind("sd_sources", label="spread over sources", unit="score, standard deviation over sources")
SD_REST = Kind("sd_rest", label="rest of the spread", unit="score, standard deviation of prompt × source and chance")
FAILURES_DELTA = Kind(
    "failures_delta", label="failures that noise adds", unit="% of translations, perturbed − clean", better="down"
)
HALLUCINATION = Kind("hallucination", label="hallucinations", unit="% of translations", better="down", paper="Lee 2018")
OBEYED = Kind("obeyed", label="instruction obeyed", unit="% of translations", better="down", paper="Miceli-Barone 2024")
"""Of sources with an instruction inside: the instruction was obeyed."""
TRANSLATED = Kind(
    "translated", label="rest of the text translated", unit="% of translations", better="up", paper="Miceli-Barone 2024"
)
"""Of sources with an instruction inside: the rest of the text was translated."""
INCONSISTENT = Kind(
    "inconsistent",
    label="inconsistent translations",
    head="% inconsistent",
    unit="% of translations",
    better="down",
    paper="Jwalapuram 2023 §4.1",
)
RANK = Kind("rank", label="rank under this noise", unit="rank, 1 is the best", better="down")
OVERALL_QUALITY = Kind(
    "overall_quality", label="overall clean quality", head="clean", unit="score, mean over perturbations", better="up"
)
"""Of the clean translations of the segments behind `OVERALL_QUALITY_PERTURBED`, each as often."""
OVERALL_QUALITY_PERTURBED = Kind(
    "overall_quality_perturbed",
    label="overall quality under noise",
    head="under noise",
    unit="score, mean over perturbations",
    better="up",
)
OVERALL_ROBUST = Kind(
    "overall_robust",
    label="overall quality kept (ROBUST)",
    head="ROBUST",
    unit="% of overall clean quality",
    better="up",
    needs="ratio scale",
)
OVERALL_CONSIS = Kind(
    "overall_consis",
    label="overall agreement (CONSIS)",
    head="CONSIS",
    unit="% agreement, mean over perturbations",
    better="up",
)
OVERALL_DELTA = Kind(
    "overall_delta",
    label="overall change of the score",
    head="Δ",
    unit="score, better is up, mean over perturbations",
    better="up",
)
OVERALL_RANK = Kind(
    "overall_rank",
    label="rank by quality under noise",
    head="rank",
    unit="rank by overall quality under noise, 1 is the best",
    better="down",
)
GAIN = Kind("gain", label="quality gained by the defence", unit="score, defended − undefended", better="up")
RECOVERED = Kind("recovered", label="loss won back", unit="% of the loss won back", better="up")
OVERALL_GAIN = Kind(
    "overall_gain",
    label="overall quality gained by the defence",
    unit="score, defended − undefended, mean over perturbations",
    better="up",
)
OVERALL_RECOVERED = Kind(
    "overall_recovered", label="overall loss won back", unit="% of the overall loss won back", better="up"
)
CLEAN_CHANGE = Kind(
    "clean_change", label="change on clean text", unit="score on clean text, defended − undefended", better="up"
)
CLEAN_MARGIN = Kind(
    "clean_margin", label="margin left on clean text", unit="score left of what clean text may lose", better="up"
)
MILLISECONDS = Kind(
    "milliseconds",
    label="processor time of the defence",
    unit="ms of processor time of the defence, a sentence",
    better="down",
)
CALLS = Kind("calls", label="texts asked for", unit="texts asked of systems, a sentence", better="down")
ROBUST_CONSIS = Kind(
    "robust_consis_correlation", label="correlation of ROBUST and CONSIS", unit="Pearson's r", paper="Niu 2020 Figure 1"
)
