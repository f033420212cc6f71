# %% [markdown]
# # Choosing a threshold, and saying what it costs
#
# **Question.** A tumour that is overlooked costs more than a false alarm. Above which
# probability should a tumour be called malignant, and what will that cost with new
# patients?
#
# **Answer.** `result.thresholds(cost=...)` chooses the threshold by out-of-fold scores,
# and estimates by nested cross-validation what new rows will cost. An estimate from the
# training rows is too optimistic.

# %% tags=["remove-input"]
from IPython.display import Markdown, display

# %%
import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer

import pegasos_stats as ps

# %% [markdown]
# ## The answer first
#
# The data are the breast cancer data of Wisconsin, which come with scikit-learn:
# measures of the cell nuclei in a sample, and whether the tumour was malignant. The fit
# sees 200 rows; all others are held out, to check the estimates at the end.

# %%
MISSED, ALARM = 10, 1  # cost of a malignant tumour overlooked, and of a false alarm
source = load_breast_cancer(as_frame=True)
data = source.data.rename(columns=lambda name: name.replace(" ", "_"))
data["tumour"] = np.where(source.target == 0, "malignant", "benign")
order = ps.RRandom(443).sample_int(len(data)) - 1
train, test = data.iloc[order[:200]], data.iloc[order[200:]]

model = ps.logit("tumour ~ .", train, lam=1e-3, standardize=True)
result = model.fit(ps.SDCA(tol=1e-7, seed=443))
costs = {"malignant": MISSED, "benign": ALARM}
found = result.thresholds(cost=costs, repeats=5, seed=443)
found.summary()

# %% tags=["remove-input"]
chosen, usual = found.tidy().set_index("term")["estimate"]
display(
    Markdown(
        f"Call malignant what has a probability above **{found.threshold:.3g}**. A new "
        f"patient is expected to cost {chosen:.3f}, give or take {found.std_error:.3f}; "
        f"at the usual threshold of {found.usual:.2g} it would be {usual:.3f}."
    )
)

# %% [markdown]
# `cost=` says what it costs to mistake a row of a level for one of the other. The table
# has both thresholds; its costs are those of an average row.
#
# ## Why out of fold, and why nested
#
# On the rows of the fit the scores are too far apart: the fit has been made to part
# them. So the rows are cut into five folds, and each is scored by a fit to the other
# four; these scores choose. But their cost at the threshold chosen from them is too low
# again, as it is the smallest of many costs. So for each fold a threshold is chosen
# again, by folds within the other four, and evaluated on the fold left out. That is the
# estimate in the table.

# %% {"alt": "Mean cost of a row against the threshold: it falls steeply near 0, is low and nearly flat over a wide range, and rises steeply near 1; a diamond with its error bar is at the threshold chosen, near 0, and the ticks below are the thresholds of the folds, which lie far apart.", "tags": ["fold"]}
from pegasos_stats.output.plotting.style import axes_of, styled

with styled():
    ax = found.plot(axes_of(None, 6.4, 4.0))
    ax.set_ylim(0.0, 5.0 * usual)

# %%
found.by_fold.head(5).round(3)

# %% [markdown]
# ## What the training rows would have promised
#
# `result.thresholds(train)` is refused, with this reason. Done by hand, the training
# rows choose a threshold and promise a cost; the rows that were kept say what came of it.


# %%
def paid(rows: pd.DataFrame, threshold: float) -> pd.Series:
    """Cost of each row at this threshold."""
    called = np.where(probability[rows.index] > threshold, "malignant", "benign")
    return rows["tumour"].map(costs) * (called != rows["tumour"])


def cost(rows: pd.DataFrame, threshold: float) -> float:
    """Mean cost of a row."""
    return paid(rows, threshold).mean()


probability = result.predict_proba(data)["malignant"]
ends = np.sort(probability[train.index])
middles = (ends[1:] + ends[:-1]) / 2
by_training = min(middles, key=lambda threshold: cost(train, threshold))
promises = pd.DataFrame(
    {
        "threshold": [by_training, found.threshold, found.threshold],
        "promised": [cost(train, by_training), found.apparent, found.estimate],
    },
    index=["training rows", "out of fold", "out of fold, nested"],
)
promises["came true"] = [cost(test, at) for at in promises["threshold"]]
promises.round(3)

# %% tags=["remove-input"]
display(
    Markdown(
        f"The training rows promise {promises['promised'].iloc[0]:.3f} for each patient, "
        f"and {promises['came true'].iloc[0]:.3f} is what the {len(test)} patients cost "
        f"at their threshold. The nested estimate is {found.estimate:.3f}, with a "
        f"standard error of {found.std_error:.3f}, and {promises['came true'].iloc[2]:.3f} "
        f"came true, with one of {paid(test, found.threshold).sem():.3f}. At the usual "
        f"threshold they cost {cost(test, found.usual):.3f}."
    )
)

# %% [markdown]
# ## Deciding by it
#
# `predict` and `confusion` take the threshold; a fit itself is not changed by it.

# %%
print(result.confusion(test, threshold=found.threshold))

# %% [markdown]
# Without `cost=` a metric chooses: `metric="balanced_accuracy"`, the default, or "f1",
# "kappa" and others. `thresholds(new_rows)` chooses by new rows that the fit has not
# seen, `groups=` keeps rows that belong together in one fold, and a hinge fit has
# thresholds of its scores.
#
# If the probabilities are right, theory has the best threshold at once. With $m$ the
# cost of a tumour missed and $a$ that of an alarm, a tumour is to be called malignant
# where $m\,p > a\,(1 - p)$, so from the probability $a / (a + m)$ on. A threshold
# chosen by cost does not rely on that, but it varies more, as the thresholds of the
# folds show.

# %% tags=["remove-input"]
by_theory = ALARM / (ALARM + MISSED)
lowest, highest = found.by_fold["threshold"].agg(["min", "max"])
display(
    Markdown(
        f"Here that is {by_theory:.3g}, and the kept rows would have cost "
        f"{cost(test, by_theory):.3f} each. Thresholds of the folds go from "
        f"{lowest:.2g} to {highest:.2g}."
    )
)

# %% [markdown]
#
# ## Session

# %%
ps.session_info()
