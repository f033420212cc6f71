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


def loss_of(loss, m):
    """The loss at a margin, a fraction."""
    if loss == "log":
        return log_loss(m)
    short = max(Fraction(0), 1 - m)
    return short if loss == "hinge" else short * short


def risk(rows, y, lam, loss, weights, beta, alpha):
    """``lam/2 ||beta||^2 + mean w_i loss(y_i (x_i'beta + alpha))``, a fraction.

    Parameters
    ----------
    rows, weights : as `rows_of` and `fractions` make them
    y : of -1 and +1
    lam : float
    loss : "hinge", "log" or "squared_hinge"
    beta, alpha : fractions
    """
    total = Fraction(0)
    for row, sign, w in zip(rows, y, weights, strict=True):
        m = int(sign) * (sum(x * b for x, b in zip(row, beta, strict=True)) + alpha)
        total += w * loss_of(loss, m)
    return Fraction(lam) / 2 * sum(b * b for b in beta) + total / len(rows)


def entropy(share):
    """``-p log p - (1 - p) log(1 - p)`` to some 40 digits."""
    if share in (0, 1):
        return Fraction(0)
    p = TEN.divide(Decimal(share.numerator), Decimal(share.denominator))
    q = TEN.subtract(Decimal(1), p)
    terms = [TEN.multiply(s, TEN.ln(s)) for s in (p, q)]
    return -Fraction(terms[0]) - Fraction(terms[1])


def both_objectives(problem, beta, alpha, a):
    """Primal, and dual at weights in balance, as they are defined: fractions."""
    rows, lam, n = rows_of(problem.X), Fraction(problem.lam), problem.n
    given = problem.y, problem.row_weights, problem.row_offsets
    y, w, o = (fractions(v) for v in given)
    b, a, hinge = fractions(beta), fractions(a), problem.loss == "hinge"
    # an offset is a column of coefficient 1 that has no penalty
    moved = [[*row, known] for row, known in zip(rows, o, strict=True)]
    at = [*b, Fraction(1)], Fraction(alpha)
    primal = risk(moved, y, problem.lam, problem.loss, w, *at) - lam / 2
    reward = Fraction(0)
    for each, sign, weight, known in zip(a, y, w, o, strict=True):
        if weight:
            value = each if hinge else weight * entropy(each / weight)
            reward += value - each * sign * known
    image = [
        sum(each * sign * x for each, sign, x in zip(a, y, column, strict=True))
        for column in zip(*rows, strict=True)
    ]
    return primal, reward / n - sum(v * v for v in image) / (2 * lam * n * n)
