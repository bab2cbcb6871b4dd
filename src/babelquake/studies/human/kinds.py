"""The numbers of the study `human`."""

from babelquake.runs.measures import Kind

RATING = Kind("rating", "rating", "points of 100", better="up", paper="Huang 2023 Appendix A")
RATING_Z = Kind(
    "rating_z", "standardised rating", "standardised rating", better="up", paper="Huang 2023 Appendix A", head="z"
)
RATING_LOSS = Kind(
    "rating_loss", "loss of rating", "standardised rating, original − perturbed", paper="Huang 2023 Figure 5"
)
SUGGESTION_EFFECT = Kind("suggestion_effect", "effect of suggestions", "with suggestions − without, per translation")
SUGGESTIONS_ACCEPTED = Kind("suggestions_accepted", "suggestions accepted", "% of suggestions shown")
ALPHA = Kind("krippendorff_alpha", "Krippendorff's α", "Krippendorff's α", better="up")
ANNOTATOR_PEARSON = Kind("annotator_pearson", "Pearson's r of two annotators", "Pearson's r", better="up")
ANNOTATOR_KENDALL = Kind("annotator_kendall", "Kendall's τ of two annotators", "Kendall's τ", better="up")
RATINGS_KEPT = Kind("ratings_kept", "ratings kept", "% of ratings, after quality control", better="up")
HITS_PASSED = Kind(
    "hits_passed", "tasks that passed quality control", "% of tasks", better="up", paper="Huang 2023 Appendix A"
)
ANNOTATORS_PASSED = Kind("annotators_passed", "annotators who passed quality control", "% of annotators", better="up")
SECONDS = Kind("seconds_per_rating", "seconds per rating", "s, median")
