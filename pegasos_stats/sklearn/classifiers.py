"""The classifiers for scikit-learn: base class, linear and kernel classifiers."""

import math
from abc import abstractmethod
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, validation
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from pegasos_stats.arrays import Vector, owned
from pegasos_stats.checks import check_choice, check_positive
from pegasos_stats.data.design import FrameDesign, Scaling
from pegasos_stats.data.labels import LabelCoding, Level
from pegasos_stats.data.sample import MissingRowCounts, Sample
from pegasos_stats.data.user_data import position_of
from pegasos_stats.errors import (
    ConvergenceWarning,
    DataError,
    LabelError,
    MissingAttributeError,
    OptionError,
    PegasosStatsWarning,
    counted,
    listing,
    warn_caller,
)
from pegasos_stats.foreign_names import (
    own_value,
    suggest_arguments,
    suggest_names,
    suggestion,
)
from pegasos_stats.models.kernel import KERNEL_MEMORY, KernelResults, KernelSVM, dense
from pegasos_stats.models.linear import SVM, Logit
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.kernel_problem import (
    Gamma,
    KernelFunction,
    KernelName,
    support_rows,
    support_scores,
    usual_gamma,
)
from pegasos_stats.solvers.optimum import AnySolver, Optimum
from pegasos_stats.solvers.options import KERNEL_TOL, Solver, values_of
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Lam
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.solvers.solver_runs import linear_scores, nearer, scores_of

State = dict[str, Any]
OWN = ("epochs", "tol")  # options of the solver that are also parameters
SEEDS = 2**31 - 1  # seeds drawn from a RandomState are smaller
SVC_DEGREE, SVC_OFFSET = 3, 0.0  # defaults of the polynomial kernel in SVC
SMALL_SIZE = 10**6  # maximum number of stored values of a small problem
SMALL_KERNEL = 1000  # maximum number of rows of a small kernel problem
LARGEST_STEP = 2**31  # maximum of the first step number of `partial_fit`
LARGE_GAP = 0.1  # relative gap above which a solver without a tolerance warns
Weights = Vector | Mapping[Level, float] | str | None
Rows = Any  # dense array or scipy CSR matrix that scikit-learn has checked


class StoredFit:
    """Coefficients of a fit whose training rows are not in the pickle.

    Attributes
    ----------
    params : Series
        Coefficients by name; for a kernel model only the intercept.
    relative_gap : float
    """

    def __init__(self, state: State) -> None:
        self._state = state
        self.relative_gap = float(state["relative_gap"])

    @property
    def params(self) -> "pd.Series[float]":
        """Coefficients by name."""
        estimates: NDArray[np.float64] = self._state["estimates"]
        return pd.Series(estimates, list(self._state["terms"]), name="params")

    def cov_params(self) -> pd.DataFrame:
        """Covariance of `params`, if it was computed before the fit was pickled.

        Raises
        ------
        OptionError
            If it was not computed.
        """
        covariance, terms = self._state["covariance"], self._state["terms"]
        if covariance is None:
            raise OptionError(
                "The covariance was not computed before the classifier was pickled; "
                "call classifier.result_.summary() first."
            )
        return pd.DataFrame(covariance, terms, terms)

    def __getattr__(self, name: str) -> object:
        if name.startswith("__"):
            raise AttributeError(name)
        raise MissingAttributeError(
            f"A pickled classifier has no result_.{name}: that needs the training "
            "rows, which a pickle does not contain. Save the fit with "
            "ps.save(classifier.result_, path)."
        )


def state_of(result: "Results | StoredFit") -> State:
    """Return the content of a pickle: numbers and names, without pandas."""
    if isinstance(result, StoredFit):
        return result._state
    params, covariance = pd.Series(dtype=np.float64), None
    if isinstance(result, LinearResults):
        params = result.params
        if result.has_covariance:
            covariance = result.cov_params().to_numpy()
    elif isinstance(result, KernelResults):
        params = pd.Series({"Intercept": result.intercept})
    return {
        "terms": [str(term) for term in params.index],
        "estimates": params.to_numpy(dtype=np.float64),
        "covariance": covariance,
        "relative_gap": float(result.relative_gap),
    }


@suggest_names("classifier")
@dataclass(kw_only=True, repr=False, eq=False)
class TwoClassClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Base class: checks of data and labels, weights, solver and predictions."""

    lam: Lam = None
    intercept: bool = True
    standardize: bool = False
    class_weight: str | Mapping[object, float] | None = None
    solver: str | AnySolver = "optimum"
    epochs: int | None = None
    tol: float | None = None
    random_state: int | np.random.RandomState | None = None

    solvers: ClassVar[dict[str, AnySolver]] = {
        "optimum": Optimum(),
        "pegasos": Pegasos(),
        "sdca": SDCA(),
    }

    model: ClassVar[Any]  # model class of this package
    # Whether class_weight="balanced" uses sums of row weights, not numbers of rows.
    _balances_weights: ClassVar[bool] = True
    result_: Results = field(init=False)
    classes_: np.ndarray = field(init=False)

    @suggest_arguments
    def fit(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array, frame or sparse matrix, shape (n, p)
        y : array, shape (n,)
            Labels of two classes.
        sample_weight : array, shape (n,), optional
            Weight of the loss of each row, 0 or more: a row of weight 2 counts as two
            equal rows. Only ratios of weights matter if `lam` is set. ``lam=None``
            means 1 divided by the sum of the weights, including `class_weight`.

        Returns
        -------
        self

        Raises
        ------
        LabelError
            If there are not exactly two classes.
        OptionError
            If a parameter is not allowed.
        DataError
            If `X` contains text, or `X` and `y` are in the wrong order.

        Warns
        -----
        pegasos_stats.errors.ConvergenceWarning
            If the solver has not reached its tolerance or, without a tolerance, if the
            relative gap is above 0.1.
        pegasos_stats.errors.PegasosStatsWarning
            If all training rows are predicted as the same class.
        """
        if getattr(X, "ndim", 0) == 1 and getattr(y, "ndim", 0) == 2:
            raise DataError("The labels come second; write fit(X, y).")
        check_labels(y)
        try:
            rows, labels = validation.validate_data(self, X, y, **self._accepted())
        except ValueError as error:
            if "could not convert string to float" not in str(error):
                raise
            raise DataError(
                f"X contains text ({error}); encode it with OneHotEncoder() of "
                "sklearn.preprocessing, or use a formula with ps.svm()."
            ) from None
        self.classes_ = two_classes(labels, type(self).__name__)
        row_weights = checked_weights(sample_weight, rows)
        rows = self._named(rows)
        model: SVM | Logit | KernelSVM = self.model(
            labels,
            rows,
            lam=self.lam,
            intercept=self.intercept,
            coding=tuple(self._levels()),
            weights=self._weights(labels, row_weights),
            standardize=self.standardize,
            **self._further(rows),
        )
        if self.lam is None:  # C = 1 as in scikit-learn
            lam = check_positive("lam", 1.0 / self._total_weight(labels, row_weights))
            model.problem = replace(model.problem, lam=lam, lam_rule="1/n")
        self.result_ = self._nearer(model.fit(self._solver()))
        if self.result_.converged is None and self.relative_gap_ > LARGE_GAP:
            warn_caller(
                f"The fit has not converged: its relative gap is "
                f"{self.relative_gap_:.2g}. Increase epochs, or use solver='optimum'.",
                ConvergenceWarning,
            )
        self._keep(self.result_)
        self.n_iter_, self._first_step_ = self.result_.n_iter, 1
        self._warn_of_one_class()
        return self

    def _nearer(self, result: Results) -> Any:
        """Return a refined fit, for small problems with default solver options.

        A fit with weights and the fit with repeated rows then agree to 1e-7 of the
        largest coefficient. If the gap of a fit that has not converged does not
        decrease, the fit is unchanged.
        """
        by_default = self.solver == "optimum" and self.tol is self.epochs is None
        if not (
            by_default and self._is_small(result) and result.relative_gap < LARGE_GAP
        ):
            return result
        refined = replace(result, solution=nearer(result.problem, result.solution))
        is_better = result.converged or refined.relative_gap <= result.relative_gap
        return refined if is_better else result

    def _is_small(self, result: Results) -> bool:
        """Return whether the problem is small, so that `_nearer` takes little time."""
        X = result.problem.X
        return bool(getattr(X, "nnz", X.size) <= SMALL_SIZE)

    def _warn_of_one_class(self) -> None:
        """Warn if every training row is predicted as the same class."""
        result = self.result_
        problem, at = result.problem, result.certificate
        if at.relative_gap > LARGE_GAP:
            return  # another warning says that the fit has not converged
        if at.errors + sum(at.at_zero) < min(problem.label_counts):
            return  # both classes are predicted: no scores are needed
        scores = scores_of(problem, result.solution, problem.X, problem.offset)
        second = self._is_second(scores[problem.row_weights > 0.0])
        if second.any() and not second.all():
            return
        label = listing(self.classes_[second[:1].astype(np.intp)])
        warn_caller(
            f"Every training row is predicted as {label}; use standardize=True if "
            "scales differ, and the probabilities of LogitClassifier() for a ranking "
            "or a threshold; class_weight='balanced' gives both classes of an SVM "
            "equal weight.",
            PegasosStatsWarning,
        )

    def _is_second(self, scores: Vector) -> np.ndarray:
        """Return whether scores predict ``classes_[1]``."""
        second: np.ndarray = scores >= 0.0 if self._zero_is_second_ else scores > 0.0
        return second

    def __getstate__(self) -> dict[str, object]:
        """Return the state without training rows; `StoredFit` replaces `result_`."""
        state = dict(super().__getstate__())
        if "result_" in state:
            state["result_"] = state_of(self.result_)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(stored := state.get("result_"), dict):
            state = state | {"result_": StoredFit(stored)}
        super().__setstate__(state)

    def __copy__(self) -> Self:
        copied = type(self).__new__(type(self))
        copied.__dict__ = dict(self.__dict__)
        return copied

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        copied = type(self).__new__(type(self))
        copied.__dict__ = deepcopy(self.__dict__, memo)
        return copied

    @suggest_arguments
    def decision_function(self, X: ArrayLike) -> Vector:
        """Compute scores; scores above 0 predict ``classes_[1]``.

        Parameters
        ----------
        X : array, frame or sparse matrix, shape (n, p)

        Returns
        -------
        float64 array, shape (n,)
        """
        validation.check_is_fitted(self)
        rows = validation.validate_data(self, X, reset=False, **self._accepted())
        return self._scores(rows)

    @suggest_arguments
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Predict the second class for scores above 0, otherwise the first.

        A score of exactly 0 predicts the second class if the solver has
        ``ties="positive"``.

        Parameters
        ----------
        X : array, frame or sparse matrix, shape (n, p)

        Returns
        -------
        array, shape (n,), of `classes_`
        """
        second = self._is_second(self.decision_function(X))
        labels: np.ndarray = self.classes_[second.astype(np.intp)]
        return labels

    @property
    def relative_gap_(self) -> float:
        """Duality gap of the fit divided by its objective: 0 at the optimum."""
        validation.check_is_fitted(self)
        return self.result_.relative_gap

    def get_params(self, deep: bool = True) -> dict[str, object]:
        """Return parameters by name; with `deep` also the options of a solver.

        Names of options are ``solver__batch_size`` and so on.
        """
        params: dict[str, object] = super().get_params(deep=False)
        if deep and isinstance(self.solver, Solver):
            options = values_of(self.solver)
            params |= {f"solver__{name}": value for name, value in options.items()}
        return params

    def set_params(self, **params: object) -> Self:
        """Set parameters; ``solver__batch_size=10`` sets an option of the solver.

        Solvers are immutable: a new solver replaces the old one.
        """
        nested = {name: v for name, v in params.items() if name.startswith("solver__")}
        for name in params.keys() - nested.keys() - set(self._get_param_names()):
            kind = type(self).__name__
            if instead := suggestion(name, ("options", kind), ("options",)):
                raise OptionError(f"{kind} has no parameter {name}; {instead}.")
        super().set_params(**{n: v for n, v in params.items() if n not in nested})
        if nested:
            options = {name.removeprefix("solver__"): v for name, v in nested.items()}
            self.solver = with_options(self._named_solver(), options)
        return self

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

    def _further(self, rows: Rows) -> dict[str, object]:
        """Return options of the model that are specific to a class."""
        return {}

    @abstractmethod
    def _keep(self, result: Any) -> None:
        """Store coefficients under the names of scikit-learn."""

    @abstractmethod
    def _scores(self, rows: Rows) -> Vector:
        """Compute scores of rows from these coefficients."""

    def _accepted(self) -> dict[str, object]:
        """Return arguments of scikit-learn's `validate_data`."""
        return {"dtype": (np.float64, np.float32), "accept_sparse": "csr"}

    def _named(self, rows: Rows) -> Rows:
        """Return rows with column names, if the training data had names."""
        names = getattr(self, "feature_names_in_", None)
        dense = isinstance(rows, np.ndarray)
        if names is None or not dense or len(set(names)) < len(names):
            return rows
        return pd.DataFrame(rows, columns=list(names), copy=False)

    def _weights(self, labels: np.ndarray, row_weights: Vector | None) -> Weights:
        """Return ``weights=`` of the model: for rows, for levels, or None."""
        class_weight = self.class_weight
        if row_weights is None:
            if class_weight is None or class_weight == "balanced":
                return class_weight
            return dict(zip(self._levels(), self._factors(labels), strict=True))
        sums = self._sums(labels, row_weights)
        if not sums.all():
            raise LabelError(
                f"The class {listing(self.classes_[sums == 0.0])} has no row with a "
                "weight above 0; both classes need one."
            )
        factors = self._factors(labels, row_weights)
        weights: Vector = (
            row_weights * factors[(labels == self.classes_[1]).astype(np.intp)]
        )
        return weights

    def _total_weight(self, labels: np.ndarray, row_weights: Vector | None) -> float:
        """Return the sum of row weights times class weights."""
        factors = self._factors(labels, row_weights)
        return float(self._sums(labels, row_weights) @ factors)

    def _sums(self, labels: np.ndarray, row_weights: Vector | None) -> Vector:
        """Return the total weight of each class; without weights its number of rows."""
        weights = np.ones(len(labels)) if row_weights is None else row_weights
        return np.array([weights[labels == label].sum() for label in self.classes_])

    def _factors(self, labels: np.ndarray, row_weights: Vector | None = None) -> Vector:
        """Return the weights of both classes according to `class_weight`.

        As in scikit-learn, a class that the dictionary does not name has weight 1.
        Labels of other classes are allowed only if both classes are named.
        """
        class_weight, levels, factors = self.class_weight, self._levels(), np.ones(2)
        if class_weight == "balanced":
            sums = self._sums(labels, row_weights if self._balances_weights else None)
            return np.asarray(sums.sum() / (2.0 * sums))
        if not isinstance(class_weight, Mapping | None):
            why = "is not allowed; use 'balanced' or a dict."
            raise OptionError(why, "class_weight", class_weight)
        places = {label: position_of(label, levels) for label in class_weight or {}}
        foreign = [label for label, place in places.items() if place < 0]
        if foreign and len(places) - len(foreign) < len(levels):
            why = f"names {listing(foreign)}, but the classes are {listing(levels)}."
            raise OptionError(why, "class_weight", class_weight)
        for label, weight in (class_weight or {}).items():
            if places[label] >= 0:
                factors[places[label]] = weight
        return factors

    def _levels(self) -> list[Level]:
        """Return the classes as levels of the model; dates as pandas Timestamps."""
        dates = self.classes_.dtype.kind in "mM"
        return list((pd.Index(self.classes_) if dates else self.classes_).tolist())

    def _solver(self) -> AnySolver:
        """Return the solver with the parameters `epochs` and `tol` and a seed."""
        own = {name: getattr(self, name) for name in OWN}
        options = {name: value for name, value in own.items() if value is not None}
        if isinstance(self.random_state, np.random.RandomState):
            options["seed"] = int(self.random_state.randint(SEEDS))
        elif self.random_state is not None:
            options["seed"] = self.random_state
        if self.solver == "optimum" and "tol" in options:
            options |= {"gap_tol": None}
        return with_options(self._named_solver(), options)

    def _named_solver(self) -> AnySolver:
        """Return the parameter `solver`, or the solver with this name."""
        solver = self.solver
        if isinstance(solver, str):
            check_choice("solver", solver, tuple(self.solvers))
            return self.solvers[solver]
        if not isinstance(solver, AnySolver):
            why = f"is not allowed; use one of {listing(self.solvers)}, or a solver."
            raise OptionError(why, "solver", solver)
        return solver


def check_labels(y: object) -> None:
    """Raise `LabelError` for missing labels, and for text mixed with other labels.

    Examples
    --------
    >>> check_labels(["a", None, "b"])
    Traceback (most recent call last):
        ...
    pegasos_stats.errors.LabelError: Input y contains NaN: 1 label missing, ...
    """
    if isinstance(y, list | tuple) and not any(map(np.ndim, y)):
        y = pd.Series(y, dtype=object)
    if not isinstance(y, pd.Series | np.ndarray) or y.ndim != 1:
        return
    missing = np.flatnonzero(pd.isna(y))
    if missing.size:
        raise LabelError(
            f"Input y contains NaN: {counted(missing.size, 'label')} missing, first at "
            f"index {missing[0]}; remove these rows."
        )
    if y.dtype == object and len({isinstance(label, str) for label in y}) == 2:
        raise LabelError(f"y mixes text with other labels: {listing(pd.unique(y))}.")


def checked_weights(weights: ArrayLike | None, rows: Rows) -> Vector | None:
    """Return weights of rows, 0 or more, as numbers, or None."""
    if weights is None:
        return None
    numbers: Vector = validation._check_sample_weight(
        weights, rows, dtype=np.float64, ensure_non_negative=True
    )
    return numbers


def two_classes(labels: np.ndarray, classifier: str) -> np.ndarray:
    """Return the sorted classes; raise `LabelError` unless there are two."""
    check_classification_targets(labels)
    kind = type_of_target(labels, input_name="y", raise_unknown=True)
    if kind != "binary":
        named = f" of {listing(np.unique(labels))}" if kind == "multiclass" else ""
        raise LabelError(
            "Only binary classification is supported. The type of the target is "
            f"{kind}{named}; use OneVsRestClassifier({classifier}())."
        )
    classes: np.ndarray = np.unique(labels)
    if classes.size < 2:
        raise LabelError(
            f"y has only one class, {listing(classes)}; two classes are needed."
        )
    return classes


def with_options(solver: AnySolver, options: dict[str, object]) -> AnySolver:
    """Return the same solver with other options.

    Raises
    ------
    OptionError
        If the solver has no such option, or does not allow the value.

    Examples
    --------
    >>> with_options(Pegasos(epochs=5), {"batch_size": 10}).epochs
    5
    """
    defaults = values_of(solver)
    unknown = [name for name in options if name not in defaults]
    if unknown:
        has = listing(defaults, len(defaults))
        raise OptionError(
            f"{solver.name} has no option {listing(unknown)}; it has {has}."
        )
    return type(solver)(**defaults | options)


def takes_steps(classifier: "LinearClassifier") -> bool:
    """Return whether the solver is Pegasos, which can continue with other rows."""
    return classifier.solver == "pegasos" or isinstance(classifier.solver, Pegasos)


def step_solver(classifier: "LinearClassifier") -> Pegasos:
    """Return Pegasos with one epoch; raise `OptionError` if options need all rows."""
    solver = classifier._solver()
    assert isinstance(solver, Pegasos)
    wrong = {
        "lam='cv'": isinstance(classifier.lam, str),
        "standardize=True": bool(classifier.standardize),
        "class_weight='balanced'": isinstance(classifier.class_weight, str),
        f"average={solver.average!r}": solver.average != "none",
        "refit_intercept=True": solver.refit_intercept,
    }
    for option, in_use in wrong.items():
        if in_use:
            raise OptionError(f"{option} needs all rows at once; call fit().")
    return solver if solver.epochs is None else replace(solver, epochs=1)


@suggest_arguments
@dataclass(kw_only=True, repr=False, eq=False)
class LinearClassifier(TwoClassClassifier):
    """Common base of `SVMClassifier` and `LogitClassifier`."""

    model: ClassVar[type[SVM] | type[Logit]]
    result_: LinearResults = field(init=False)

    @available_if(takes_steps)
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Continue Pegasos for one epoch over these rows.

        Step numbers ``t`` continue from the previous fit or call; the step size is
        ``1 / (lam t)``. With ``solver="pegasos"`` the first ``t`` makes a step
        change margins by about 1. A `Pegasos` object starts at its
        ``first_step``. Other solvers have no `partial_fit`. `result_` and
        `relative_gap_` refer to the rows of the last call. Weights are used as they
        are, not divided by their mean as in `fit`.

        Parameters
        ----------
        X : array, frame or sparse matrix, shape (n, p)
        y : array, shape (n,)
        classes : array, shape (2,), optional
            Labels of both classes; required in the first call if `y` lacks one of them.
        sample_weight : array, shape (n,), optional

        Returns
        -------
        self

        Raises
        ------
        LabelError
            If `y` contains other labels than the two classes.
        OptionError
            If an option needs all rows: ``lam="cv"``, ``standardize=True``,
            ``class_weight="balanced"``, ``average=`` or ``refit_intercept=True``.
        """
        first = not hasattr(self, "coef_")
        steps = step_solver(self)
        solver: AnySolver = steps
        check_labels(y)
        rows, labels = validation.validate_data(
            self, X, y, reset=first, **self._accepted()
        )
        if first or classes is not None:
            names = labels if classes is None else np.asarray(classes)
            pair = two_classes(names, type(self).__name__)
            if not first and not np.array_equal(pair, self.classes_):
                raise LabelError(
                    f"classes are {listing(pair)}, but {listing(self.classes_)} in the "
                    "first call; pass the same classes."
                )
            self.classes_ = pair
        unknown = np.unique(labels[~np.isin(labels, self.classes_)])
        if unknown.size:
            raise LabelError(
                f"y has {listing(unknown)}; the classes are {listing(self.classes_)}."
            )
        sample = self._sample(labels, self._named(rows), sample_weight)
        if not first:
            params = np.concatenate([self.intercept_, self.coef_[0]])
            start = params if self.intercept else self.coef_[0]
            where = {"start": start, "first_step": self._first_step_ + self.n_iter_}
            solver = with_options(solver, where)
        elif self.solver == "pegasos":
            self._first_step_ = self._stable_step(sample)
            solver = with_options(solver, {"first_step": self._first_step_})
        else:
            self._first_step_ = steps.first_step
        loss: Any = self._further(rows).get("loss")
        model = self.model.of_sample(sample, self.lam, self.intercept, loss)
        self.result_ = model.fit(solver, cov_type="none")
        self.n_iter_ = self.result_.n_iter + (0 if first else self.n_iter_)
        self._keep(self.result_)
        return self

    def _stable_step(self, sample: Sample) -> int:
        """Return the number ``t`` of the first step with a stable size ``1 / (lam t)``.

        A step of size ``1 / mean(w_i (||x_i||^2 + 1))`` moves the margin of a row by
        about 1; without an intercept, omit ``+ 1``. The usual first step size of
        Pegasos, ``1 / lam``, may be far larger and increase the loss.
        """
        X, weights = sample.X, sample.weights
        if isinstance(X, np.ndarray):
            norms = np.square(X).sum(axis=1)
        else:
            norms = X.multiply(X).sum(axis=1)
        sizes = np.asarray(norms, dtype=np.float64).ravel() + float(self.intercept)
        size = float(np.average(sizes if weights is None else weights * sizes))
        lam = check_positive("lam", self.lam)
        return max(1, min(LARGEST_STEP, math.ceil(size / lam)))

    def _sample(
        self, labels: np.ndarray, rows: Rows, sample_weight: ArrayLike | None
    ) -> Sample:
        """Return a sample, possibly of one class; weights are not scaled to mean 1."""
        design = FrameDesign.from_data(rows)
        matrix, second = design.matrix(rows), labels == self.classes_[1]
        weights = checked_weights(sample_weight, rows)
        if self.class_weight is not None:
            factors = self._factors(labels)[second.astype(np.intp)]
            weights = factors if weights is None else weights * factors
        negative, positive = self._levels()
        dtype = pd.Series(labels).dtype
        return Sample(
            X=owned(matrix.values, rows),
            y=np.where(second, 1.0, -1.0),
            index=matrix.index,
            design=design,
            coding=LabelCoding(negative, positive, dtype, rule="explicit"),
            dropped=MissingRowCounts(0, 0),
            complete=matrix.complete,
            weights=weights,
        )

    def _keep(self, result: LinearResults) -> None:
        """Store coefficients for predictors on their original scale."""
        beta, alpha = result.solution.beta, result.intercept
        if result.scaling is not None:
            beta, alpha = result.scaling.undone(beta, alpha)
        self.coef_, self.intercept_ = beta.reshape(1, -1).copy(), np.array([alpha])
        self._zero_is_second_ = result.solver.ties == "positive"

    def _scores(self, rows: Rows) -> Vector:
        return linear_scores(rows, self.coef_[0], float(self.intercept_[0]))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


@suggest_arguments
@dataclass(kw_only=True, repr=False, eq=False)
class SVMClassifier(LinearClassifier):
    """Linear support vector machine; the intercept is not penalised.

    It is `pegasos_stats.SVM` for scikit-learn, with the same coefficients.

    Parameters
    ----------
    lam : float or "cv", optional
        Penalty above zero, or ``"cv"`` to choose it by cross-validation, as for `SVM`.
        ``LinearSVC(C=C, loss="hinge")`` corresponds to ``lam = 1 / (n * C)``, but also
        penalises its intercept. The default is ``lam = 1 / n``, as with C = 1; ``n`` is
        the sum of `sample_weight` times `class_weight`. With Pegasos, whose step sizes
        are ``1 / (lam t)``, `lam` is required.
    intercept : bool, default True
        ``False`` fixes the intercept at 0.
    standardize : bool, default False
        Whether to centre and scale predictors for fit and prediction; sparse predictors
        are only scaled. `coef_` refers to the original scale.
    class_weight : "balanced" or dict, optional
        ``"balanced"`` gives both classes the same total weight. ``{label: weight}``
        sets the weight of each row of a class (default 1), as ``weights=`` of `SVM`.
        Class weights multiply ``sample_weight``.
    solver : "optimum", "pegasos", "sdca", Optimum, Pegasos or SDCA
        ``"optimum"`` is ``Optimum()``, which stops at a relative gap of 1e-6. If `X`
        has at most a million values, the solution is then refined: a fit with weights
        and the fit with repeated rows agree to 1e-7 of the largest coefficient.
        ``"pegasos"`` is ``Pegasos()``. ``"sdca"`` is ``SDCA()``, which requires
        ``intercept=False``. Options of a solver are also parameters. With Pegasos, for
        example, call ``set_params(solver__batch_size=10)``, or use the grid
        ``{"solver__average": ["none", "all"]}``.
    epochs, tol : optional
        Values for the solver's options `epochs` and `tol`.
    random_state : int or RandomState, optional
        Seed of the solver, as for R's ``set.seed()``; a RandomState draws a seed. The
        default is the solver's seed: 1, or a random seed for Pegasos.
    loss : "hinge" or "squared_hinge", default "hinge"
        ``"squared_hinge"`` is the default of ``LinearSVC``.

    Attributes
    ----------
    coef_ : float64 array, shape (1, p)
    intercept_ : float64 array, shape (1,)
    classes_ : array, shape (2,)
        Sorted labels; the second is coded +1.
    n_iter_ : int
        Number of steps.
    relative_gap_ : float
        Duality gap divided by the objective; the gap bounds how far the objective is
        above its minimum.
    result_ : LinearResults
        The fit, with ``summary()``, ``tidy()``, ``report()`` and more. In a pipeline
        its predictors are the transformed columns.
    n_features_in_, feature_names_in_
        As for every scikit-learn estimator.

    See Also
    --------
    pegasos_stats.SVM : The model, also from a formula.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> from pegasos_stats.sklearn import SVMClassifier
    >>> from sklearn.model_selection import GridSearchCV
    >>> train, test = ps.datasets.load_digits56()
    >>> y, X = train["digit"], train[["p34", "p43", "p12"]]
    >>> search = GridSearchCV(SVMClassifier(), {"lam": [0.01, 0.1, 1]})
    >>> search.fit(X, y).best_params_
    {'lam': 0.1}
    >>> bool(search.best_estimator_.relative_gap_ < 1e-6)
    True
    """

    loss: Literal["hinge", "squared_hinge"] = "hinge"

    model = SVM

    def _further(self, rows: Rows) -> dict[str, object]:
        return {"loss": own_value("loss", self.loss)}


class LogitClassifier(LinearClassifier):
    """Ridge-penalised logistic regression; the intercept is not penalised.

    It is `pegasos_stats.Logit` for scikit-learn. `SVMClassifier` describes parameters
    and attributes; there is no `loss`. ``LogisticRegression(C=C)`` corresponds to
    ``lam = 1 / (n * C)``. The default is C = 1, unlike `Logit`, whose default is
    maximum likelihood.

    See Also
    --------
    pegasos_stats.Logit : The model, also from a formula.

    Examples
    --------
    >>> from pegasos_stats.sklearn import LogitClassifier
    >>> classifier = LogitClassifier(lam=0.1, random_state=1)
    >>> fit = classifier.fit([[0.0], [1.0], [3.0]], ["a", "b", "b"])
    >>> fit.predict_proba([[1.0]]).round(2)
    array([[0.32, 0.68]])
    """

    model = Logit

    def predict_proba(self, X: ArrayLike) -> Vector:
        """Compute probabilities, ``1 / (1 + exp(-score))`` for the second class.

        As in scikit-learn, probabilities are not corrected for class weights;
        ``result_.predict_proba`` corrects them.

        Parameters
        ----------
        X : array, frame or sparse matrix, shape (n, p)

        Returns
        -------
        float64 array, shape (n, 2)
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: ArrayLike) -> Vector:
        """Compute logarithms of the probabilities, without overflow.

        Parameters
        ----------
        X : array, frame or sparse matrix, shape (n, p)

        Returns
        -------
        float64 array, shape (n, 2)
        """
        scores = self.decision_function(X)
        by_class = np.column_stack([scores, -scores])
        return -np.logaddexp(0.0, by_class)


@suggest_arguments
@dataclass(kw_only=True, repr=False, eq=False)
class KernelSVMClassifier(TwoClassClassifier):
    """Support vector machine with a kernel; the intercept is not penalised.

    It is `pegasos_stats.KernelSVM` for scikit-learn. ``SVC(C=C)`` corresponds to
    ``lam = 1 / (n * C)``.

    Parameters
    ----------
    lam : float or "cv", optional
        Penalty above zero, or ``"cv"``; the default corresponds to C = 1, as for
        `SVMClassifier`.
    intercept : bool, default True
        ``False`` fixes the intercept at 0.
    kernel : "gaussian", "polynomial", "linear" or "precomputed"
        With ``"precomputed"``, `X` is the matrix ``K(x_i, x_j)``: shape (n, n) for the
        fit; for predictions it has one row per new row and one column per training row.
    degree, offset, gamma : optional
        Parameters of the kernel, as for `KernelSVM`, with the defaults of SVC: 3, 0
        (its `coef0`) and ``"scale"``, which ignores weights. With ``standardize=True``,
        ``"scale"`` means ``"auto"``.
    memory : int, default 512 MiB
        Maximum number of bytes for rows of the Gram matrix.
    solver : "optimum", "pegasos", Optimum or Pegasos
        ``"optimum"`` is ``Optimum(tol=1e-4)``; with at most 1,000 rows the solution is
        then refined. Everything else is as for `SVMClassifier`. Options that kernel
        models do not support raise an error.
    standardize, class_weight, epochs, tol, random_state
        As for `SVMClassifier`, but ``"balanced"`` counts rows and ignores
        `sample_weight`, as in SVC. `X` must not be sparse.

    Attributes
    ----------
    support_ : int array, shape (n_support,)
        Positions of the training rows that predictions need.
    dual_coef_ : float64 array, shape (1, n_support)
        Coefficients ``b_j`` of these rows in ``f = sum_j b_j K(x_j, .)``.
    intercept_ : float64 array, shape (1,)
    result_ : KernelResults
    classes_, n_iter_, relative_gap_, n_features_in_, feature_names_in_
        As for `SVMClassifier`.

    See Also
    --------
    pegasos_stats.KernelSVM : The model, also from a formula.

    Examples
    --------
    >>> import numpy as np
    >>> from pegasos_stats.sklearn import KernelSVMClassifier
    >>> angle = np.linspace(0, 6, 40)
    >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> X, y = np.vstack([ring, 3 * ring]), ["inner"] * 40 + ["outer"] * 40
    >>> classifier = KernelSVMClassifier(lam=0.01, tol=1e-6, random_state=1)
    >>> classifier.fit(X, y).score(X, y)
    1.0
    """

    solvers: ClassVar[dict[str, AnySolver]] = {
        "optimum": Optimum(tol=KERNEL_TOL),
        "pegasos": Pegasos(),
    }

    model = KernelSVM
    _balances_weights = False  # as in SVC

    kernel: KernelName = "gaussian"
    degree: int | None = None
    offset: float | None = None
    gamma: Gamma = None
    memory: int = KERNEL_MEMORY
    result_: KernelResults = field(init=False)

    def _further(self, rows: Rows) -> dict[str, object]:
        """Return the options of the kernel, with the defaults of SVC."""
        names = ["kernel", "degree", "offset", "gamma", "memory"]
        options = {name: getattr(self, name) for name in names}
        kernel = own_value("kernel", self.kernel)
        if kernel == "polynomial":
            options["degree"] = SVC_DEGREE if self.degree is None else self.degree
            options["offset"] = SVC_OFFSET if self.offset is None else self.offset
        if kernel in ("gaussian", "polynomial") and self.gamma in (None, "scale"):
            scaled = usual_gamma(np.asarray(rows))  # without weights
            options["gamma"] = "auto" if self.standardize else scaled
        return options

    def _is_small(self, result: Results) -> bool:
        return result.problem.n <= SMALL_KERNEL

    def _keep(self, result: KernelResults) -> None:
        coefficients = result.dual_coef
        self.support_ = coefficients.index.to_numpy()
        self.dual_coef_ = coefficients.to_numpy().reshape(1, -1).copy()
        self.intercept_ = np.array([result.intercept])
        self._zero_is_second_ = result.solver.ties == "positive"
        self._kernel_ = values_of(result.problem.kernel)
        self._support_rows_ = support_rows(result.problem, self.support_)
        scaling = result.scaling
        self._scaling_ = None if scaling is None else [scaling.centre, scaling.scale]

    def _scores(self, rows: Rows) -> Vector:
        X = dense(rows)
        if self._kernel_["name"] == "precomputed":
            X = X[:, self.support_]
        elif self._scaling_ is not None:
            X = dense(Scaling(*self._scaling_).apply(X))
        numbers = self._support_rows_, self.dual_coef_[0], X, float(self.intercept_[0])
        return support_scores(KernelFunction(**self._kernel_), *numbers)

    def _accepted(self) -> dict[str, object]:
        return super()._accepted() | {"accept_sparse": False}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
