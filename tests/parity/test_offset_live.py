"""Offsets against R's ``glm()``, which has them in formulas and as an argument."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps

# The gap of 1e-11 and the penalty of 1e-10 move coefficients by some 1e-7.
CLOSE = 1e-6
GLM = """
function(formula, a, t, z, y, new_a, new_t, new_z) {
  data <- data.frame(a = a, t = t, z = z, y = y)
  fit <- glm(as.formula(formula), binomial, data, offset = z,
             control = list(epsilon = 1e-14, maxit = 100))
  found <- summary(fit)$coefficients
  new <- data.frame(a = new_a, t = new_t, z = new_z)
  c(found[, 1], found[, 2], as.numeric(logLik(fit)), fit$null.deviance, AIC(fit),
    predict(fit, new))
}
"""


def drawn(n, seed):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"a": rng.normal(size=n), "t": rng.uniform(0.2, 3.0, n)})
    frame["z"] = rng.normal(size=n)
    score = 0.7 * frame["a"] - 0.5 + frame["z"] + np.log(frame["t"])
    frame["y"] = (rng.random(n) < 1.0 / (1.0 + np.exp(-score))).astype(float)
    return frame


@pytest.mark.parametrize(
    "right",
    [
        "a + I(a * a) + offset(log(t))",
        "a + t + offset(t) + offset(a * t)",
        "a + offset(z / t) - 1",
    ],
)
def test_without_penalty_it_is_that_of_glm(r, right):
    data, new = drawn(120, 8), drawn(5, 9)
    columns = [data[name].to_numpy() for name in ("a", "t", "z", "y")]
    columns += [new[name].to_numpy() for name in ("a", "t", "z")]
    r.eval(f"with_offset <- {GLM}\n0")
    theirs = r.call("with_offset", f"y ~ {right}", *columns)
    model = ps.logit(f"y ~ {right}", data, lam=1e-10, offset="z")
    result = model.fit(ps.SDCA(tol=1e-11, seed=1), cov_type="nonrobust")
    numbers = [result.llf, 2.0 * -result.llnull, result.aic]
    scores = result.decision_function(new)
    ours = np.concatenate([result.params, result.bse, numbers, scores])
    np.testing.assert_allclose(ours, theirs, rtol=CLOSE, atol=CLOSE)
