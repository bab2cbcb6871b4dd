"""Studies: protocols that perturb, translate or score, and compare; each leaves a run behind."""
