# %% [markdown]
# # First fit: fives and sixes
#
# **Question.** Is a handwritten digit a five or a six, and how often is the answer
# wrong?
#
# **Answer.** Misclassified new digits, pictures of {{side}} × {{side}} pixels:
# {{result.confusion(test).n_errors}} of {{len(test)}}.

# %%
import pandas as pd

import pegasos_stats as ps

# %% [markdown]
# ## The answer first
#
# Each row is a picture, each column a pixel. The digits come with the package. The fit
# sees the {{len(train)}} training rows; the test rows are for the error rate.

# %%
train, test = ps.datasets.load_digits56()
model = ps.svm("digit ~ .", data=train, lam=1.0)
result = model.fit(ps.Pegasos(epochs=20, seed=443))
print(result.confusion(test))

# %% [markdown]
# Rows are the actual digits, columns the predicted ones. Both intervals are for the
# error rate of this fit on the digits of which the test rows are a random sample; the
# exact interval contains it in at least 95% of samples. Digits of one writer are alike,
# and not independent trials.
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
# `set.seed(443)` and `sample({{len(train)}})` in R, and every coefficient is R's, bit for
# bit.

# %%
result.summary(max_terms=5)

# %% [markdown]
# A coefficient belongs to a pixel, so all of them are a picture: ink on red pixels
# speaks for a six, ink on blue ones for a five. The loop at the lower left belongs to a
# six, not to a five.

# %% {"alt": "Coefficients as a picture of the pixels: red at the lower left, where the loop of a six closes, blue at the upper right, where a five has its stroke."}
side = int(len(result.coef) ** 0.5)
ax = result.plot.coefficient_image((side, side))

# %% [markdown]
# ## How far from the minimum?
#
# Pegasos ends near the minimum of the objective, not at it. The *duality gap* tells how
# near: no model has an objective below the lower bound. The bound of the run is loose;
# `shortfall` improves it with a little more work, and bounds the distance from both
# sides.

# %%
known = result.shortfall
print(f"objective           {result.objective:.6f}")
print(f"bound of the run    {result.dual_objective:.6f}")
print(f"better bound        {known.lower:.6f}")
print(f"above the minimum   {known.at_least:.6f} to {known.at_most:.6f}")

# %% [markdown]
# `ps.SDCA` finds the optimum to any given tolerance. The error rates tell whether that
# was worth it.

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
# The mistakes with the largest scores come first. A score above 0 predicts a six, one
# below 0 a five.

# %%
wrong = result.confusion(test).errors
scores = result.decision_function(test)[wrong.index]
worst = wrong.assign(score=scores).sort_values("score", key=abs, ascending=False)
worst.head(6)

# %% {"alt": "The pictures of these digits.", "tags": ["fold"]}
from pegasos_stats.output.plotting.style import pyplot, styled

with styled():
    _, axes = pyplot().subplots(1, 6, figsize=(6.4, 1.5))
    for ax in axes:
        ax.set_axis_off()
    for ax, digit in zip(axes, worst.head(6).itertuples(), strict=False):
        ink = test.loc[digit.Index].drop("digit").to_numpy(float)
        ax.imshow(ink.reshape(side, side), cmap="gray_r")
        ax.set_title(f"{digit.actual}, taken for {digit.predicted}", fontsize=8)

# %% [markdown]
# ## The report
#
# One line writes a page to hand in: the error rate, the strongest pixels and a figure
# first, the rest folded below: `result.report(test, "digits.html")`.
#
# ## Session

# %%
ps.session_info()
