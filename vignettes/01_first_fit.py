# %% [markdown]
# # First fit: fives and sixes
#
# **Question.** Is a handwritten digit a five or a six, and how often is the answer
# wrong?

# %%
import os
from pathlib import Path

import pandas as pd

import pegasos_stats as ps

# %% [markdown]
# ## The answer first
#
# Each row is a picture, each column a pixel. The fit sees the 200 training rows; the
# test rows are for the error rate. Without a folder of data the digits that come with
# the package are taken, 8 × 8 pixels instead of 16 × 16.

# %%
folder = os.environ.get("PEGASOS_STATS_DATA")
if folder and (Path(folder) / "coding5_train.csv").is_file():
    names = {"Y": "digit"}
    train = pd.read_csv(Path(folder) / "coding5_train.csv").rename(columns=names)
    test = pd.read_csv(Path(folder) / "coding5_test.csv").rename(columns=names)
else:
    train, test = ps.datasets.load_digits56()

model = ps.svm("digit ~ .", data=train, lam=1.0)
result = model.fit(ps.Pegasos(epochs=20, seed=443))
print(result.confusion(test))

# %% [markdown]
# Rows are the actual digits, columns the predicted ones. Both intervals are for the
# error rate on new digits of this kind; the exact one covers it with at least 95%
# confidence.
#
# ## What was fitted
#
# The model minimises, over coefficients $\beta$ and an intercept $\alpha$,
#
# $$\dfrac{\lambda}{2}\,\Vert\beta\Vert^2 \;+\; \dfrac{1}{n}\sum_{i=1}^{n}
# \max\left(0,\, 1 - y_i\left(x_i'\beta + \alpha\right)\right),$$
#
# where $y_i$ is $-1$ for a five and $+1$ for a six, in the order of R's `factor()`. The
# intercept is not penalised. `ps.Pegasos` visits the rows in 20 random orders, those of
# `set.seed(443)` and `sample(1:200, 200)` in R, and every coefficient is R's, bit for
# bit.

# %%
result.summary(max_terms=5)

# %% [markdown]
# ## How far from the best model?
#
# Pegasos ends near the optimum, not at it. The *duality gap* tells how near: no model
# has an objective below the lower bound.

# %%
print(f"objective      {result.objective:.6f}")
print(f"lower bound    {result.dual_objective:.6f}")
print(f"could be gained, at most: {result.relative_gap:.1%} of the objective")

# %% [markdown]
# `ps.SDCA` goes on to the optimum, as near as it is told to. The errors tell whether
# that was worth it.

# %%
best = model.fit(ps.SDCA(tol=1e-6, seed=443))
fits = {"Pegasos, 20 epochs": result, "SDCA, to a gap of 1e-6": best}
pd.DataFrame(
    {
        "objective": {name: fit.objective for name, fit in fits.items()},
        "test errors": {
            name: fit.confusion(test).n_errors for name, fit in fits.items()
        },
    }
)

# %% [markdown]
# ## Which digits were taken for the other?
#
# The surest mistakes come first. A score above 0 says six, one below 0 says five.

# %%
wrong = result.confusion(test).errors
scores = result.decision_function(test)[wrong.index]
wrong.assign(score=scores).sort_values("score", key=abs, ascending=False).head(8)

# %% [markdown]
# ## The report
#
# One line writes all of this, with figures and with the lines of R that repeat it, as a
# page of its own: `result.report(test, "digits.html")`.
#
# ## Session

# %%
ps.session_info()
