# %% [markdown]
# # Counts and clusters: from a contingency table to a report
#
# **Question.** Who survived the Titanic? The data are 32 lines, each with the number of
# people that it stands for. And what if people in the same group are not independent?
#
# **Answer.** `freq_weights="Freq"` lets a line stand for so many rows, in the fit, its
# standard errors, tables, folds and reports; writing the rows out gives the same
# numbers to the last digit. Counts say how many rows there are, not that these are
# independent: for clustered rows, `fit(cov_type="cluster", groups=...)` gives the
# standard errors.

# %% tags=["remove-input"]
from IPython.display import Markdown, display

from pegasos_stats.output.plotting.style import axes_of, lines, styled

# %%
import numpy as np
import pandas as pd

import pegasos_stats as ps

# %% [markdown]
# ## The answer first
#
# `datasets::Titanic` of R, as `as.data.frame()` gives it: a line for each class, sex, age
# and outcome.

# %%
levels = {
    "Class": ["1st", "2nd", "3rd", "Crew"],
    "Sex": ["Female", "Male"],
    "Age": ["Adult", "Child"],
    "Survived": ["No", "Yes"],
}
people = [4, 140, 0, 1, 118, 57, 0, 5, 13, 80, 0, 13, 154, 14, 0, 11]
people += [89, 76, 17, 14, 387, 75, 35, 13, 3, 20, 0, 0, 670, 192, 0, 0]
lines_of = pd.MultiIndex.from_product(levels.values(), names=list(levels))
table = pd.Series(people, lines_of, name="Freq").reset_index()

formula, solver = "Survived ~ Class + Sex + Age", ps.SDCA(tol=1e-9, seed=443)
model = ps.logit(formula, table, freq_weights="Freq", lam=1e-9)
result = model.fit(solver, cov_type="nonrobust")
odds = result.tidy(exponentiate=True).set_index("term")
odds[["estimate", "conf_low", "conf_high"]].round(3)

# %% tags=["remove-input"]
ratios = odds.drop(index="Intercept")
strongest = ratios.loc[np.log(ratios["estimate"]).abs().idxmax()]
survived = table.loc[table["Survived"] == "Yes", "Freq"].sum()
display(
    Markdown(
        f"Of {int(result.nobs):,} people in {len(table)} lines "
        f"{survived / result.nobs:.0%} survived. These are odds ratios, against the "
        f"first level of each factor. The one farthest from 1 is that of "
        f"{strongest.name}: {strongest['estimate']:.2g}, with an interval from "
        f"{strongest['conf_low']:.2g} to {strongest['conf_high']:.2g}."
    )
)

# %% [markdown]
# $\lambda$ is so small that these are the maximum likelihood estimates, with the usual
# standard errors, as of `glm(..., weights = Freq)` in R. Which terms matter, each tested
# as a whole:

# %%
result.wald_test_terms()

# %% [markdown]
# ## The same from the rows
#
# Each line is written as often as it counts. The fit runs over these rows in both cases,
# so no bit differs.

# %%
rows = table.loc[table.index.repeat(table["Freq"])].drop(columns="Freq")
written_out = ps.logit(formula, rows, lam=1e-9).fit(solver, cov_type="nonrobust")
pd.Series(
    {
        "coefficients": result.params.equals(written_out.params),
        "standard errors": result.bse.equals(written_out.bse),
        "log-likelihood": result.llf == written_out.llf,
        "confusion table": result.confusion(table).table.equals(
            written_out.confusion(rows).table
        ),
    },
    name="equal in every bit",
).to_frame()

# %% [markdown]
# Tables count people too, and so do the folds of cross-validation, which part people of
# one line.

# %%
print(result.confusion(table))

# %%
validation = ps.cross_validate(model, solver, folds=5, seed=443)
print(validation.summary())

# %% [markdown]
# `weights=` is something else: it says how much a row matters, and leaves the number of
# rows as it is.
#
# ## The report
#
# Errors out of fold, the strongest predictors and a figure come first on the page; data,
# method and certificate are folded below.

# %%
page = result.report(validation=validation, title="Who survived the Titanic?")
print(page)

# %% tags=["remove-input"]
size = len(page.as_html().encode()) / 1024
display(Markdown(f"The page has {size:,.0f} KiB, and loads nothing."))

# %% [markdown]
# ## Rows that come in clusters
#
# Counts of pupils, from 1998, come with statsmodels: how many in a school district of
# California are above the national median in mathematics, how many below. Here are the
# districts with at most 300 pupils, two lines each.

# %%
import statsmodels.api as sm

schools = sm.datasets.star98.load_pandas().data
schools["district"] = np.arange(len(schools))
schools = schools[schools["NABOVE"] + schools["NBELOW"] <= 300]
predictors = {
    "LOWINC": "low_income",
    "PERHISP": "hispanic",
    "PTRATIO": "pupils_per_teacher",
}
pupils = schools.rename(columns=predictors | {"NABOVE": "yes", "NBELOW": "no"}).melt(
    id_vars=["district", *predictors.values()],
    value_vars=["no", "yes"],
    var_name="above",
    value_name="pupils",
)
study = ps.logit(
    f"above ~ {' + '.join(predictors.values())}",
    pupils,
    freq_weights="pupils",
    lam=1e-6,
    standardize=True,
)
clustered = study.fit(solver, cov_type="cluster", groups="district")
clustered.summary()

# %% [markdown]
# Pupils of one district share its teachers, and all predictors. They are not independent
# trials, and `groups=` adds the scores of a district before they are squared. Compared
# with standard errors that treat pupils as independent (`nonrobust` also takes the
# model's probabilities for those of the pupils, and the means and standard deviations of
# the predictors as known):

# %%
kinds = {
    "nonrobust": clustered.with_covariance("nonrobust"),
    "HC1": clustered.with_covariance("HC1"),
    "cluster": clustered,
}
errors = pd.DataFrame({name: fit.bse for name, fit in kinds.items()})
errors["cluster / HC1"] = errors["cluster"] / errors["HC1"]
errors.round(4)

# %% tags=["remove-input"]
ratio = errors["cluster / HC1"]
inside = {
    name: [
        term
        for term, (low, high) in fit.conf_int().drop(index="Intercept").iterrows()
        if low < 0.0 < high
    ]
    for name, fit in kinds.items()
}


def named(terms: list[str]) -> str:
    """Terms in words."""
    return ", ".join(terms) or "none"


display(
    Markdown(
        f"{int(clustered.nobs):,} pupils in {clustered.groups}: the standard errors are "
        f"{ratio.min():.1f} to {ratio.max():.1f} times those of independent pupils. "
        f"Intervals that hold 0, taken for independent: {named(inside['HC1'])}; by "
        f"district: {named(inside['cluster'])}."
    )
)

# %% {"alt": "Intervals of three coefficients, pupils taken for independent and clustered by district: those by district are several times as wide.", "tags": ["fold"]}
with styled():
    ax = axes_of(None, 6.4, 2.8)
    for place, name in enumerate(["HC1", "cluster"]):
        drawn = kinds[name].tidy().iloc[1:][::-1]
        line = lines(2)[place]
        ax.errorbar(
            drawn["estimate"],
            np.arange(len(drawn)) + 0.12 - 0.24 * place,
            xerr=drawn["conf_high"] - drawn["estimate"],
            fmt=line.marker,
            color=line.colour,
            label=name,
        )
    ax.axvline(0.0, color="black", linewidth=0.8)
    ax.set_yticks(np.arange(len(drawn)), drawn["term"])
    ax.set_xlabel("coefficient of the standardized predictor, 95% interval")
    ax.legend(loc="lower left")

# %% [markdown]
# On the original scale of the predictors, `tidy(original=True)`, the numbers are those
# of `vcovCL(type = "HC1")` of R's sandwich; the standardized ones above also count the means and
# standard deviations of the predictors as estimated. There can be two groupings
# (`groups=["district", "year"]`), and `cov_type="bootstrap"` with `groups=` draws whole
# districts. Tests are by Student's t with one degree of freedom less than there are
# clusters, which matters where these are few, such as thirty. Cross-validation takes
# `groups=` as well, so that no district is in the rows of a fit and among those that
# judge it.
#
# ## Session

# %%
ps.session_info()
