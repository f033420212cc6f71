"""``python -m pegasos_stats`` is the command line."""

import sys

from pegasos_stats.output.cli import main

sys.exit(main())
