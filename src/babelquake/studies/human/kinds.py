"""The numbers of the study `human`."""

from babelquake.runs.measures import Kind

RATING = Kind("rating", unit="points of 100", better="up", paper="Huang 2023 Appendix A")
RATING_Z = Kind("rating_z", unit="standardised rating", better="up", paper="Huang 2023 Appendix A")
RATING_LOSS = Kind("rating_loss", unit="standardised rating, original − perturbed", paper="Huang 2023 Figure 5")
ALPHA = Kind("krippendorff_alpha", unit="Krippendorff's α", better="up")
ANNOTATOR_PEARSON = Kind("annotator_pearson", unit="Pearson's r", better="up")
ANNOTATOR_KENDALL = Kind("annotator_kendall", unit="Kendall's τ", better="up")
RATINGS_KEPT = Kind("ratings_kept", unit="% of ratings, after quality control", better="up")
HITS_PASSED = Kind("hits_passed", unit="% of tasks", better="up", paper="Huang 2023 Appendix A")
ANNOTATORS_PASSED = Kind("annotators_passed", unit="% of annotators", better="up")
SECONDS = Kind("seconds_per_rating", unit="s, median")
