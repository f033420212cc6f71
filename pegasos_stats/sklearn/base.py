"""Base class of the classifiers for scikit-learn."""

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import (
    _check_sample_weight,
    check_is_fitted,
    validate_data,
)

from pegasos_stats.arrays import Vector
from pegasos_stats.checks import check_choice, check_penalty
from pegasos_stats.data.foreign import position_of
from pegasos_stats.data.labels import Level
from pegasos_stats.errors import (
    ConvergenceWarning,
    DataError,
    LabelError,
    OptionError,
    counted,
    listing,
    warn_caller,
)
from pegasos_stats.foreign_names import suggest_names, suggestion
from pegasos_stats.models.results import Results
from pegasos_stats.solvers.options import Solver, values_of
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Lam
from pegasos_stats.solvers.sdca import SDCA

if TYPE_CHECKING:
    from pegasos_stats.models.kernel import KernelSVM
    from pegasos_stats.models.linear import SVM, Logit

OWN = ("epochs", "tol")  # options of the solver that are parameters themselves
SEEDS = 2**31 - 1
FAR = 0.1  # relative gap above which a run without a tolerance warns
Weights = Vector | Mapping[Level, float] | Literal["balanced"] | None
Rows = Any  # a dense array or a CSR matrix of scipy, as scikit-learn has checked it


@suggest_names("classifier")
class TwoClassClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Checks of data and labels, weights, the solver, predictions."""

    lam: Lam
    intercept: bool
    standardize: bool
    class_weight: str | Mapping[object, float] | None
    solver: str | Pegasos | SDCA
    epochs: int | None
    tol: float | None
    random_state: int | np.random.RandomState | None

    # So near to the optimum that weights give the fit of repeated rows to seven digits.
    solvers: ClassVar[dict[str, Pegasos | SDCA]] = {
        "sdca": SDCA(tol=1e-10, gap_tol=1e-12),
        "pegasos": Pegasos(),
    }

    result_: Results
    classes_: np.ndarray

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
            Only ratios matter, but for ``lam=None``, which is 1 by their total.

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
        """
        if getattr(X, "ndim", 0) == 1 and getattr(y, "ndim", 0) == 2:
            raise DataError("The labels come second; write fit(X, y).")
        check_labels(y)
        try:
            rows, labels = validate_data(self, X, y, **self._accepted())
        except ValueError as error:
            if "could not convert string to float" not in str(error):
                raise
            own = {"LogitClassifier": "logit", "KernelSVMClassifier": "kernel_svm"}
            function = own.get(type(self).__name__, "svm")
            raise DataError(
                f"X has text ({error}); make dummies of it by OneHotEncoder() of "
                f"sklearn.preprocessing, or write ps.{function}(formula, data), which "
                "does."
            ) from None
        self.classes_ = two_classes(labels, type(self).__name__)
        each = None
        if sample_weight is not None:
            each = _check_sample_weight(
                sample_weight, rows, dtype=np.float64, ensure_non_negative=True
            )
        weights = self._weights(labels, each)
        model = self._model(labels, self._named(rows), weights, each)
        if each is not None and self.lam is None:
            lam = check_penalty(1.0 / float(each.sum()))
            model.problem = replace(model.problem, lam=lam)
        self.result_ = model.fit(self._solver())
        if self.result_.converged is None and self.relative_gap_ > FAR:
            warn_caller(
                f"The fit has not converged: its relative gap is "
                f"{self.relative_gap_:.2g}. Give more epochs, or solver='sdca'.",
                ConvergenceWarning,
            )
        self._keep(self.result_)
        self.n_iter_ = self.result_.n_iter
        return self

    def decision_function(self, X: ArrayLike) -> Vector:
        """Scores; above 0 speaks for ``classes_[1]``.

        Parameters
        ----------
        X : array, frame or sparse matrix, shape (n, p)

        Returns
        -------
        float64 array, shape (n,)
        """
        check_is_fitted(self)
        rows = validate_data(self, X, reset=False, **self._accepted())
        scores: Vector = np.asarray(self.result_.decision_function(rows))
        return scores

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
        scores = self.decision_function(X)
        second = scores > 0.0
        if self.result_.solver.ties == "positive":
            second |= scores == 0.0
        labels: np.ndarray = self.classes_[second.astype(np.intp)]
        return labels

    @property
    def relative_gap_(self) -> float:
        """Duality gap of the fit divided by its objective: 0 at the optimum."""
        check_is_fitted(self)
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

    @abstractmethod
    def _model(
        self, labels: np.ndarray, rows: Rows, weights: Weights, each: Vector | None
    ) -> "SVM | Logit | KernelSVM":
        """The model of rows and labels that are checked, and of `sample_weight`."""

    @abstractmethod
    def _keep(self, result: Any) -> None:
        """Keep the numbers of a fit under the names of scikit-learn."""

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

    def _weights(self, labels: np.ndarray, each: Vector | None) -> Any:
        """What the model takes as ``weights=``: of rows, of levels, or none."""
        by_class = self._class_weights()
        if each is None:
            return by_class
        sums = np.array([each[labels == label].sum() for label in self.classes_])
        if not sums.all():
            raise LabelError(
                f"Only 1 class has rows with a weight above 0, and not "
                f"{listing(self.classes_[sums == 0.0])}; give weights above zero to "
                "rows of both classes."
            )
        if by_class is None:
            return each
        if isinstance(by_class, str):
            factors = sums.sum() / (2.0 * sums)
        else:
            factors = np.array(list(by_class.values()), dtype=np.float64)
        return each * factors[(labels == self.classes_[1]).astype(np.intp)]

    def _levels(self) -> list[Level]:
        """The classes as the model has them: dates are those of pandas."""
        dates = self.classes_.dtype.kind in "mM"
        return list((pd.Index(self.classes_) if dates else self.classes_).tolist())

    def _class_weights(self) -> Any:
        """``"balanced"``, a weight for each class in their order, or None."""
        given = self.class_weight
        if isinstance(given, str):
            check_choice("class_weight", given, ("balanced",))
        if given is None or isinstance(given, str):
            return given
        if not isinstance(given, Mapping):
            raise OptionError(
                "is not allowed; give 'balanced', or a weight for each class.",
                "class_weight",
                given,
            )
        found: dict[Level, float] = dict.fromkeys(self._levels(), 1.0)
        for label, weight in given.items():
            place = position_of(label, list(found))
            if place < 0:
                raise OptionError(
                    f"names {listing([label])}, which is not a class; the classes are "
                    f"{listing(found)}.",
                    "class_weight",
                    given,
                )
            found[list(found)[place]] = weight
        return found

    def _solver(self) -> Pegasos | SDCA:
        """The solver with the options that are parameters, and a seed."""
        own = {name: getattr(self, name) for name in OWN}
        given = {name: value for name, value in own.items() if value is not None}
        if self.random_state is not None:
            given["seed"] = seed_of(self.random_state)
        if self.solver == "sdca" and "tol" in given:
            given |= {"gap_tol": None}
        return with_options(self._named_solver(), given)

    def _named_solver(self) -> Pegasos | SDCA:
        """The solver as it was given, or the one of this name."""
        given = self.solver
        if isinstance(given, str):
            check_choice("solver", given, tuple(self.solvers))
            return self.solvers[given]
        if not isinstance(given, Pegasos | SDCA):
            raise OptionError(
                f"is not allowed; give one of {listing(self.solvers)}, or a solver "
                "such as Pegasos(epochs=20).",
                "solver",
                given,
            )
        return given


def check_labels(y: object) -> None:
    """Check what scikit-learn does not name: missing labels, text beside others.

    Examples
    --------
    >>> check_labels(["a", None, "b"])
    Traceback (most recent call last):
        ...
    pegasos_stats.errors.LabelError: Input y contains NaN: 1 label is missing, ...
    """
    if isinstance(y, list | tuple):
        if any(np.ndim(label) for label in y):
            return
        y = pd.Series(y, dtype=object)
    if not isinstance(y, pd.Series | np.ndarray) or y.ndim != 1:
        return
    column = pd.Series(y)
    missing = np.flatnonzero(column.isna())
    if missing.size:
        raise LabelError(
            f"Input y contains NaN: {counted(missing.size, 'label')} "
            f"{'is' if missing.size == 1 else 'are'} missing, the first at index "
            f"{missing[0]}; leave such rows out."
        )
    if column.dtype == object:
        kinds = {isinstance(label, str): label for label in column}
        if len(kinds) == 2:
            raise LabelError(
                f"y has text and other values, such as {listing(kinds.values())}; make "
                "all labels one type."
            )


def two_classes(labels: np.ndarray, classifier: str) -> np.ndarray:
    """Return the classes, sorted, or raise `LabelError` if they are not two."""
    check_classification_targets(labels)
    kind = type_of_target(labels, input_name="y", raise_unknown=True)
    if kind != "binary":
        named = f" of {listing(np.unique(labels))}" if kind == "multiclass" else ""
        raise LabelError(
            f"Only binary classification is supported. The type of the target is "
            f"{kind}{named}; fit each class against the others by "
            f"OneVsRestClassifier({classifier}()) of sklearn.multiclass, or rows of "
            "two classes."
        )
    classes: np.ndarray = np.unique(labels)
    if classes.size < 2:
        raise LabelError(
            f"y has 1 class, {listing(classes)}; take data in which two occur."
        )
    return classes


def with_options(solver: Pegasos | SDCA, options: dict[str, Any]) -> Pegasos | SDCA:
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
        raise OptionError(
            f"{solver.name} has no option {listing(unknown)}; it has "
            f"{listing(known, len(known))}."
        )
    return type(solver)(**known | options)


def seed_of(random_state: int | np.random.RandomState) -> int:
    """Return the seed: a whole number itself, or one drawn by a RandomState."""
    if isinstance(random_state, np.random.RandomState):
        return int(check_random_state(random_state).randint(SEEDS))
    return random_state
