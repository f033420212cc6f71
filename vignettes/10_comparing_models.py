# %% [markdown]
# # Comparing models
#
# **Question.** Three models of one outcome: what does each say, which predicts better,
# and is the difference more than chance?
#
# **Answer.** `ps.compare_models()` puts the fits side by side, `ps.compare_errors()`
# judges them on the same folds, with an interval for the difference, and
# `result.margins()` and `result.predictions()` say in probabilities what the
# coefficients mean.

# %% tags=["remove-input"]
from IPython.display import Markdown, display

# %%
import numpy as np
import pandas as pd
import statsmodels.api as sm

import pegasos_stats as ps

# %% [markdown]
# ## The answer first
#
# The data are every fourth row of Fair's survey of 1978, which comes with statsmodels:
# married women, and whether they have had an affair. One model has the years of marriage
# alone, one four predictors, and one the rating of the marriage by levels instead of as a
# number.

# %%
data = sm.datasets.fair.load_pandas().data.iloc[::4].reset_index(drop=True)
data["affair"] = np.where(data["affairs"] > 0, "yes", "no")
data["rating"] = data["rate_marriage"].map("{:.0f}".format)
others = "yrs_married + age + religious"
formulas = {
    "years": "affair ~ yrs_married",
    "numbers": f"affair ~ {others} + rate_marriage",
    "levels": f"affair ~ {others} + rating",
}
models = {name: ps.logit(each, data, lam=1e-5) for name, each in formulas.items()}
solver = ps.SDCA(tol=1e-9, seed=443)
judged = ps.compare_errors(models, solver, metric="log_loss", seed=443)
judged.summary()

# %% tags=["remove-input"]
best = min(judged.means, key=judged.means.get)


def told(line) -> str:
    """What the interval of a difference says."""
    first, second = line.term.split(" - ")
    interval = f"interval {line.conf_low:.2g} to {line.conf_high:.2g}"
    if line.conf_low <= 0.0 <= line.conf_high:
        return f"* *{first}* or *{second}*: may be chance, as the {interval} holds 0.\n"
    better, worse = (first, second) if line.estimate < 0.0 else (second, first)
    return f"* *{better}* predicts better than *{worse}*: {interval} without 0.\n"


display(
    Markdown(
        f"Out of fold the log loss is least for **{best}**. The differences, each with "
        "an interval of its own, not adjusted for how many there are:\n\n"
        + "".join(told(line) for line in judged.tidy().itertuples())
    )
)

# %% [markdown]
# All models see the same folds, so a fold that is hard is hard for all, and the
# difference is known better than from folds of their own. Fits of different folds share
# rows; the standard error of a difference is Nadeau and Bengio's, which allows for
# that, and not that of a plain paired t-test, which rejects too often. Those of the
# means in the table below do not allow for it, so that they are not to be compared
# with it.
#
# ## Side by side

# %%
fits = {name: model.fit(solver) for name, model in models.items()}
table = ps.compare_models(fits, stars=True, cross_validations=judged.cross_validations)
table

# %% [markdown]
# Terms are matched by name. $\lambda$ is so small that these are nearly the estimates of
# maximum likelihood. A model that predicts all rows alike, as one with few predictors
# may, has a warning below the table. `brackets="conf_int"` has intervals in place of standard errors, and
# `to_latex()`, `to_markdown()` and `to_frame()` take the table elsewhere. AIC and BIC
# weigh fit against size for the rows at hand; the means over the folds need no such
# formula, and compare what AIC does not, such as errors of another loss:

# %%
svm = ps.svm(formulas["levels"], data, lam=1e-3)
pair = {"hinge": svm, "log": models["levels"]}
by_error = ps.compare_errors(pair, solver, seed=443)
by_error.summary()

# %% [markdown]
# ## In probabilities
#
# Coefficients are on the scale of log odds, which changes when predictors are added to
# a model, so they are not comparable between models. Probabilities are. The average
# marginal effect is the mean over the rows of the slope of the probability, per
# year, or of its change from one level to another.

# %%
effects = pd.concat(
    {name: fit.margins("yrs_married").tidy() for name, fit in fits.items()},
    names=["model", "line"],
).droplevel("line")
effects[["estimate", "std_error", "conf_low", "conf_high"]].round(4)

# %% tags=["remove-input"]
lowest, highest = effects["estimate"].agg(["idxmin", "idxmax"])
display(
    Markdown(
        f"A year of marriage more, the other predictors of the model being the same, goes "
        f"with {100 * effects['estimate'].min():.1f} percentage points (*{lowest}*) to "
        f"{100 * effects['estimate'].max():.1f} (*{highest}*). Without age in the model "
        f"the years stand for both."
    )
)

# %%
fits["levels"].margins("rating", contrasts="reference").summary()

# %% [markdown]
# And what each model predicts if all rows have the same rating and their own values of
# the other predictors:

# %% {"alt": "Mean predicted probability of an affair by the rating of the marriage, with intervals, from two models: both fall from the lowest rating to the highest, and their intervals overlap at each rating, those of the levels being wider.", "tags": ["fold"]}
from pegasos_stats.output.plotting.style import axes_of, lines, styled

ratings = sorted(data["rating"].unique())
numbers = fits["numbers"].predictions(at={"rate_marriage": [float(r) for r in ratings]})
predicted = {
    "numbers": numbers.tidy(),
    "levels": fits["levels"].predictions("rating").tidy(),
}
with styled():
    ax = axes_of(None, 6.4, 3.6)
    for place, (name, means) in enumerate(predicted.items()):
        line = lines(2)[place]
        ax.errorbar(
            np.arange(len(means)) - 0.06 + 0.12 * place,
            means["estimate"],
            yerr=means["conf_high"] - means["estimate"],
            fmt=line.marker,
            color=line.colour,
            label=name,
        )
    ax.set_xticks(range(len(ratings)), ratings)
    ax.set(xlabel="rating of the marriage", ylabel="mean predicted probability")
    ax.legend()

# %% [markdown]
# `ps.compare_predictions()` compares two fits on test rows, by McNemar's test; and
# `result.wald_test_terms()` tests the terms of one.
#
# ## Session

# %%
ps.session_info()
