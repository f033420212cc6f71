# %% [markdown]
# # From a data frame to a report
#
# **Question.** Which patients are readmitted within thirty days? How does one get from a
# table with text, rare levels and missing values to a model, a rule and a page to print?
#
# **Answer.** A formula names the outcome and the predictors. Text becomes factors, rows with
# missing values are excluded and counted, and the summary fits on one screen. Marginal
# effects state the result in probabilities. Costs determine a threshold. `result.report()`
# writes one page about held-out patients.
#
# The data are simulated; no patient is real. The tutorial
# [From a hospital's CSV to the report](../docs/tutorials/hospital.rst) discusses the same data
# at greater length.

# %%
import tempfile
from pathlib import Path

import pandas as pd

import pegasos_stats as ps

# %%
raw = pd.read_csv("../docs/data/patients.csv", parse_dates=["admitted"])
raw.head(4)

# %% [markdown]
# ## Factors
#
# Text columns such as `sex` and `ward` become factors. The first level in sorted order is the
# reference, unless the column is a `Categorical`: then its first category is. A large level
# is a good reference, because it gives the shortest intervals for the others.

# %%
raw.groupby("ward")["readmitted"].value_counts().unstack(fill_value=0)

# %% [markdown]
# One patient of the burns ward was readmitted, too few for a coefficient. That ward is
# excluded here. `crp` is text, because values below the limit of detection are written `<5`;
# half the limit replaces them.

# %%
wards = ["Medicine", "Cardiology", "Geriatrics", "Surgery"]
data = raw[raw["ward"].isin(wards)].assign(
    ward=lambda rows: pd.Categorical(rows["ward"], wards),
    crp=lambda rows: pd.to_numeric(rows["crp"].replace("<5", "2.5")),
)

# %% [markdown]
# ## Missing values
#
# Some patients have no haemoglobin value. The model excludes them and reports how many. This
# is valid if, among patients with the same predictors, a missing value is independent of
# readmission. Otherwise impute
# ([Multiple imputation](../docs/howto/multiple_imputation.rst)).

# %%
data.isna().sum().loc[lambda missing: missing > 0]

# %% [markdown]
# ## Model
#
# Patients admitted in the last half-year are held out before anything is fitted.
# `ps.logit()` without `lam` computes maximum likelihood estimates. The standard errors are
# HC3.

# %%
late = data["admitted"] >= "2024-07-01"
train, test = data[~late], data[late]
formula = "readmitted ~ age + sex + ward + nights + earlier + log(crp) + haemoglobin"
result = ps.logit(formula, train).fit()
print(result.summary())

# %% [markdown]
# Odds ratios with 95% intervals:

# %% tags=["hide-input", "picture"] mystnb={"image": {"alt": "Odds ratios with 95% intervals on a logarithmic axis, one line for each predictor and level. Those of earlier admissions, nights and log(crp) are above 1."}}
ax = result.plot.odds_ratios()

# %% [markdown]
# ## Effects on the probability
#
# An odds ratio is not a difference in probability. `margins()` computes effects on the
# probability, averaged over the patients: for a number the slope, per unit; for a factor the
# difference from the reference level.

# %%
print(result.margins())

# %% [markdown]
# A factor has one coefficient for each level but the reference. These Wald tests refer to
# whole terms:

# %%
result.wald_test_terms().round(4)

# %% [markdown]
# ## Predictions for new patients
#
# The next table shows probabilities with 95% intervals for the first four held-out patients.
# The prediction for a patient without haemoglobin would be NaN.

# %%
result.get_prediction(test.head(4)).summary_frame().round(3)

# %% [markdown]
# ## Threshold
#
# Suppose a missed readmission costs as much as five needless calls. If the probabilities are
# right, a call pays if the probability exceeds $1 / (1 + 5) = 0.167$. The thresholds that
# the data select in five folds are below and above this value:

# %%
cost = {"false_negative": 5, "false_positive": 1}
choice = result.thresholds(cost=cost, seed=1)
print(choice.by_fold["threshold"].round(3).tolist())

# %% [markdown]
# With the threshold 1/6, the held-out patients give this table:

# %%
table = result.confusion(test, threshold=1 / 6)
print(table)

# %% [markdown]
# ## The page
#
# The report begins with the numbers for the decision. The model, the calibration and the
# curves follow. It is one HTML file that needs no network. It does not name patients unless
# you set `row_names=True`.

# %%
with tempfile.TemporaryDirectory() as folder:
    result.report(test, Path(folder) / "readmissions.html", cost=cost)
    print(sorted(path.name for path in Path(folder).iterdir()))

# %% [markdown]
# ## The same data and a support vector machine
#
# `ps.svm()` takes the same formula. It predicts classes, not probabilities. Here it predicts
# *no* for everyone, because few patients are readmitted, and its summary says so.

# %%
rule = ps.svm(formula, train).fit()
print(rule.confusion(test).table)

# %% [markdown]
# ## Session

# %% tags=["varies"]
pd.Series(ps.session_info().versions, name="version").to_frame()
