# %% [markdown]
# # Steps, batches, projection, averages
#
# **Question.** Pegasos can take several rows in a step, project the coefficients, return an
# average instead of the last iterate, and refit the intercept at the end. Which of these
# options brings a fit nearer to the minimum for the same work? What does a step cost if most
# predictors are 0?
#
# **Answer.** It depends on the data. If the predictors have mean 0, the last iterate is
# noisy and an average of the last epochs removes the noise. The other options change little.
# If the predictors have other means and $\lambda$ is small, the first steps move the
# intercept far away and it returns only slowly. Averages and a refitted intercept do not help
# then; batches, projection and centred predictors do. The duality gap shows whether a fit is
# near the minimum. With sparse rows, the cost of a step depends only on the entries of one
# row.

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.sparse import csr_array

import pegasos_stats as ps

# %% [markdown]
# ## One step
#
# The objective is
#
# $$P(\beta, \alpha) = \dfrac{\lambda}{2}\,\Vert\beta\Vert^2 + \dfrac{1}{n}
# \sum_{i=1}^{n} \max\left(0,\, 1 - y_i\left(x_i'\beta + \alpha\right)\right)$$
#
# Step $t$ of Pegasos takes a batch $A$ of one or more rows:
#
# $$\beta \leftarrow \beta - \dfrac{1}{\lambda t} \left(\lambda\beta -
# \dfrac{1}{|A|} \sum_{i \in A} s_i y_i x_i\right), \qquad
# \alpha \leftarrow \alpha + \dfrac{1}{\lambda t\,|A|} \sum_{i \in A} s_i y_i$$
#
# where $s_i$ is 1 if the margin $y_i (x_i'\beta + \alpha)$ is below 1, and 0 otherwise. With
# $\lambda = 0.01$ the first step size is 100.
#
# ## Two data sets
#
# *Noise* is simulated: two classes and 20 normal predictors of mean 0. The first five differ
# a little between the classes. R's generator draws the numbers, so `set.seed()` and
# `rnorm()` give the same rows in R. *Digits* are the fives and sixes of the package, with ink
# from 0 to 1. No pixel has a negative mean, and 54 have a positive mean.


# %%
def noise(n, p, shift, seed):
    """Two classes of normal rows; the means of the first five differ by 2 * shift."""
    rng = ps.RRandom(seed)
    X = rng.rnorm(n * p).reshape(p, n).T
    case = rng.runif(n) < 0.5
    X[:, :5] += np.where(case, shift, -shift)[:, None]
    data = pd.DataFrame(X, columns=[f"x{j}" for j in range(1, p + 1)])
    return data.assign(group=np.where(case, "case", "control"))


def ink(digits):
    """Pixels from 0 to 1."""
    return (digits / 16).assign(digit=digits["digit"])


rows, new_rows = noise(1000, 20, 0.3, seed=1), noise(4000, 20, 0.3, seed=2)
digits, new_digits = map(ink, ps.datasets.load_digits56())
models = {
    "noise": (ps.svm("group ~ .", rows, lam=0.01), new_rows),
    "digits": (ps.svm("digit ~ .", digits, lam=0.01), new_digits),
}

# %% [markdown]
# ## The comparison
#
# Each variant of Pegasos makes 30 passes over the rows, from the same four seeds. `Optimum`
# continues until its certificate shows that the minimum is reached to eight digits. It is
# the reference.

# %%
EPOCHS = 30
variants = {
    "plain": ps.Pegasos(EPOCHS),
    "batches of 10": ps.Pegasos(EPOCHS, batch_size=10),
    "batches of 50": ps.Pegasos(EPOCHS, batch_size=50),
    "one batch of all rows": ps.Pegasos(EPOCHS, batch_size=1000),
    "projected": ps.Pegasos(EPOCHS, project=True),
    "average of all epochs": ps.Pegasos(EPOCHS, average="all"),
    "average of last 15": ps.Pegasos(EPOCHS, average=15),
    "intercept refitted": ps.Pegasos(EPOCHS, refit_intercept=True),
}
exact = {"Optimum": ps.Optimum(tol=1e-8, epochs=300)}
studies = {
    name: ps.compare_solvers(model, variants | exact, runs=4, test=test, seed=443)
    for name, (model, test) in models.items()
}


def medians(study):
    """Medians over the runs after the last pass."""
    last = study.runs.groupby(["solver", "run"], observed=True).last()
    last = last.assign(above_minimum=last["objective"] - study.lower_bound)
    columns = ["steps", "above_minimum", "gap", "test_error"]
    table = last.groupby("solver", observed=True)[columns].median()
    return table.drop(index="Optimum").astype({"steps": int}).rename_axis(None)


tables = {name: medians(study) for name, study in studies.items()}

# %% tags=["hide-input", "picture"] mystnb={"image": {"alt": "Objective above the minimum for each variant, on a logarithmic axis. Noise: the average of the last 15 epochs is lowest, the average of all epochs highest. Digits: batches and projection are lowest; plain, averages and the refitted intercept are highest."}}
figure, axes = plt.subplots(1, 2, figsize=(6.8, 3.2), sharey=True)
for ax, (name, table) in zip(axes, tables.items(), strict=True):
    values = table["above_minimum"][::-1]
    ax.hlines(values.index, 1e-4, values, color="lightgrey")
    ax.plot(values, values.index, "o")
    ax.set(xscale="log", xlim=(2e-4, 2), title=name, xlabel="Objective above minimum")

# %% [markdown]
# Points are medians over the runs; further left is better. The table adds the certified gap
# and the error rate on new rows.

# %%
pd.concat(tables).round(4)

# %% [markdown]
# ## Batches: the same result for the same passes
#
# A batch averages the noise of its rows, but a pass then has fewer steps. For *noise* the two
# effects cancel. Batches are useful if each step has a fixed cost, for example if it waits
# for another machine. One batch of all rows gives the sub-gradient of $P$ itself, without
# noise, but thirty steps are too few.


# %% tags=["hide-input"] mystnb={"image": {"alt": "Noise: objective above the minimum against passes on the left, where all batch sizes but one batch of all rows coincide, and against steps on the right, where larger batches are far to the left."}}
def medians_by(study, names, against):
    """Median objective above the minimum, one column for each variant."""
    runs = study.runs.assign(above=study.runs["objective"] - study.lower_bound)
    runs = runs[runs["solver"].isin(names)].astype({"solver": str})
    table = runs.pivot_table(
        index=against, columns="solver", values="above", aggfunc="median"
    )
    return table[names].rename_axis(columns=None)


names = ["plain", "batches of 10", "batches of 50", "one batch of all rows"]
figure, axes = plt.subplots(1, 2, figsize=(6.8, 3.2), sharey=True)
for ax, (against, label) in zip(
    axes, {"epoch": "Passes", "steps": "Steps"}.items(), strict=True
):
    for name, values in medians_by(studies["noise"], names, against).items():
        ax.loglog(values.dropna(), label=name)
    ax.set_xlabel(label)
axes[0].set_ylabel("Objective above minimum")
legend = figure.legend(
    *axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2
)

# %% [markdown]
# ## Projection: for the first steps
#
# At the minimum $\Vert\beta\Vert \leq 1/\sqrt{\lambda}$. `project=True` shortens longer
# vectors of coefficients to this length. The next cell follows every step of the first pass.
# Its `order` contains lists of one row, so that each step is an epoch.


# %%
def path(model, solver):
    """Length of the coefficients, and intercept, after every epoch."""
    seen = []
    model.solve(solver, lambda moment: seen.append(moment.solution))
    lengths = [np.linalg.norm(solution.beta) for solution in seen]
    return pd.DataFrame({"length": lengths, "intercept": [s.alpha for s in seen]})


first_pass = {}
for name, (model, _) in models.items():
    order = ps.RRandom(443).permutation(model.problem.n)[:, None]
    for label, project in {"plain": False, "projected": True}.items():
        solver = ps.Pegasos(order=order, project=project)
        first_pass[name, label] = path(model, solver)["length"]

# %% tags=["hide-input"] mystnb={"image": {"alt": "Length of the coefficients in the first pass, for noise and digits. The plain one starts far above the limit of 10; the projected one stays at the limit until both come down together."}}
figure, axes = plt.subplots(1, 2, figsize=(6.8, 2.8), sharey=True)
for ax, name in zip(axes, models, strict=True):
    for label in ("plain", "projected"):
        length = first_pass[name, label]
        ax.loglog(np.arange(1, len(length) + 1), length, label=label)
    ax.axhline(10, color="grey", linestyle=":", label="$1/\\sqrt{\\lambda}$")
    ax.set(title=name, xlabel="Step of the first pass")
axes[0].set_ylabel("Length of the coefficients")
legend = axes[0].legend()

# %% [markdown]
# Even without projection the length decreases, like $1/t$. For *noise* projection has no
# lasting effect. For *digits* it helps, but not because of the length: with short
# coefficients the intercept has less to compensate, as the section on the intercept shows.
#
# ## Averages: the last half, not all
#
# The last iterate carries the noise of the last steps. An average over the last half of the
# epochs removes it. An average over all epochs includes the huge first steps and is worse
# than the last iterate.

# %% tags=["hide-input"] mystnb={"image": {"alt": "Noise: objective above the minimum against passes. The average of all epochs lies above the last iterate throughout; the average of the last 15 epochs falls below it from pass 16 on."}}
names = ["plain", "average of all epochs", "average of last 15"]
ax = medians_by(studies["noise"], names, "epoch").plot(loglog=True, figsize=(6.4, 2.8))
text = ax.set(xlabel="Passes", ylabel="Objective above minimum")

# %% [markdown]
# The duality gap hardly shows this gain. It is $P$ minus a lower bound from the dual
# variables of the run, which are the same with and without an average. Only $P$ decreases,
# by little compared with the gap.
#
# ## The intercept: why it stays far from its optimum
#
# The intercept is not penalised. Only rows whose margin is below 1 move it back. The next
# cell follows the intercept in five runs on the digits, and in five more after the mean of
# each pixel is subtracted.

# %%
means = digits.drop(columns="digit").mean()
centred, new_centred = (
    (data.drop(columns="digit") - means).assign(digit=data["digit"])
    for data in (digits, new_digits)
)
models["digits, centred"] = ps.svm("digit ~ .", centred, lam=0.01), new_centred
best = {name: model.fit(ps.Optimum(tol=1e-6)) for name, (model, _) in models.items()}
runs = {
    name: [
        path(models[name][0], ps.Pegasos(epochs=100, seed=seed))["intercept"]
        for seed in range(1, 6)
    ]
    for name in ("digits", "digits, centred")
}

# %% tags=["hide-input"] mystnb={"image": {"alt": "Intercept by pass in five runs. Digits: it starts between -55 and 65 and is still far from the best one after 100 passes. Centred digits: all runs come to the best one."}}
figure, axes = plt.subplots(1, 2, figsize=(6.8, 2.8), sharey=True)
for ax, (name, intercepts) in zip(axes, runs.items(), strict=True):
    for intercept in intercepts:
        ax.semilogx(np.arange(1, 101), intercept, color="C0", linewidth=1)
    ax.axhline(best[name].intercept, color="black", linestyle="--")
    ax.set(title=name, xlabel="Passes")
text = axes[0].set_ylabel("Intercept\n(dashed: at the minimum)")

# %% [markdown]
# Nearly every pixel has a mean above 0, so a change of all coefficients works like a change
# of the intercept. The first steps move the intercept to one side, the coefficients
# compensate, and most margins are then above 1. The later steps shrink like $1/t$. Their sum
# moves the intercept by at most a multiple of $\log t$, so more epochs help only slowly. A
# refitted intercept helps little, because the coefficients were fitted with the wrong
# intercept.

# %%
remedies = {
    "plain": ("digits", ps.Pegasos(EPOCHS, seed=443)),
    "100 times the epochs": ("digits", ps.Pegasos(100 * EPOCHS, seed=443)),
    "intercept refitted": (
        "digits",
        ps.Pegasos(EPOCHS, seed=443, refit_intercept=True),
    ),
    "projected": ("digits", ps.Pegasos(EPOCHS, seed=443, project=True)),
    "batches of 10": ("digits", ps.Pegasos(EPOCHS, seed=443, batch_size=10)),
    "step = 0.1 / sqrt(t)": (
        "digits",
        ps.Pegasos(EPOCHS, seed=443, step=0.1 / np.sqrt(np.arange(1, 6_001))),
    ),
    "centred": ("digits, centred", ps.Pegasos(EPOCHS, seed=443)),
}
comparison = {}
for remedy, (name, solver) in remedies.items():
    model, test = models[name]
    result = model.fit(solver)
    comparison[remedy] = {
        "intercept": result.intercept,
        "objective": result.objective,
        "minimum": best[name].objective,
        "gap": result.gap,
        "test errors": result.confusion(test).n_errors,
    }
pd.DataFrame(comparison).T.round(4).astype({"test errors": int})

# %% [markdown]
# The gap of the diverged fits is as large as their objective, so none of them looks
# converged. If the objective exceeds the objective with all coefficients 0, the summary
# warns.
#
# ## Where a run starts and ends
#
# `start=` takes coefficients, or a fit to continue. The step number $t$ then continues too,
# so two runs of ten passes equal one run of twenty. Here the order of the rows is given,
# because a seed would start a new sequence.

# %% tags=["exact"]
model, test = models["noise"]
rng = ps.RRandom(443)
order = np.array([rng.permutation(model.problem.n) for _ in range(20)])
first = model.fit(ps.Pegasos(order=order[:10]))
then = model.fit(ps.Pegasos(order=order[10:], start=first))
once = model.fit(ps.Pegasos(epochs=20, seed=443))
print("The same coefficients in every bit:", then.params.equals(once.params))

# %% [markdown]
# `tol=` ends a run after the first pass with a relative gap of at most this size.
# `change_tol=` ends it after the first pass that hardly changes a coefficient. `refine=`
# continues with `Optimum`, from the dual variables of Pegasos, until the relative gap is as
# small as requested.

# %%
ends = {
    "tol=0.1": model.fit(ps.Pegasos(300, seed=443, tol=0.1)),
    "change_tol=0.05": model.fit(ps.Pegasos(300, seed=443, change_tol=0.05)),
    "refine=1e-6": model.fit(ps.Pegasos(20, seed=443), refine=1e-6),
}
pd.DataFrame(
    {
        "relative gap": [run.relative_gap for run in ends.values()],
        "above minimum": [
            abs(run.objective - best["noise"].objective) for run in ends.values()
        ],
        "error rate": [run.confusion(test).error_rate for run in ends.values()],
    },
    index=list(ends),
).round(4)

# %% [markdown]
# The objectives differ clearly, but the error rates differ by less than their standard error,
# 0.007. For predictions a plain run is
# sufficient if its gap is small. For standard errors and for coefficients that you interpret,
# use the minimum.
#
# ## Three forms of one step
#
# The step above changes every coefficient, because $\beta$ shrinks by the factor $1 - 1/t$.
# That **literal** form needs $p$ multiplications for each row.
#
# The **lazily scaled** form stores $\beta = a\,w$ and shrinks the number $a$:
#
# $$a \leftarrow (1 - \eta\lambda)\,a, \qquad w \leftarrow w + \dfrac{\eta}{a}\,s\,y\,x$$
#
# In the form that is often printed, the first step has $t = 1$ and $\eta\lambda = 1$, so $a$
# becomes 0, and the next operation divides by 0. The first step must set $a = 1$ instead.
# From then on $a$ equals $1/t$, which suggests the third form.
#
# The **unscaled** form stores $v = \lambda t \beta$. The step is then $v \leftarrow v + s\,y\,x$,
# without $\eta$, division or special case.


# %%
def rows_of(X):
    """Columns and values of the entries of every row."""
    pairs = zip(X.indptr[:-1], X.indptr[1:], strict=True)
    return [(X.indices[i:j], X.data[i:j]) for i, j in pairs]


def literal(X, y, lam, order):
    """Return the coefficients, and how many numbers changed on the way."""
    rows, beta, changed = rows_of(X), np.zeros(X.shape[1]), 0
    for t, i in enumerate(order, start=1):
        at, x = rows[i]
        violated = y[i] * (x @ beta[at]) < 1
        beta -= beta / t
        beta[at] += violated * y[i] * x / (lam * t)
        changed += len(beta)
    return beta, changed


def lazily_scaled(X, y, lam, order):
    """Return the same results, from a and w."""
    rows, w, a, changed = rows_of(X), np.zeros(X.shape[1]), 1.0, 0
    for t, i in enumerate(order, start=1):
        at, x = rows[i]
        violated = y[i] * a * (x @ w[at]) < 1
        a = (1 - 1 / t) * a if t > 1 else 1.0
        if violated:
            w[at] += y[i] * x / (lam * t * a)
            changed += len(at)
        changed += 1
    return a * w, changed


def unscaled(X, y, lam, order):
    """Return the same results, from v."""
    rows, v, changed = rows_of(X), np.zeros(X.shape[1]), 0
    for t, i in enumerate(order, start=1):
        at, x = rows[i]
        if y[i] * (x @ v[at]) / (lam * max(t - 1, 1)) < 1:
            v[at] += y[i] * x
            changed += len(at)
    return v / (lam * len(order)), changed


# %% [markdown]
# The next cell compares the three forms on simulated sparse data: 1,000 rows, 5,000 columns,
# 20 entries per row.


# %%
def sparse_rows(n, p, entries):
    """Simulate rows; columns of odd number raise the score."""
    rng = ps.RRandom(1)
    columns = np.concatenate([rng.sample_int(p, entries) - 1 for _ in range(n)])
    values = rng.rexp(n * entries)
    X = csr_array((values, columns, np.arange(n + 1) * entries), shape=(n, p))
    X.sort_indices()
    score = X @ np.where(np.arange(p) % 2, 1.0, -1.0) + rng.rnorm(n)
    return X, np.where(score > 0, 1.0, -1.0)


X, y = sparse_rows(1_000, 5_000, 20)
order = np.concatenate([ps.RRandom(443).permutation(1_000) for _ in range(3)])
reference, _ = literal(X, y, 0.01, order)
forms = {}
for form in (literal, lazily_scaled, unscaled):
    beta, changed = form(X, y, 0.01, order)
    difference = np.abs(beta - reference).max() / np.abs(reference).max()
    forms[form.__name__] = {
        "difference from literal": difference,
        "numbers changed per step": changed / len(order),
    }
package = ps.SVM(y, X, lam=0.01, intercept=False).fit(ps.Pegasos(order=order)).coef
difference = np.abs(package - reference).max() / np.abs(reference).max()
forms["the package"] = {"difference from literal": difference}
print(pd.DataFrame(forms).T.to_string(float_format="{:.2g}".format, na_rep=""))

# %% [markdown]
# The forms agree to rounding. Dense rows are fitted in the literal form, as in the R script,
# unless you set `arithmetic="fast"`. Sparse rows are fitted in the unscaled form. The next
# figure shows the time per step.

# %% tags=["varies"]
times = {"literal, dense": {}, "unscaled, dense": {}, "unscaled, sparse": {}}
for p in (100, 300, 1_000, 3_000, 10_000, 30_000):
    X, y = sparse_rows(200, p, 20)
    for form, data, arithmetic in (
        ("literal, dense", X.toarray(), "reference"),
        ("unscaled, dense", X.toarray(), "fast"),
        ("unscaled, sparse", X, "reference"),
    ):
        model = ps.SVM(y, data, lam=0.01, intercept=False)
        solver = ps.Pegasos(epochs=10, seed=443, arithmetic=arithmetic)
        seconds = model.fit(solver, trace=True).trace["cpu_seconds"]
        times[form][p] = 1e6 * np.diff(seconds).min() / 200
times = pd.DataFrame(times)

# %% tags=["hide-input"] mystnb={"image": {"alt": "Microseconds per step against the number of columns from 100 to 30,000 on logarithmic axes: proportional to the columns for both dense forms, nearly constant for the sparse one."}}
ax = times.plot(loglog=True, marker="o", figsize=(6.4, 2.8))
text = ax.set(
    xlabel="Columns, of which 20 are not 0 in a row", ylabel="Time (µs per step)"
)

# %% [markdown]
# ## What each option does
#
# | | objective | duality gap | price |
# |:---|:---|:---|:---|
# | `batch_size=` | the same for the same passes; avoids huge first steps | dual variables averaged over the batch | too few steps if the batch is large |
# | `project=True` | shortens the first iterates, which keeps the intercept nearer | dual variables shrink too | one norm per step |
# | `average=k` | less noise if $k$ is half of the epochs; `"all"` is worse | uses the bound of the last iterate, which hides most of the gain | one sum per step |
# | `refit_intercept=True` | never worse; little better if the coefficients are far from the minimum too | same lower bound | one sort |
# | centred predictors | an intercept that converges | as usual | sparse columns become dense |
# | `step=` | depends on the size; small first steps keep the intercept near | poor where steps are small | a size to choose |
# | `tol=`, `change_tol=` | stops early | `tol=` is a limit of the relative gap | one pass for each gap |
# | `refine=1e-6`, `ps.Optimum()` | the minimum | at most the tolerance | more passes |
#
# In R these options are arguments of `pegasos()`, with the same names and the same bits.
#
# ## References
#
# Shalev-Shwartz, Singer, Srebro and Cotter (2011). Pegasos: primal estimated
# sub-gradient solver for SVM. *Mathematical Programming* B 127, 3–30.
#
# ## Session

# %% tags=["varies"]
pd.Series(ps.session_info().versions, name="version").to_frame()
