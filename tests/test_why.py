"""README's table of peers: what statsmodels and scikit-learn do with the same data.

glmnet's cells are from its manual (version 4.1): for a factor "the last level in
alphabetical order is the target class", and no standard errors are computed.
"""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

import pegasos_stats as ps

RNG = np.random.default_rng(11)
X = RNG.standard_normal(300)
POSITIVE = X + RNG.logistic(size=300) > 0
OUTCOMES = {"text": np.where(POSITIVE, "yes", "no"), "booleans": POSITIVE}


@pytest.mark.parametrize("kind", OUTCOMES)
def test_signs_of_an_outcome_that_is_no_number(kind):
    """X raises the probability of the second class; glm() of statsmodels 0.15 models
    the first one, and logit() refuses the outcome."""
    data = pd.DataFrame({"y": OUTCOMES[kind], "x": X})
    assert ps.logit("y ~ x", data).fit().params["x"] > 0.0
    family = sm.families.Binomial()
    assert smf.glm("y ~ x", data, family=family).fit().params["x"] < 0.0
    with pytest.raises(ValueError, match="multiple columns"):
        smf.logit("y ~ x", data)


def test_scikit_learn_models_the_second_class_and_has_no_standard_errors():
    from sklearn.linear_model import LogisticRegression, SGDClassifier

    fit = LogisticRegression().fit(X[:, None], OUTCOMES["text"])
    assert fit.coef_[0, 0] > 0.0
    assert fit.classes_[1] == "yes"
    names = " ".join(dir(fit))
    assert not any(word in names for word in ("bse", "stderr", "gap", "conf"))
    assert not hasattr(fit, "partial_fit")
    assert hasattr(SGDClassifier, "partial_fit")


def test_standard_errors_of_ridge_fits():
    design = sm.add_constant(X)
    ridge = sm.GLM(POSITIVE.astype(float), design, family=sm.families.Binomial())
    assert not hasattr(ridge.fit_regularized(alpha=0.1, L1_wt=0.0), "bse")
    ours = ps.Logit(POSITIVE, X[:, None], lam=0.1).fit()
    assert np.isfinite(ours.bse).all()
    assert ours.gap >= 0.0
