"""Linear classifiers for scikit-learn."""

from collections.abc import Mapping
from typing import ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from sklearn.utils import Tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_sample_weight, validate_data

from pegasos_stats.arrays import Vector, owned
from pegasos_stats.data.design import FrameDesign
from pegasos_stats.data.labels import LabelCoding
from pegasos_stats.data.sample import Dropped, Sample
from pegasos_stats.errors import LabelError, OptionError, listing
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.models.linear import SVM, Logit
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.sklearn.base import (
    Rows,
    TwoClassClassifier,
    Weights,
    check_labels,
    two_classes,
    with_options,
)
from pegasos_stats.solvers.options import values_of
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Lam
from pegasos_stats.solvers.sdca import SDCA


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
            raise OptionError(
                f"{option} needs all rows at once and does not go with partial_fit(); "
                "leave it out, or call fit()."
            )
    whole = {} if solver.epochs is None else {"epochs": 1}
    return type(solver)(**values_of(solver) | whole)


@suggest_arguments
class LinearClassifier(TwoClassClassifier):
    """What `SVMClassifier` and `LogitClassifier` have in common."""

    model: ClassVar[type[SVM] | type[Logit]]
    result_: LinearResults

    def __init__(
        self,
        *,
        lam: Lam = None,
        intercept: bool = True,
        standardize: bool = False,
        class_weight: str | Mapping[object, float] | None = None,
        solver: str | Pegasos | SDCA = "sdca",
        epochs: int | None = None,
        tol: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.lam = lam
        self.intercept = intercept
        self.standardize = standardize
        self.class_weight = class_weight
        self.solver = solver
        self.epochs = epochs
        self.tol = tol
        self.random_state = random_state

    @available_if(takes_steps)
    def partial_fit(
        self,
        X: ArrayLike,
        y: ArrayLike,
        classes: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Go on with the steps of Pegasos: one epoch over these rows.

        The number of the step counts on from the fit or the call before. Available
        with ``solver="pegasos"`` alone. `result_` and `relative_gap_` are about the
        rows of the last call, weights are taken as they are.

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
        solver: Pegasos | SDCA = step_solver(self)
        check_labels(y)
        rows, labels = validate_data(self, X, y, reset=first, **self._accepted())
        if first or classes is not None:
            known = labels if classes is None else np.asarray(classes)
            given = two_classes(known, type(self).__name__)
            if not first and not np.array_equal(given, self.classes_):
                raise LabelError(
                    f"classes are {listing(given)} and were {listing(self.classes_)}; "
                    "give the same in every call, or none."
                )
            self.classes_ = given
        unknown = np.unique(labels[~np.isin(labels, self.classes_)])
        if unknown.size:
            raise LabelError(
                f"y holds {listing(unknown)}; the classes are {listing(self.classes_)}."
            )
        if not first:
            params = np.concatenate([self.intercept_, self.coef_[0]])
            start = params if self.intercept else self.coef_[0]
            where = {"start": start, "first_step": self.n_iter_ + 1}
            solver = with_options(solver, where)
        sample = self._sample(labels, self._named(rows), sample_weight)
        model = self.model.of_sample(sample, self.lam, self.intercept)
        self.result_ = model.fit(solver, cov_type="none")
        self.n_iter_ = self.result_.n_iter + (0 if first else self.n_iter_)
        self._keep(self.result_)
        return self

    def _sample(self, labels: np.ndarray, rows: Rows, sample_weight: object) -> Sample:
        """Rows of which all may be of one class, with weights as they are given."""
        design = FrameDesign.from_data(rows)
        matrix = design.matrix(rows)
        second = labels == self.classes_[1]
        weights = None
        by_class = self._class_weights()
        if sample_weight is not None or by_class is not None:
            weights = _check_sample_weight(
                sample_weight, rows, dtype=np.float64, ensure_non_negative=True
            )
        if by_class is not None:
            factors = np.array(list(by_class.values()), dtype=np.float64)
            weights = weights * factors[second.astype(np.intp)]
        negative, positive = self._levels()
        dtype = pd.Series(labels).dtype
        return Sample(
            X=owned(matrix.values, rows),
            y=np.where(second, 1.0, -1.0),
            index=matrix.index,
            design=design,
            coding=LabelCoding(negative, positive, dtype, rule="explicit"),
            dropped=Dropped(0, 0),
            kept=matrix.kept,
            weights=weights,
        )

    def _model(
        self, labels: np.ndarray, rows: Rows, weights: Weights, each: Vector | None
    ) -> SVM | Logit:
        return self.model(
            labels,
            rows,
            lam=self.lam,
            intercept=self.intercept,
            coding=tuple(self._levels()),
            weights=weights,
            standardize=self.standardize,
        )

    def _keep(self, result: LinearResults) -> None:
        """Keep coefficients of the predictors as they are given."""
        beta, alpha = result.solution.beta, result.intercept
        if result.scaling is not None:
            beta, alpha = result.scaling.undone(beta, alpha)
        self.coef_, self.intercept_ = beta.reshape(1, -1).copy(), np.array([alpha])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class SVMClassifier(LinearClassifier):
    """Linear support vector machine with an intercept that is not penalised.

    `pegasos_stats.SVM` for scikit-learn: the same minimum, the same numbers.

    Parameters
    ----------
    lam : float or "cv", optional
        Penalty, above zero, or the best by cross-validation, as for `SVM`.
        ``LinearSVC(C=C, loss="hinge")`` has ``lam = 1 / (n * C)``, and penalises its
        intercept. The default is C = 1, with
        the total of `sample_weight`, before `class_weight`, for ``n``. Pegasos, whose
        steps are ``1 / (lam t)``, has no default.
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
    solver : "sdca", "pegasos", SDCA or Pegasos
        ``"sdca"`` is ``SDCA(tol=1e-10, gap_tol=1e-12)``, so near to the optimum that
        weights give the fit of repeated rows; ``"pegasos"`` is ``Pegasos()``. Options
        of a solver are parameters too: ``set_params(solver__batch_size=10)``, or
        ``{"solver__average": ["none", "all"]}`` in a grid.
    epochs, tol : optional
        Of the solver, in place of its own.
    random_state : int or RandomState, optional
        Seed of the solver, as for R's ``set.seed()``; a RandomState draws one. By
        default the solver's own: 1 for SDCA; Pegasos without one draws it.

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

    model = SVM


class LogitClassifier(LinearClassifier):
    """Penalised logistic regression with an intercept that is not penalised.

    `pegasos_stats.Logit` for scikit-learn. Parameters and attributes are those of
    `SVMClassifier`. ``LogisticRegression(C=C)`` has ``lam = 1 / (n * C)``.

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
