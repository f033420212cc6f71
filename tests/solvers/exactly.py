"""The regularised risk of given numbers in exact, or nearly exact, arithmetic."""

from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
from scipy.sparse import issparse

DIGITS = 60
TEN = Context(prec=DIGITS, Emax=10**6, Emin=-(10**6))


def fractions(values):
    """Every number as the fraction that it is."""
    return [Fraction(float(value)) for value in np.asarray(values).ravel()]


def rows_of(X):
    """Rows as lists of fractions."""
    return [fractions(row) for row in (X.toarray() if issparse(X) else np.asarray(X))]


def normalized(weights):
    """Weights divided by their mean."""
    given = fractions(weights)
    mean = sum(given) / len(given)
    return [w / mean for w in given]


def log_loss(m):
    """``log(1 + exp(-m))`` to some 40 digits at least, rounded to a fraction."""
    m = TEN.divide(Decimal(m.numerator), Decimal(m.denominator))
    if m < -200:
        return Fraction(-m)
    e = TEN.exp(-m)
    if e < Decimal("1e-25"):
        return Fraction(e - e * e / 2)
    return Fraction(TEN.ln(TEN.add(Decimal(1), e)))


def risk(rows, y, lam, loss, weights, beta, alpha):
    """``lam/2 ||beta||^2 + mean w_i loss(y_i (x_i'beta + alpha))``, a fraction.

    Parameters
    ----------
    rows, weights : as `rows_of` and `fractions` make them
    y : of -1 and +1
    lam : float
    loss : "hinge" or "log"
    beta, alpha : fractions
    """
    total = Fraction(0)
    for row, sign, w in zip(rows, y, weights, strict=True):
        m = int(sign) * (sum(x * b for x, b in zip(row, beta, strict=True)) + alpha)
        total += w * (max(Fraction(0), 1 - m) if loss == "hinge" else log_loss(m))
    return Fraction(lam) / 2 * sum(b * b for b in beta) + total / len(rows)
