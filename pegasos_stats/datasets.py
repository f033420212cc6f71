"""Alias of `pegasos_stats.data.datasets`."""

import sys

from pegasos_stats.data import datasets

sys.modules[__name__] = datasets
