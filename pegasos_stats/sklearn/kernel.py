"""The kernel classifier for scikit-learn."""

from collections.abc import Mapping

import numpy as np
from sklearn.utils import Tags

from pegasos_stats.arrays import Vector
from pegasos_stats.foreign_names import suggest_arguments
from pegasos_stats.models.kernel import MEMORY, KernelSVM
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.sklearn.base import Rows, TwoClassClassifier, Weights
from pegasos_stats.solvers.kernel_problem import KernelName, usual_gamma
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.problem import Lam
from pegasos_stats.solvers.sdca import SDCA


@suggest_arguments
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
        Of the kernel, as for `KernelSVM`; the variance in the default of `gamma` counts
        rows by `sample_weight`, unless they are standardized.
    memory : int, default 512 MiB
        Bytes that rows of the Gram matrix may take.
    solver : "sdca", "pegasos", SDCA or Pegasos
        ``"sdca"`` is ``SDCA(tol=1e-9, gap_tol=1e-9)``; otherwise as for
        `SVMClassifier`. What a solver cannot do with a kernel is an error.
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

    # As near as the rounding of a kernel's scores lets it come.
    solvers = TwoClassClassifier.solvers | {"sdca": SDCA(tol=1e-9, gap_tol=1e-9)}

    result_: KernelResults

    def __init__(
        self,
        *,
        lam: Lam = None,
        intercept: bool = True,
        kernel: KernelName = "gaussian",
        degree: int | None = None,
        offset: float | None = None,
        gamma: float | None = None,
        memory: int = MEMORY,
        standardize: bool = False,
        class_weight: str | Mapping[object, float] | None = None,
        solver: str | Pegasos | SDCA = "sdca",
        epochs: int | None = None,
        tol: float | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.lam = lam
        self.intercept = intercept
        self.kernel = kernel
        self.degree = degree
        self.offset = offset
        self.gamma = gamma
        self.memory = memory
        self.standardize = standardize
        self.class_weight = class_weight
        self.solver = solver
        self.epochs = epochs
        self.tol = tol
        self.random_state = random_state

    def _model(
        self, labels: np.ndarray, rows: Rows, weights: Weights, each: Vector | None
    ) -> KernelSVM:
        gamma = self.gamma
        if (gamma, self.kernel, self.standardize) == (None, "gaussian", False):
            gamma = usual_gamma(rows, each)
        return KernelSVM(
            labels,
            rows,
            lam=self.lam,
            intercept=self.intercept,
            kernel=self.kernel,
            degree=self.degree,
            offset=self.offset,
            gamma=gamma,
            coding=tuple(self._levels()),
            weights=weights,
            standardize=self.standardize,
            memory=self.memory,
        )

    def _keep(self, result: KernelResults) -> None:
        found = result.dual_coef
        self.support_ = found.index.to_numpy()
        self.dual_coef_ = found.to_numpy().reshape(1, -1).copy()
        self.intercept_ = np.array([result.intercept])

    def _accepted(self) -> dict[str, object]:
        return super()._accepted() | {"accept_sparse": False}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
