"""The fits of a path of lambda: their errors, the lambda chosen, figures."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_choice, whole_of
from pegasos_stats.errors import OptionError, counted, listing
from pegasos_stats.foreign_names import suggest_names
from pegasos_stats.models.base import Model
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.selection.fold_fits import at_lambda, for_all_rows
from pegasos_stats.studies.selection.fold_metrics import Metric, curve
from pegasos_stats.studies.selection.folds import Folds
from pegasos_stats.studies.selection.lambdas import RULES, Rule, place
from pegasos_stats.tables import Fields, Summary, significant

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 6  # coefficients with a name in the figure
MOST_LINES = 30  # of the summary


@suggest_names("path")
@dataclass(frozen=True, repr=False, eq=False)
class LambdaPath:
    """Fits for many values of lambda; made by `lambda_path`.

    Attributes
    ----------
    model : Model
    solver : Pegasos or SDCA
        Solver of the fits on all rows, with their seed.
    lambdas : float64 array, shape (m,)
        Largest first.
    folds : Folds or None
    seed : int or None
    metrics : tuple of Metric
    metric : str
        Name of the metric that the choice is by.
    fits : DataFrame
        One line for each lambda, of the fit on all rows: ``lam, objective,
        relative_gap, training_error, steps, norm`` (of the coefficients; with a
        kernel ``n_support``).
    coefficients : DataFrame, shape (m, p + 1), or None
        Intercept and coefficients of the fits on all rows, on the index ``lam``; of
        the standardized predictors with ``standardize=True``. None with a kernel.
    by_fold : DataFrame or None
        One line for each fold and lambda, as ``CrossValidation.by_fold``.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> model = ps.svm("digit ~ .", train)
    >>> path = ps.lambda_path(model, [10, 1], folds=5, seed=1)
    >>> path.table.columns[-3:].tolist()
    ['hinge_loss_se', 'auc', 'auc_se']
    >>> path.best_model("min").problem.lam == path.lambda_min
    True
    """

    model: Model
    solver: Pegasos | SDCA
    lambdas: Vector
    folds: Folds | None
    seed: int | None
    metrics: tuple[Metric, ...]
    metric: str
    fits: pd.DataFrame
    coefficients: pd.DataFrame | None
    by_fold: pd.DataFrame | None

    def tidy(self) -> pd.DataFrame:
        """Cross-validated metrics: ``lam, term, estimate, std_error``.

        Mean and standard error are those of ``CrossValidation.tidy()``.

        Raises
        ------
        OptionError
            If the path was not cross-validated.
        """
        return self._estimates.copy()

    @cached_property
    def _estimates(self) -> pd.DataFrame:
        lines, count = self._validated(), len(self.lambdas)
        names = [metric.name for metric in self.metrics]
        curves = [curve(lines, name, count) for name in names]
        estimate, error = np.array(curves).transpose(1, 2, 0)  # a line for each lambda
        columns = {
            "lam": np.repeat(self.lambdas, len(names)),
            "term": names * count,
            "estimate": estimate.ravel(),
            "std_error": error.ravel(),
        }
        return pd.DataFrame(columns)

    @cached_property
    def table(self) -> pd.DataFrame:
        """`fits` with mean and standard error of each metric, a row for each lambda.

        The columns of a metric have its name, and its name with ``_se``.
        """
        table = self.fits.copy()
        if self.by_fold is None:
            return table
        for metric in self.metrics:
            mean, error = self._curve(metric.name)
            table[metric.name], table[f"{metric.name}_se"] = mean, error
        return table

    @property
    def lambda_min(self) -> float:
        """Lambda with the best mean metric; for ties the largest.

        Raises
        ------
        OptionError
            If the path was not cross-validated, or the metric is not defined for any
            lambda.
        """
        return float(self.lambdas[self._best()])

    @property
    def lambda_1se(self) -> float:
        """Largest lambda whose mean metric is within one standard error of the best.

        Raises
        ------
        OptionError
            As for `lambda_min`; also for a single fold, which gives no standard error.
        """
        best = self._best()
        mean, error = self._curve(self.metric)
        if np.isnan(error[best]):
            raise OptionError(
                "There is no standard error with a single fold; give more folds, or "
                "take lambda_min."
            )
        return float(self.lambdas[place(self._signed(mean), error, "1se")])

    def by(self, metric: str) -> "LambdaPath":
        """Return the same path with lambda chosen by another metric.

        Raises
        ------
        OptionError
            If it is not among the metrics.
        """
        names = tuple(known.name for known in self.metrics)
        check_choice("metric", metric, names)
        return replace(self, metric=metric)

    def best_model(self, rule: Rule = "1se") -> Any:
        """Return the model at the chosen lambda, not yet fitted.

        Parameters
        ----------
        rule : "1se" or "min"
            `lambda_1se` or `lambda_min`.
        """
        check_choice("rule", rule, RULES)
        lam = self.lambda_min if rule == "min" else self.lambda_1se
        return at_lambda(self.model, lam)

    def refit(self, rule: Rule = "1se") -> Results:
        """Fit all rows at the chosen lambda, with the solver of the path.

        The fit does not start from the path, so that its seed alone repeats it; SDCA
        runs to a relative gap of 1e-6, or the smaller tolerance of the path.

        Parameters
        ----------
        rule : "1se" or "min"

        Warns
        -----
        ConvergenceWarning
            If SDCA does not reach its tolerance.
        """
        found: Results = self.best_model(rule).fit(for_all_rows(self.solver))
        return found

    def plot(self, *, ax: "Axes | None" = None, **line: object) -> "Axes":
        """Draw the metric against lambda, with standard errors and both choices.

        Parameters
        ----------
        ax : Axes, optional
            By default those of a new figure.
        **line
            Properties of the lines, such as ``color`` or ``label``.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        OptionError
            If the path was not cross-validated.
        """
        from pegasos_stats.output.plotting.curves import draw_curve

        mean, error = self._curve(self.metric)
        marks = self.marks()
        return draw_curve(self.lambdas, mean, error, self.metric, marks, ax, line)

    def plot_coefficients(
        self, *, named: int = SHOWN, ax: "Axes | None" = None, **line: object
    ) -> "Axes":
        """Draw coefficients against lambda; the intercept is left out.

        Of more than a thousand coefficients, those that are largest at the smallest
        lambda are drawn.

        Parameters
        ----------
        named : int, default 6
            Number of coefficients drawn in colour with their names: the largest at the
            smallest lambda.
        ax : Axes, optional
        **line
            Properties of the lines in colour.

        Raises
        ------
        DependencyError
            If matplotlib is not installed.
        OptionError
            If the model has a kernel.
        """
        from pegasos_stats.output.plotting.curves import draw_path

        if self.coefficients is None:
            raise OptionError("A kernel model has no coefficients; plot() the errors.")
        count = whole_of(named)
        if count is None or count < 0:
            cure = "give a whole number, 0 or more."
            raise OptionError(f"is not allowed; {cure}", "named", named)
        beta = self.coefficients.drop(columns="Intercept", errors="ignore")
        marks = {} if self.by_fold is None else self.marks()
        return draw_path(beta, min(count, beta.shape[1]), marks, ax, line)

    def summary(self) -> Summary:
        """Header, a row for each lambda, and notes; ``print()`` shows text."""
        marks = self.marks()
        table, notes = self._lines(marks), self._notes(marks)
        return Summary(["Lambda path"], table, notes, *self._header(marks))

    def _repr_html_(self) -> str:
        return self.summary().to_html()

    def __repr__(self) -> str:
        ends = f"{significant(self.lambdas[0])} to {significant(self.lambdas[-1])}"
        text = f"<LambdaPath: {counted(len(self.lambdas), 'lambda')}, {ends}"
        marks = "".join(
            f", lambda_{name} {significant(lam)}" for name, lam in self.marks().items()
        )
        return f"{text}{marks}, seed {self.seed}>"

    def _validated(self) -> pd.DataFrame:
        if self.by_fold is None:
            raise OptionError(
                "The path was not cross-validated; give folds=10 to lambda_path()."
            )
        return self.by_fold

    def _curve(self, name: str) -> tuple[Vector, Vector]:
        """Mean and standard error of a metric, for each lambda."""
        return curve(self._validated(), name, len(self.lambdas))

    def _signed(self, mean: Vector) -> Vector:
        """The metric as a loss: smaller is better."""
        found = next(metric for metric in self.metrics if metric.name == self.metric)
        return -mean if found.larger_is_better else mean

    def _best(self) -> int:
        """Position of `lambda_min`."""
        losses = self._signed(self._curve(self.metric)[0])
        if np.isnan(losses).all():
            raise OptionError(
                f"{self.metric} is defined in no fold; take one of "
                f"{listing([m.name for m in self.metrics if m.name != self.metric])}."
            )
        return place(losses, losses, "min")

    @property
    def is_best_at_largest(self) -> bool:
        """Whether `lambda_min` is the largest of the path."""
        return bool(self.lambda_min == self.lambdas[0])

    def marks(self) -> dict[str, float]:
        """Return `lambda_min` and `lambda_1se`, where defined, by their rules."""
        marks: dict[str, float] = {}
        if self.by_fold is None:
            return marks
        mean, error = self._curve(self.metric)
        if not np.isnan(mean).all():
            marks["min"] = self.lambda_min
            if not np.isnan(error[self._best()]):
                marks["1se"] = self.lambda_1se
        return marks

    def _header(self, marks: dict[str, float]) -> tuple[Fields, Fields]:
        """Left and right column: what was fitted and chosen, and how."""
        problem, gaps = self.model.problem, self.fits["relative_gap"]
        left = [
            ("Outcome:", self.model.coding.name),
            ("Loss:", problem.loss),
            ("No. Observations:", f"{problem.n:,}"),
            ("Deciding metric:", "none" if self.by_fold is None else self.metric),
            *[(f"lambda_{name}:", significant(v, 6)) for name, v in marks.items()],
        ]
        right = [
            ("Solver:", self.solver.name),
            ("Starts:", "warm" if self.solver.to_optimum else "zero"),
            ("Folds:", "none" if self.folds is None else self.folds.kind),
            ("Seed:", str(self.seed)),
            ("Largest relative gap:", significant(float(gaps.max()), 3)),
        ]
        return left, right

    def _lines(self, marks: dict[str, float]) -> pd.DataFrame:
        """Lines of the summary, as text: all, or evenly spaced ones and the marks."""
        m = len(self.lambdas)
        at = {round(i) for i in np.linspace(0, m - 1, min(m, MOST_LINES))}
        at |= {int(np.flatnonzero(self.lambdas == lam)[0]) for lam in marks.values()}
        names = ["norm" if "norm" in self.fits else "n_support", "training_error"]
        names += [] if self.by_fold is None else [self.metric, f"{self.metric}_se"]
        rows = self.table.iloc[sorted(at)]
        cells = {name: [significant(v) for v in rows[name]] for name in names}
        cells[""] = [
            ", ".join(name for name, lam in marks.items() if lam == v)
            for v in rows["lam"]
        ]
        return pd.DataFrame(cells, [significant(v) for v in rows["lam"]])

    def _notes(self, marks: dict[str, float]) -> list[str]:
        notes = ["norm and training_error are of the fits on all rows."]
        if self.by_fold is not None:
            notes.append(
                f"lambda_min has the best mean {self.metric} over the folds, "
                "lambda_1se is the largest lambda within a standard error of it."
            )
            notes.append(
                f"The {self.metric} at the lambda that was chosen is optimistic, being "
                "the best of several: cross_validate(model, lambda_path=path) chooses "
                "anew in each fold, and its estimate is honest."
            )
        for name, lam in marks.items():
            if at_end := end_of_path(self, lam):
                notes.append(f"lambda_{name} is {at_end}.")
        return notes


def end_of_path(path: LambdaPath, lam: float) -> str:
    """What it means for a lambda to be at an end of the path; empty elsewhere."""
    largest = lam == path.lambdas[0]
    if len(path.lambdas) < 2 or not (largest or lam == path.lambdas[-1]):
        return ""
    which = "largest" if largest else "smallest"
    if largest and "norm" in path.fits and path.fits["norm"].iloc[0] == 0.0:
        return (
            f"the {which} of the path, where the fit has no use for the "
            "predictors: all coefficients are 0, as with any larger lambda"
        )
    return f"the {which} of the path; a better one may lie beyond"
