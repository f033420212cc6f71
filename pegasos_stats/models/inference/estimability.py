"""Estimability: which combinations of the coefficients the training rows determine.

A column that is constant beside the intercept, or a combination of the columns before
it, changes no score of a training row that they do not change. Such a column is left
out, as in R: its coefficient is not estimable. A prediction is estimable if its row
obeys the same equations as the training rows; that of an empty cell of an interaction
does not.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from pegasos_stats.arrays import Integers, Mask, Matrix, Vector
from pegasos_stats.errors import listing

LISTED = 3  # names in a sentence
ROUNDING = 1e-12  # of a value that is constant in the training rows
NORMAL_EQUATIONS = 1e-6  # of a combination of columns, which is computed


@dataclass(frozen=True, eq=False)
class NullSpace:
    """Directions of the ``k`` coefficients that change no score of a training row.

    Attributes
    ----------
    names : tuple of str, length q
        The columns that are left out.
    columns : int array, shape (q,)
        Their places among the coefficients, the intercept first.
    directions : float64 array, shape (k, q)
        Each is 1 at its own column and 0 at the others that are left out.
    """

    names: tuple[str, ...]
    columns: Integers
    directions: Matrix

    _field_rules = "names q, columns q nonnegative, directions kq finite"

    @classmethod
    def of_constants(
        cls, names: Sequence[str], constant: Mask, values: Vector, intercept: bool
    ) -> "NullSpace":
        """That of columns with one value in all rows, shapes (p,).

        Examples
        --------
        >>> mask, values = np.array([False, True]), np.array([0.0, 3.0])
        >>> found = NullSpace.of_constants(["x", "c"], mask, values, True)
        >>> found.directions.T
        array([[-3.,  0.,  1.]])
        >>> found.broken_by(np.array([[1.0, 5.0, 3.0], [1.0, 5.0, 0.0]])).ravel()
        array([False,  True])
        """
        first, chosen = int(intercept), np.flatnonzero(constant)
        directions = np.zeros((len(constant) + first, len(chosen)))
        directions[chosen + first, np.arange(len(chosen))] = 1.0
        if intercept:
            directions[0] = -values[chosen]
        return cls(tuple(names[int(j)] for j in chosen), chosen + first, directions)

    def mask(self) -> Mask:
        """Coefficients that are not estimable, shape (k,)."""
        found = np.zeros(len(self.directions), dtype=bool)
        found[self.columns] = True
        return found

    def broken_by(self, R: Matrix) -> Mask:
        """Which equations of the training rows new rows break, shape (m, q)."""
        size = np.abs(R) @ np.abs(self.directions)
        rounding = np.where(self._are_constant, ROUNDING, NORMAL_EQUATIONS)
        return np.asarray(np.abs(R @ self.directions) > rounding * size)

    @property
    def _are_constant(self) -> Mask:
        """Columns that are a multiple of the first one, the intercept, shape (q,)."""
        return np.asarray((self.directions[1:] != 0.0).sum(axis=0) <= 1)

    def undetermined(self, R: Matrix) -> Mask:
        """New rows that break an equation of the training rows, shape (m,)."""
        return np.asarray(self.broken_by(R).any(axis=1))

    def hypothesised(self, R: Matrix) -> Mask:
        """The same of hypotheses about coefficients, shape (m, q).

        Those without a column that is left out are about the fit without it.
        """
        return np.asarray(self.broken_by(R) & (R[:, self.columns] != 0.0))

    def reason(self, broken: Mask | None = None, nothing: str = "NaN") -> str:
        """Why estimates are NaN, by the equations that they break, shape (m, q)."""
        if broken is None:
            broken = np.ones((1, len(self.columns)), dtype=bool)
        involved = np.asarray(broken.any(axis=0))
        own = [self.names[i] for i in np.flatnonzero(involved)]
        what = "constant"
        if not self._are_constant[involved].all():
            what += " or a combination of other predictors"
        verb = "is" if len(own) == 1 else "are"
        return (
            f"{nothing}: not estimable, as {listing(own, LISTED)} {verb} {what} in the "
            "training data."
        )

    def _conditions(self) -> Iterator[object]:
        """The columns are coefficients."""
        yield (self.columns < len(self.directions)).all()
