"""Run the command line by ``python -m pegasos_stats``."""

import sys

from pegasos_stats.output.cli import main

sys.exit(main())
