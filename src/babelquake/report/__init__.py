"""Reads finished runs: HTML, Markdown, LaTeX, plots. Computes no scores."""
