"""`python -m babelquake`."""

from babelquake.cli import main

main()
