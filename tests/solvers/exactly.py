"""The regularised risk of given numbers in exact, or nearly exact, arithmetic."""

from decimal import Context, Decimal
from fractions import Fraction

import numpy as np
from scipy.sparse import issparse

DIGITS = 60
TEN = Context(prec=DIGITS, Emax=10**6, Emin=-(10**6))


def fractions(values):
    """Every number as the fraction that it is, in an array of its shape."""
    values = values.toarray() if issparse(values) else np.asarray(values)
    given = [Fraction(float(value)) for value in values.ravel()]
    return np.array(given, dtype=object).reshape(values.shape)


def signs_of(y):
    """Signs as whole numbers of Python."""
    return np.asarray(y, dtype=int).astype(object)


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
    rows, weights, beta, alpha : fractions
    y : of -1 and +1
    lam : float
    loss : "hinge", "log" or "squared_hinge"
    """
    losses = [loss_of(loss, m) for m in signs_of(y) * (rows @ beta + alpha)]
    return Fraction(lam) / 2 * (beta @ beta) + weights @ losses / len(rows)


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
    rows, y, beta, a = map(fractions, (problem.X, problem.y, beta, a))
    w, known = map(fractions, (problem.row_weights, problem.row_offsets))
    lam, n = Fraction(problem.lam), problem.n
    # an offset is a column of coefficient 1 that has no penalty
    moved, at = np.column_stack([rows, known]), (np.append(beta, 1), Fraction(alpha))
    primal = risk(moved, y, problem.lam, problem.loss, w, *at) - lam / 2
    rewards = a
    if problem.loss == "log":
        shares = [e / v if v else Fraction(0) for e, v in zip(a, w, strict=True)]
        rewards = w * [entropy(share) for share in shares]
    image = (a * y) @ rows / n
    return primal, (rewards.sum() - a * y @ known) / n - image @ image / (2 * lam)
