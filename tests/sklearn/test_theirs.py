"""What scikit-learn's tests of LinearSVC, SVC and SGDClassifier state, of ours.

Stated anew: what those tests say of two classes, hinge and log loss, an L2 penalty.
Those left out, and why:

* the same minimum as theirs: in `test_classifiers` and `docs/doors/sklearn.toml`.
* more than two classes (``crammer_singer``, ``ovr_decision_function``, ``break_ties``,
  ``multiclass``, ``set_coef_multiclass``): two-class classifiers; OneVsRestClassifier
  does it, see `test_tools`.
* regression and one class (``svr``, ``oneclass``, ``epsilon_insensitive``, ``huber``,
  ``least_squares``): not offered.
* other penalties and losses (``l1``, ``elasticnet``, ``squared_hinge``,
  ``modified_huber``, ``l1_min_c``): not offered.
* ``intercept_scaling``, ``liblinear_intercept_handling``: the intercept is not
  penalised here, so there is nothing to scale.
* ``svm_equivalence_sample_weight_C``, ``svm_with_infinite_C``: weights have a mean of 1
  and the penalty is ``lam``, so a common factor of all weights changes nothing.
* negative weights (``mask_all_samples``, ``leave_two_labels``, ``equal_coeffs``): SVC
  leaves such rows out; here they are refused, as LinearSVC does.
* ``early_stopping``, ``validation``, ``n_iter_no_change``, ``learning_rate``,
  ``power_t``, ``eta0``, ``adaptive``: steps are ``1 / (lam t)``, and runs end at a
  certified gap or after their epochs.
* ``partial_fit``: in `test_partial_fit`.
* ``coef_init``, ``intercept_init``, ``warm_start``, ``late_onset_averaging``: no such
  parameters; averages are those of the solver, with tests of their own.
* ``probability``, ``probA``: LogitClassifier has probabilities, SVMClassifier none.
* callable kernels, ``class_weight_`` and ``shape_fit_``: not offered.
* sparse SVC (``svc_iris``, ``svc_with_custom_kernel``): kernels take dense rows.
* ``newrand``, ``libsvm_parameters``, ``timeout``, ``verbose``, ``dual_auto``: about the
  C++ of libsvm and liblinear.
* ``provide_coef``, ``plain_has_no_average_attr``: about SGDClassifier's own attributes.
"""

import numpy as np
import pytest
from sklearn.base import clone

from pegasos_stats.errors import ConvergenceWarning
from pegasos_stats.sklearn import KernelSVMClassifier, LogitClassifier, SVMClassifier

pytestmark = pytest.mark.filterwarnings("ignore:The fit has not converged")

X = np.array([[-2, -1], [-1, -1], [-1, -2], [1, 1], [1, 2], [2, 1]], dtype=float)
Y = [1, 1, 1, 2, 2, 2]

LINEAR = [SVMClassifier(lam=0.1), LogitClassifier(lam=0.1)]
linear = pytest.mark.parametrize("classifier", LINEAR, ids=repr)


@linear
def test_rows_near_overflow_are_not_fitted_in_silence(classifier):
    points = np.where(np.eye(6, 2) > 0, 1e308, X)
    with pytest.warns(ConvergenceWarning, match="the relative gap is inf"):
        clone(classifier).set_params(lam=1e-300).fit(points, Y)


@pytest.mark.parametrize("classifier", [*LINEAR, KernelSVMClassifier()], ids=repr)
@pytest.mark.parametrize("weights", [[1.0] * 5, [[1.0] * 6] * 2, [-1.0] + [1.0] * 5])
def test_bad_weights_are_refused(classifier, weights):
    with pytest.raises(ValueError, match=r"[Ss]ample.?weight"):
        clone(classifier).fit(X, Y, sample_weight=weights)
