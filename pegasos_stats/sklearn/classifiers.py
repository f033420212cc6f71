"""The classifiers for scikit-learn: base class, linear ones, and the kernel's."""

import math
from abc import abstractmethod
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, validation
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets, type_of_target

from pegasos_stats.arrays import Vector, owned
from pegasos_stats.checks import check_choice, check_positive
from pegasos_stats.data.design import FrameDesign
from pegasos_stats.data.labels import LabelCoding, Level
from pegasos_stats.data.sample import MissingRowCounts, Sample
from pegasos_stats.data.scaling import Scaling
from pegasos_stats.data.user_data import position_of
from pegasos_stats.errors import (
    ConvergenceWarning,
    DataError,
    LabelError,
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
from pegasos_stats.models import summaries
from pegasos_stats.models.kernel import MEMORY, KernelResults, KernelSVM, dense
from pegasos_stats.models.linear import SVM, Logit
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import Results
from pegasos_stats.sklearn.stored import StoredFit, state_of
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

OWN = ("epochs", "tol")  # options of the solver that are parameters themselves
SEEDS = 2**31 - 1
DEGREE, OFFSET = 3, 0.0  # of the polynomial kernel, as in SVC
SMALL = 10**6  # numbers in the rows of a small problem
SMALL_KERNEL = 1000  # its rows, where it has a kernel
LARGEST_STEP = 2**31  # number of a first step of `partial_fit`
FAR = 0.1  # relative gap above which a run without a tolerance warns
Weights = Vector | Mapping[Level, float] | str | None
Rows = Any  # a dense array or a CSR matrix of scipy, as scikit-learn has checked it


@suggest_names("classifier")
@dataclass(kw_only=True, repr=False, eq=False)
class TwoClassClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Checks of data and labels, weights, the solver, predictions."""

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

    model: ClassVar[Any]  # of this package
    result_: Results = field(init=False)
    classes_: np.ndarray = field(init=False)

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
            How much the loss of each row counts, 0 or more: a weight of 2 is two rows.
            Only ratios matter, but for ``lam=None``: 1 by the total of these weights,
            multiplied by `class_weight`.

        Returns
        -------
        self

        Raises
        ------
        LabelError
            If there are not exactly two classes.
        OptionError
            If a parameter is not allowed.

        Warns
        -----
        pegasos_stats.errors.ConvergenceWarning
            If the solver has not reached its tolerance; or, where it has none, if the
            relative gap is above 0.1.
        pegasos_stats.errors.PegasosStatsWarning
            If every training row is predicted as the same class.
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
                f"X has text ({error}); make dummies of it by OneHotEncoder() of "
                "sklearn.preprocessing, or give ps.svm() or the like a formula."
            ) from None
        self.classes_ = two_classes(labels, type(self).__name__)
        each = checked_weights(sample_weight, rows)
        rows = self._named(rows)
        model: SVM | Logit | KernelSVM = self.model(
            labels,
            rows,
            lam=self.lam,
            intercept=self.intercept,
            coding=tuple(self._levels()),
            weights=self._weights(labels, each),
            standardize=self.standardize,
            **self._further(rows),
        )
        if self.lam is None:  # C = 1 of scikit-learn, for the log loss too
            lam = check_positive("lam", 1.0 / self._total_weight(labels, each))
            model.problem = replace(model.problem, lam=lam, lam_rule="1/n")
        self.result_ = self._nearer(model.fit(self._solver()))
        if self.result_.converged is None and self.relative_gap_ > FAR:
            warn_caller(
                f"The fit has not converged: its relative gap is "
                f"{self.relative_gap_:.2g}. Give more epochs, or solver='optimum'.",
                ConvergenceWarning,
            )
        self._keep(self.result_)
        self.n_iter_, self._first_step_ = self.result_.n_iter, 1
        self._warn_of_one_class()
        return self

    def _nearer(self, result: Results) -> Any:
        """The fit of a small problem by default, with a solution nearer to the optimum.

        Weights then give the fit of repeated rows to seven digits.
        """
        by_default = self.solver == "optimum" and self.tol is self.epochs is None
        if not (by_default and self._is_small(result) and result.relative_gap < FAR):
            return result
        return replace(result, solution=nearer(result.problem, result.solution))

    def _is_small(self, result: Results) -> bool:
        """Whether all digits cost little time."""
        X = result.problem.X
        return bool(getattr(X, "nnz", X.size) <= SMALL)

    def _warn_of_one_class(self) -> None:
        """Warn if every training row is predicted as the same class."""
        result = self.result_
        problem, at = result.problem, result.certificate
        if at.relative_gap > FAR:
            return  # far from the optimum, of which there is a warning
        if at.errors + sum(at.at_zero) < min(problem.label_counts):
            return  # both classes are predicted: no scores are needed
        scores = scores_of(problem, result.solution, problem.X, problem.offset)
        second = self._is_second(scores[problem.row_weights > 0.0])
        if second.any() and not second.all():
            return
        cures = []
        if summaries.needs_scaling(result):
            cures += ["scale the predictors first (standardize=True)"]
        if self.class_weight is None:
            cures += ["class_weight='balanced' makes the rule balanced"]
        if problem.loss == "log":
            cures += ["predict_proba() ranks the rows all the same"]
        else:
            cures += ["LogitClassifier() has probabilities that rank the rows"]
        label = listing(self.classes_[second[:1].astype(np.intp)])
        warn_caller(
            f"Every training row is predicted as {label}: {'; '.join(cures)}.",
            PegasosStatsWarning,
        )

    def _is_second(self, scores: Vector) -> np.ndarray:
        """Whether scores are of ``classes_[1]``."""
        second: np.ndarray = scores >= 0.0 if self._zero_is_second_ else scores > 0.0
        return second

    def __getstate__(self) -> dict[str, object]:
        """Everything but the training rows; of `result_` what `StoredFit` has."""
        state = dict(super().__getstate__())
        if "result_" in state:
            state["result_"] = state_of(self.result_)
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if isinstance(stored := state.get("result_"), dict):
            state = state | {"result_": StoredFit(stored)}
        super().__setstate__(state)

    def __copy__(self) -> Self:
        other = type(self).__new__(type(self))
        other.__dict__ = dict(self.__dict__)
        return other

    def __deepcopy__(self, memo: dict[int, object]) -> Self:
        other = type(self).__new__(type(self))
        other.__dict__ = deepcopy(self.__dict__, memo)
        return other

    def decision_function(self, X: ArrayLike) -> Vector:
        """Scores; above 0 speaks for ``classes_[1]``.

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

    def predict(self, X: ArrayLike) -> np.ndarray:
        """Labels by the sign of the score; at exactly 0 the first class.

        A solver with ``ties="positive"`` gives the second class there.

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
        """Parameters by name; with `deep` the options of a solver too.

        They are called ``solver__batch_size`` and so on.
        """
        params: dict[str, object] = super().get_params(deep=False)
        if deep and isinstance(self.solver, Solver):
            options = values_of(self.solver)
            params |= {f"solver__{name}": value for name, value in options.items()}
        return params

    def set_params(self, **params: object) -> Self:
        """Set parameters; ``solver__batch_size=10`` gives the solver another option.

        The solver itself, which cannot be changed, is replaced by a new one.
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
        """Options of the model that not all classes have."""
        return {}

    @abstractmethod
    def _keep(self, result: Any) -> None:
        """Keep the numbers of a fit under the names of scikit-learn."""

    @abstractmethod
    def _scores(self, rows: Rows) -> Vector:
        """Scores of rows, by these numbers."""

    def _accepted(self) -> dict[str, object]:
        """How `validate_data` is to check rows."""
        return {"dtype": (np.float64, np.float32), "accept_sparse": "csr"}

    def _named(self, rows: Rows) -> Rows:
        """Rows with the names of their columns, where they have come with some."""
        names = getattr(self, "feature_names_in_", None)
        dense = isinstance(rows, np.ndarray)
        if names is None or not dense or len(set(names)) < len(names):
            return rows
        return pd.DataFrame(rows, columns=list(names), copy=False)

    def _weights(self, labels: np.ndarray, each: Vector | None) -> Weights:
        """What the model takes as ``weights=``: of rows, of levels, or none."""
        given = self.class_weight
        if each is None:
            if given is None or given == "balanced":
                return given
            return dict(zip(self._levels(), self._factors(labels), strict=True))
        sums = np.array([each[labels == label].sum() for label in self.classes_])
        if not sums.all():
            raise LabelError(
                "Only 1 class has rows with a weight above 0, and not "
                f"{listing(self.classes_[sums == 0.0])}."
            )
        factors = self._factors(labels, each)
        weights: Vector = each * factors[(labels == self.classes_[1]).astype(np.intp)]
        return weights

    def _total_weight(self, labels: np.ndarray, each: Vector | None) -> float:
        """Sum of the weights of the rows, with those of their classes."""
        if self.class_weight is None:
            return float(len(labels) if each is None else each.sum())
        each = np.ones(len(labels)) if each is None else each
        sums = np.array([each[labels == label].sum() for label in self.classes_])
        return float(sums @ self._factors(labels, each))

    def _factors(self, labels: np.ndarray, each: Vector | None = None) -> Vector:
        """Weights of both classes, as `class_weight` says.

        As in scikit-learn a class that it does not name has the weight 1, and it may
        name others only where it names both.
        """
        given, levels, factors = self.class_weight, self._levels(), np.ones(2)
        if given == "balanced":
            return self._balanced(
                labels, np.ones(len(labels)) if each is None else each
            )
        if not isinstance(given, Mapping | None):
            why = "is not allowed; give 'balanced' or a dict."
            raise OptionError(why, "class_weight", given)
        places = {label: position_of(label, levels) for label in given or {}}
        others = [label for label, place in places.items() if place < 0]
        if others and len(places) - len(others) < len(levels):
            why = f"names {listing(others)}, and the classes are {listing(levels)}."
            raise OptionError(why, "class_weight", given)
        for label, weight in (given or {}).items():
            if places[label] >= 0:
                factors[places[label]] = weight
        return factors

    def _balanced(self, labels: np.ndarray, each: Vector) -> Vector:
        """Weights of the classes that give both the same total."""
        sums = np.array([each[labels == label].sum() for label in self.classes_])
        return np.asarray(sums.sum() / (2.0 * sums))

    def _levels(self) -> list[Level]:
        """The classes as the model has them: dates are those of pandas."""
        dates = self.classes_.dtype.kind in "mM"
        return list((pd.Index(self.classes_) if dates else self.classes_).tolist())

    def _solver(self) -> AnySolver:
        """The solver with the options that are parameters, and a seed."""
        own = {name: getattr(self, name) for name in OWN}
        given = {name: value for name, value in own.items() if value is not None}
        if isinstance(self.random_state, np.random.RandomState):
            given["seed"] = int(self.random_state.randint(SEEDS))
        elif self.random_state is not None:
            given["seed"] = self.random_state
        if self.solver == "optimum" and "tol" in given:
            given |= {"gap_tol": None}
        return with_options(self._named_solver(), given)

    def _named_solver(self) -> AnySolver:
        """The solver as it was given, or the one of this name."""
        given = self.solver
        if isinstance(given, str):
            check_choice("solver", given, tuple(self.solvers))
            return self.solvers[given]
        if not isinstance(given, AnySolver):
            why = f"is not allowed; give one of {listing(self.solvers)}, or a solver."
            raise OptionError(why, "solver", given)
        return given


def check_labels(y: object) -> None:
    """Check what scikit-learn does not name: missing labels, text beside others.

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
            f"index {missing[0]}; leave such rows out."
        )
    if y.dtype == object and len({isinstance(label, str) for label in y}) == 2:
        raise LabelError(f"y has text beside others: {listing(pd.unique(y))}.")


def checked_weights(weights: ArrayLike | None, rows: Rows) -> Vector | None:
    """Return weights of rows, 0 or more, as numbers; None if none are given."""
    if weights is None:
        return None
    found: Vector = validation._check_sample_weight(
        weights, rows, dtype=np.float64, ensure_non_negative=True
    )
    return found


def two_classes(labels: np.ndarray, classifier: str) -> np.ndarray:
    """Return the classes, sorted, or raise `LabelError` if they are not two."""
    check_classification_targets(labels)
    kind = type_of_target(labels, input_name="y", raise_unknown=True)
    if kind != "binary":
        named = f" of {listing(np.unique(labels))}" if kind == "multiclass" else ""
        raise LabelError(
            "Only binary classification is supported. The type of the target is "
            f"{kind}{named}; take OneVsRestClassifier({classifier}())."
        )
    classes: np.ndarray = np.unique(labels)
    if classes.size < 2:
        raise LabelError(f"y has 1 class, {listing(classes)}; take data with two.")
    return classes


def with_options(solver: AnySolver, options: dict[str, object]) -> AnySolver:
    """Return the same solver with other options.

    Raises
    ------
    OptionError
        If it does not have such an option, or does not allow the value.

    Examples
    --------
    >>> with_options(Pegasos(epochs=5), {"batch_size": 10}).epochs
    5
    """
    known = values_of(solver)
    unknown = [name for name in options if name not in known]
    if unknown:
        has = listing(known, len(known))
        raise OptionError(
            f"{solver.name} has no option {listing(unknown)}; it has {has}."
        )
    return type(solver)(**known | options)


def takes_steps(classifier: "LinearClassifier") -> bool:
    """Whether the solver is Pegasos, which can go on with other rows."""
    return classifier.solver == "pegasos" or isinstance(classifier.solver, Pegasos)


def step_solver(classifier: "LinearClassifier") -> Pegasos:
    """Return Pegasos with one epoch, or raise `OptionError` for what needs all rows."""
    solver = classifier._solver()
    assert isinstance(solver, Pegasos)
    wrong = {
        "lam='cv'": isinstance(classifier.lam, str),
        "standardize=True": bool(classifier.standardize),
        "class_weight='balanced'": isinstance(classifier.class_weight, str),
        f"average={solver.average!r}": solver.average != "none",
        "refit_intercept=True": solver.refit_intercept,
    }
    for option, given in wrong.items():
        if given:
            raise OptionError(f"{option} needs all rows at once; call fit().")
    return solver if solver.epochs is None else replace(solver, epochs=1)


@suggest_arguments
@dataclass(kw_only=True, repr=False, eq=False)
class LinearClassifier(TwoClassClassifier):
    """What `SVMClassifier` and `LogitClassifier` have in common."""

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
        """Go on with the steps of Pegasos: one epoch over these rows.

        The number of the step counts on from the fit or the call before. With
        ``solver="pegasos"`` a first call begins at the step ``1 / (lam t)`` that moves
        margins by about 1, not at ``1 / lam``; a `Pegasos` of your own begins at its
        ``first_step``. Other solvers have no `partial_fit`. `result_` and
        `relative_gap_` are about the rows of the last call, weights are taken as they
        are.

        Parameters
        ----------
        X : array, frame or sparse matrix, shape (n, p)
        y : array, shape (n,)
        classes : array, shape (2,), optional
            Both labels; needed in the first call if one of them is not in `y`.
        sample_weight : array, shape (n,), optional

        Returns
        -------
        self

        Raises
        ------
        LabelError
            If labels are none of the two classes.
        OptionError
            If an option needs all rows: ``standardize=True``,
            ``class_weight="balanced"``, averages, a refitted intercept.
        """
        first = not hasattr(self, "coef_")
        steps = step_solver(self)
        solver: AnySolver = steps
        check_labels(y)
        rows, labels = validation.validate_data(
            self, X, y, reset=first, **self._accepted()
        )
        if first or classes is not None:
            known = labels if classes is None else np.asarray(classes)
            given = two_classes(known, type(self).__name__)
            if not first and not np.array_equal(given, self.classes_):
                raise LabelError(
                    f"classes are {listing(given)} and were {listing(self.classes_)}."
                )
            self.classes_ = given
        unknown = np.unique(labels[~np.isin(labels, self.classes_)])
        if unknown.size:
            raise LabelError(
                f"y holds {listing(unknown)}; the classes are {listing(self.classes_)}."
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
        """Number of the first step whose size, ``1 / (lam t)``, is stable.

        A step of size ``1 / mean(w_i (||x_i||^2 + 1))`` moves the margin of a row by
        about 1, the first of Pegasos by ``1 / lam``: the loss would rise a lot first.
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
        """Rows of which all may be of one class, with weights as they are given."""
        design = FrameDesign.from_data(rows)
        matrix, second = design.matrix(rows), labels == self.classes_[1]
        weights = checked_weights(sample_weight, rows)
        if self.class_weight is not None:
            each = self._factors(labels)[second.astype(np.intp)]
            weights = each if weights is None else weights * each
        negative, positive = self._levels()
        dtype = pd.Series(labels).dtype
        return Sample(
            X=owned(matrix.values, rows),
            y=np.where(second, 1.0, -1.0),
            index=matrix.index,
            design=design,
            coding=LabelCoding(negative, positive, dtype, rule="explicit"),
            dropped=MissingRowCounts(0, 0),
            kept=matrix.kept,
            weights=weights,
        )

    def _keep(self, result: LinearResults) -> None:
        """Keep coefficients of the predictors as they are given."""
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
    """Linear support vector machine with an intercept that is not penalised.

    `pegasos_stats.SVM` for scikit-learn: the same minimum, the same numbers.

    Parameters
    ----------
    lam : float or "cv", optional
        Penalty, above zero, or the best by cross-validation, as for `SVM`.
        ``LinearSVC(C=C, loss="hinge")`` has ``lam = 1 / (n * C)``, and penalises its
        intercept. The default is C = 1, with the total of `sample_weight` times
        `class_weight` for ``n``. Pegasos, whose steps are ``1 / (lam t)``, has no
        default.
    intercept : bool, default True
        ``False`` fixes the intercept at 0.
    standardize : bool, default False
        Whether predictors are centred and scaled before the fit (sparse ones only
        scaled), and at prediction in the same way. `coef_` is for predictors as they
        are given.
    class_weight : "balanced" or dict, optional
        ``"balanced"`` gives both classes the same total weight, ``{label: weight}``
        each row that of its class, 1 where a class is not named; ``weights=`` of `SVM`.
        With ``sample_weight`` they are multiplied.
    solver : "optimum", "pegasos", "sdca", Optimum, Pegasos or SDCA
        ``"optimum"`` is ``Optimum()``, to a relative gap of 1e-6. Up to a million
        numbers in `X` it goes further, so that weights give the fit of repeated rows to
        seven digits. ``"pegasos"`` is ``Pegasos()``, ``"sdca"`` is ``SDCA()``, without
        intercept. Options of a solver are parameters too:
        ``set_params(solver__batch_size=10)``, or
        ``{"solver__average": ["none", "all"]}`` in a grid.
    epochs, tol : optional
        Of the solver, in place of its own.
    random_state : int or RandomState, optional
        Seed of the solver, as for R's ``set.seed()``; a RandomState draws one. By
        default the solver's own: 1, but Pegasos without one draws it.
    loss : "hinge" or "squared_hinge", default "hinge"
        ``"squared_hinge"`` is the default of ``LinearSVC``.

    Attributes
    ----------
    coef_ : float64 array, shape (1, p)
    intercept_ : float64 array, shape (1,)
    classes_ : array, shape (2,)
        Labels in their order; the second is coded +1.
    n_iter_ : int
        Steps taken.
    relative_gap_ : float
        Duality gap divided by the objective: how far the fit may be from the optimum.
    result_ : LinearResults
        The fit with all that it offers: ``summary()``, ``tidy()``, ``report()``, ...
        In a pipeline its columns are the transformed ones.
    n_features_in_, feature_names_in_
        As of every estimator of scikit-learn.

    See Also
    --------
    pegasos_stats.SVM : the model, from a formula too.

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
    """Penalised logistic regression with an intercept that is not penalised.

    `pegasos_stats.Logit` for scikit-learn. Parameters and attributes are those of
    `SVMClassifier`, without `loss`. ``LogisticRegression(C=C)`` has ``lam = 1 / (n *
    C)``.

    See Also
    --------
    pegasos_stats.Logit : the model, from a formula too.

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
        """Probabilities of both classes, ``1 / (1 + exp(-score))`` for the second.

        As everywhere in scikit-learn they are for classes as frequent as weights make
        them; ``result_.predict_proba`` takes the weights of classes out.

        Parameters
        ----------
        X : array, frame or sparse matrix, shape (n, p)

        Returns
        -------
        float64 array, shape (n, 2)
        """
        return np.exp(self.predict_log_proba(X))

    def predict_log_proba(self, X: ArrayLike) -> Vector:
        """Logarithms of the probabilities, without overflow.

        Parameters
        ----------
        X : array, frame or sparse matrix, shape (n, p)

        Returns
        -------
        float64 array, shape (n, 2)
        """
        scores = self.decision_function(X)
        both = np.column_stack([scores, -scores])
        return -np.logaddexp(0.0, both)


@suggest_arguments
@dataclass(kw_only=True, repr=False, eq=False)
class KernelSVMClassifier(TwoClassClassifier):
    """Support vector machine with a kernel and an intercept that is not penalised.

    `pegasos_stats.KernelSVM` for scikit-learn. ``SVC(C=C)`` has ``lam = 1 / (n * C)``.

    Parameters
    ----------
    lam : float or "cv", optional
        Penalty, above zero; by default C = 1, as for `SVMClassifier`.
    intercept : bool, default True
        ``False`` fixes the intercept at 0.
    kernel : "gaussian", "polynomial", "linear" or "precomputed"
        Precomputed, `X` is the matrix ``K(x_i, x_j)``: shape (n, n) at the fit, a row
        for each new row and a column for each row of the fit at prediction.
    degree, offset, gamma : optional
        Of the kernel, as for `KernelSVM`, with the defaults of SVC: 3, 0 (its `coef0`)
        and ``"scale"``, the variance being that of all rows, whatever they weigh; with
        ``standardize=True`` ``"auto"``.
    memory : int, default 512 MiB
        Bytes that rows of the Gram matrix may take.
    solver : "optimum", "pegasos", Optimum or Pegasos
        ``"optimum"`` is ``Optimum(tol=1e-4)``, and goes further up to 1,000 rows;
        otherwise as for `SVMClassifier`. What a solver cannot do with a kernel is an
        error.
    standardize, class_weight, epochs, tol, random_state
        As for `SVMClassifier`, but sparse matrices are refused.

    Attributes
    ----------
    support_ : int array, shape (n_support,)
        Rows of the fit that predictions need.
    dual_coef_ : float64 array, shape (1, n_support)
        Their coefficients ``b_j`` in ``f = sum_j b_j K(x_j, .)``.
    intercept_ : float64 array, shape (1,)
    result_ : KernelResults
    classes_, n_iter_, relative_gap_, n_features_in_, feature_names_in_
        As of `SVMClassifier`.

    See Also
    --------
    pegasos_stats.KernelSVM : the model, from a formula too.

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

    kernel: KernelName = "gaussian"
    degree: int | None = None
    offset: float | None = None
    gamma: Gamma = None
    memory: int = MEMORY
    result_: KernelResults = field(init=False)

    def _further(self, rows: Rows) -> dict[str, object]:
        """Options of the kernel, with the defaults of SVC."""
        names = ["kernel", "degree", "offset", "gamma", "memory"]
        found = {name: getattr(self, name) for name in names}
        kernel = own_value("kernel", self.kernel)
        if kernel == "polynomial":
            found["degree"] = DEGREE if self.degree is None else self.degree
            found["offset"] = OFFSET if self.offset is None else self.offset
        if kernel in ("gaussian", "polynomial") and self.gamma in (None, "scale"):
            scaled = usual_gamma(np.asarray(rows))  # of all rows, whatever they weigh
            found["gamma"] = "auto" if self.standardize else scaled
        return found

    def _is_small(self, result: Results) -> bool:
        return result.problem.n <= SMALL_KERNEL

    def _balanced(self, labels: np.ndarray, each: Vector) -> Vector:
        """Weights of the classes by their numbers of rows, as in SVC."""
        return super()._balanced(labels, np.ones(len(labels)))

    def _keep(self, result: KernelResults) -> None:
        found = result.dual_coef
        self.support_ = found.index.to_numpy()
        self.dual_coef_ = found.to_numpy().reshape(1, -1).copy()
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
