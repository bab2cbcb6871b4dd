"""The numbers of the study `human`."""

from babelquake.runs.measures import Kind

RATING = Kind("rating", label="rating", unit="points of 100", better="up", paper="Huang 2023 Appendix A")
RATING_Z = Kind(
    "rating_z",
    label="standardised rating",
    head="z",
    unit="standardised rating",
    better="up",
    paper="Huang 2023 Appendix A",
)
RATING_LOSS = Kind(
    "rating_loss", label="loss of rating", unit="standardised rating, original − perturbed", paper="Huang 2023 Figure 5"
)
SUGGESTION_EFFECT = Kind(
    "suggestion_effect", label="effect of suggestions", unit="with suggestions − without, per translation"
)
SUGGESTIONS_ACCEPTED = Kind("suggestions_accepted", label="suggestions accepted", unit="% of suggestions shown")
ALPHA = Kind("krippendorff_alpha", label="Krippendorff's α", unit="Krippendorff's α", better="up")
ANNOTATOR_PEARSON = Kind("annotator_pearson", label="Pearson's r of two annotators", unit="Pearson's r", better="up")
ANNOTATOR_KENDALL = Kind("annotator_kendall", label="Kendall's τ of two annotators", unit="Kendall's τ", better="up")
RATINGS_KEPT = Kind("ratings_kept", label="ratings kept", unit="% of ratings, after quality control", better="up")
HITS_PASSED = Kind(
    "hits_passed",
    label="tasks that passed quality control",
    unit="% of tasks",
    better="up",
    paper="Huang 2023 Appendix A",
)
ANNOTATORS_PASSED = Kind(
    "annotators_passed", label="annotators who passed quality control", unit="% of annotators", better="up"
)
SECONDS = Kind("seconds_per_rating", label="seconds per rating", unit="s, median")
