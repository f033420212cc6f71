"""Two-level outcomes in data frames: support vector machines with R's numbers.

>>> import pegasos_stats as ps
>>> train, test = ps.datasets.load_digits56()
>>> result = ps.svm("digit ~ .", data=train, lam=1.0).fit(ps.Pegasos(seed=443))
>>> result.confusion(test).n_errors
1
"""

from pegasos_stats import datasets, errors
from pegasos_stats.confusion import ConfusionMatrix, confusion
from pegasos_stats.labels import LabelCoding
from pegasos_stats.model import SVM, svm
from pegasos_stats.results import Results
from pegasos_stats.rng import RRandom
from pegasos_stats.solvers import Pegasos

__version__ = "0.1.0"

__all__ = [
    "SVM",
    "ConfusionMatrix",
    "LabelCoding",
    "Pegasos",
    "RRandom",
    "Results",
    "confusion",
    "datasets",
    "errors",
    "svm",
]
