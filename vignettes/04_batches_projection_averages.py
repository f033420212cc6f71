# %% [markdown]
# # Batches, projection and averages
#
# **Question.** Pegasos can take several rows in a step, project the coefficients,
# return an average in place of the last iterate, and refit the intercept at the end.
# Which of these brings the fit nearer to the minimum for the same work, and what does
# each do to the certificate, the duality gap?
#
# **Answer.** It depends on the problem. In the noise data, whose predictors have mean 0,
# the last iterate is noisy and the average of the last epochs cures that; the other
# options do little. If predictors have other means, and $\lambda$ is small, the first steps move the intercept far away
# and it hardly comes back. Then averages and a refitted intercept do not help, but
# batches, projection or centred predictors do, and so does `refine=`, which continues
# to the minimum in any case. The gap is an upper bound in all cases; where the
# intercept diverged it is about as large as the objective, and the fit should not be
# used.

# %% tags=["remove-input"]
import textwrap

# %%
import numpy as np
import pandas as pd

import pegasos_stats as ps

# %% [markdown]
# ## Two sets of data
#
# *Noise* is drawn: two classes, 20 normal predictors of mean 0, the first five of
# which differ a little between the classes. R's generator draws them, so that
# `set.seed()` and `rnorm()` give the same rows in R.
#
# *Digits* are the fives and sixes of the package, with the ink of each pixel as a
# share from 0 to 1. No pixel's mean is below 0, and 54 are above.


# %%
def noise(n: int, p: int, shift: float, seed: int) -> pd.DataFrame:
    """Two classes of normal rows; the means of the first five differ by 2 * shift."""
    rng = ps.RRandom(seed)
    X = rng.rnorm(n * p).reshape(p, n).T
    case = rng.runif(n) < 0.5
    X[:, :5] += np.where(case, shift, -shift)[:, None]
    data = pd.DataFrame(X, columns=[f"x{j}" for j in range(1, p + 1)])
    return data.assign(group=np.where(case, "case", "control"))


def shares(digits: pd.DataFrame) -> pd.DataFrame:
    """Ink from 0 to 1."""
    return (digits / 16).assign(digit=digits["digit"])


rows, new_rows = noise(1000, 20, 0.3, seed=1), noise(4000, 20, 0.3, seed=2)
digits, new_digits = map(shares, ps.datasets.load_digits56())
models = {
    "noise": (ps.svm("group ~ .", rows, lam=0.01), new_rows),
    "digits": (ps.svm("digit ~ .", digits, lam=0.01), new_digits),
}

# %% [markdown]
# ## The answer first
#
# Every form of Pegasos passes 30 times over the rows. `compare_solvers` runs each form
# 6 times, from 6 seeds that all of them share. `Optimum` is in the study as the
# reference: it goes on until its certificate says that the minimum is reached to eight
# digits.

# %%
EPOCHS = 30
forms = {
    "plain": ps.Pegasos(EPOCHS),
    "batches of 10": ps.Pegasos(EPOCHS, batch_size=10),
    "batches of 50": ps.Pegasos(EPOCHS, batch_size=50),
    "one batch of all": ps.Pegasos(EPOCHS, batch_size=1000),
    "projected": ps.Pegasos(EPOCHS, project=True),
    "average of all": ps.Pegasos(EPOCHS, average="all"),
    "average of last 15": ps.Pegasos(EPOCHS, average=15),
    "intercept refitted": ps.Pegasos(EPOCHS, refit_intercept=True),
    "batches of 10, projected, average of last 15": ps.Pegasos(
        EPOCHS, batch_size=10, project=True, average=15
    ),
}
exact = {"Optimum": ps.Optimum(tol=1e-8, epochs=300)}
studies = {
    name: ps.compare_solvers(model, forms | exact, runs=6, test=test, seed=443)
    for name, (model, test) in models.items()
}


def last_epochs(study: ps.SolverComparison) -> pd.DataFrame:
    """Every run at its end, with the objective above the minimum."""
    last = study.runs.groupby(["solver", "run"], observed=True).last()
    return last.assign(above_minimum=last["objective"] - study.lower_bound)


def medians(study: ps.SolverComparison) -> pd.DataFrame:
    """Medians over the runs at their end."""
    shown = ["steps", "above_minimum", "gap", "test_error"]
    found = last_epochs(study).groupby("solver", observed=True)[shown].median()
    return found.drop(index="Optimum").astype({"steps": int}).rename_axis(None)


# %% {"alt": "Objective above the minimum at the end of the runs, for each form and both data sets. Noise: the averages of the last 15 epochs are lowest. Digits: batches and projection are lowest, plain, averages and refitted intercepts are highest."}
ends = {name: medians(study)["above_minimum"] for name, study in studies.items()}
axes = pd.DataFrame(ends)[::-1].plot.barh(
    logx=True,
    subplots=True,
    legend=False,
    layout=(1, 2),
    sharey=True,
    figsize=(6.8, 3.6),
)

# %% [markdown]
# Bars are medians of the objective above the minimum over the runs, on a logarithmic axis;
# shorter is better. With the certified gap and the errors on new rows:

# %%
pd.concat({name: medians(study) for name, study in studies.items()}).round(5)

# %% [markdown]
# ## What a step is
#
# What is minimised is
#
# $$P(\beta, \alpha) = \dfrac{\lambda}{2}\,\Vert\beta\Vert^2 + \dfrac{1}{n}
# \sum_{i=1}^{n} \max\left(0,\, 1 - y_i\left(x_i'\beta + \alpha\right)\right)$$
#
# and step $t$ of Pegasos takes a batch $A$ of rows, one or more:
#
# $$\beta \leftarrow \beta - \dfrac{1}{\lambda t} \left(\lambda\beta -
# \dfrac{1}{|A|} \sum_{i \in A} s_i y_i x_i\right), \qquad
# \alpha \leftarrow \alpha + \dfrac{1}{\lambda t\,|A|} \sum_{i \in A} s_i y_i$$
#
# where $s_i$ is 1 if the margin $y_i (x_i'\beta + \alpha)$ is below 1, and 0
# otherwise: minus the slope of the hinge. With $\lambda = 0.01$ the first step has
# length 100.

# %% {"alt": "Four losses against the margin: an error costs 1 below 0 and nothing above, the hinge falls in a straight line to 0 at a margin of 1, its square along a parabola, the log loss is a smooth curve near the hinge."}
losses = ps.plot_losses()

# %% [markdown]
# ## Batches: the same for the same passes
#
# A batch averages the noise of its rows, but there are fewer steps in a pass. For
# noise the two cancel: after the same number of passes batches of 10 and 50 are where
# single rows are. Counted in steps, batches need far fewer of them; that matters where
# a step has a price of its own, as when each one waits for another machine.


# %% {"alt": "Noise: objective above the minimum against passes, where all batch sizes but one batch of all coincide, and against steps, where larger batches are far to the left."}
def falling(study: ps.SolverComparison, names: list[str], against: str) -> pd.DataFrame:
    """Median of the objective above the minimum, a column for each form."""
    runs = study.runs.assign(above=study.runs["objective"] - study.lower_bound)
    runs = runs[runs["solver"].isin(names)].astype({"solver": str})
    return runs.pivot_table(
        index=against, columns="solver", values="above", aggfunc="median"
    )


batches = ["plain", "batches of 10", "batches of 50", "one batch of all"]
for against in ("epoch", "steps"):
    ax = (
        falling(studies["noise"], batches, against)
        .interpolate()
        .plot(loglog=True, figsize=(6.4, 3.2))
    )
    ax.set(ylabel="Objective above the minimum")

# %% [markdown]
# One batch of all rows is the sub-gradient of $P$ itself: no noise, and no gain from
# it, because thirty steps of this length are too few.
#
# ## Projection: for the first steps
#
# The minimum has $\Vert\beta\Vert \leq 1/\sqrt{\lambda}$, so `project=True` shortens
# anything longer. An `order` in two dimensions has one list of rows for each epoch:
# with one row in each list an observer sees every single step.


# %%
def path(model: ps.SVM, solver: ps.Pegasos) -> pd.DataFrame:
    """Length of the coefficients, and intercept, after every epoch."""
    seen = []
    model.solve(solver, lambda moment: seen.append(moment.solution))
    lengths = [np.linalg.norm(solution.beta) for solution in seen]
    return pd.DataFrame({"length": lengths, "intercept": [s.alpha for s in seen]})


# %% {"alt": "Length of the coefficients in the first pass, noise and digits: it starts far above the limit, the projected one stays at the limit until both come down together."}
ways = {"plain": False, "projected": True}
first_pass = {}
for name, (model, _) in models.items():
    rows = ps.RRandom(443).permutation(model.problem.n)[:, None]
    solvers = {way: ps.Pegasos(order=rows, project=on) for way, on in ways.items()}
    first_pass[name] = {
        way: path(model, solver)["length"] for way, solver in solvers.items()
    }
for name, paths in first_pass.items():
    ax = pd.DataFrame(paths).plot(loglog=True, title=name, figsize=(6.4, 2.8))
    ax.axhline(10.0, color="grey", label="1 / sqrt(lambda)")
    ax.set(xlabel="Step of the first pass", ylabel="Length of the coefficients")

# %% [markdown]
# The step size does by itself what projection does: it brings the length down as
# $1/t$. For noise the two forms soon are one, and projection changes nothing that
# lasts. It helps with the digits, and not because of the length itself: with short
# coefficients the intercept has less to make up for, as the section on the intercept
# shows.
#
# ## Averages: the last half, not all
#
# The last iterate carries the noise of its last steps. An average over the last half
# of the epochs takes that out. An average over all of them takes in the first, huge
# steps, which is worse than no average.

# %% {"alt": "Noise: objective above the minimum against passes. The average of all lies above the last iterate throughout; the average of the last 15 epochs falls below it from pass 16 on."}
averages = ["plain", "average of all", "average of last 15"]
ax = falling(studies["noise"], averages, "epoch").plot(loglog=True, figsize=(6.4, 3.2))

# %% [markdown]
# The gap does not show the gain. It is $P$ minus a lower bound, which comes from the
# dual weights of the run, and these are the same with and without an average: only $P$
# falls, by little beside the gap.

# %%
two = medians(studies["noise"]).loc[["plain", "average of last 15"]]
two.assign(gap_over_above=two["gap"] / two["above_minimum"]).round(5)

# %% [markdown]
# ## The intercept: what throws it away
#
# The intercept is not penalised, so nothing pulls it back but rows whose margin is below
# one. In ten runs on the digits, and again with the mean of every pixel taken off:

# %%
means = digits.drop(columns="digit").mean()
centred, new_centred = (
    (data.drop(columns="digit") - means).assign(digit=data["digit"])
    for data in (digits, new_digits)
)
models["centred"] = ps.svm("digit ~ .", centred, lam=0.01), new_centred
best = {
    name: model.fit(ps.Optimum(tol=1e-6, seed=443))
    for name, (model, _) in models.items()
}

# %% {"alt": "Intercept by pass in ten runs. Digits: it starts between plus and minus 50 and still is between plus and minus 40 after 100 passes, while the best one is near 0. Centred digits: all runs come to the best one."}
shown = {"Digits": "digits", "Digits, centred": "centred"}
ten = [ps.Pegasos(epochs=100, seed=seed) for seed in range(1, 11)]
runs = {
    title: [path(models[name][0], solver)["intercept"] for solver in ten]
    for title, name in shown.items()
}
for title, name in shown.items():
    ax = pd.concat(runs[title], axis=1).plot(
        logx=True, legend=False, title=title, color="C0", figsize=(6.4, 2.8)
    )
    ax.axhline(best[name].intercept, color="black", linestyle="--")
    ax.set(xlabel="Passes over the rows", ylabel="Intercept (dashed: at the minimum)")

# %% [markdown]
# Where nearly every pixel has a mean above 0, a change of all coefficients works like a
# change of the intercept. After the first steps have thrown the intercept to one side,
# the coefficients make up for it, and most margins are above 1. What still moves it
# are steps that shrink like $1/t$. Together they take it back by some multiple of
# $\log t$ at best, so more epochs are no cure.
#
# That is why a refitted intercept helps so little: the coefficients have been fitted
# to the wrong one. What does help: batches, which do not take the first huge steps on
# a single row; projection, which leaves the coefficients nothing to make up with;
# centred predictors; a larger $\lambda$.

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
    "centred": ("centred", ps.Pegasos(EPOCHS, seed=443)),
    "centred, projected": ("centred", ps.Pegasos(EPOCHS, seed=443, project=True)),
}
found = {}
for remedy, (name, solver) in remedies.items():
    model, test = models[name]
    result = model.fit(solver)
    found[remedy] = {
        "intercept": result.intercept,
        "best": best[name].intercept,
        "objective": result.objective,
        "minimum": best[name].objective,
        "gap": result.gap,
        "test errors": result.confusion(test).n_errors,
    }
pd.DataFrame(found).T.round(4).astype({"test errors": int})

# %% [markdown]
# None of these fits hides it: the gap of the diverged fits is as large as their objective. Where
# the objective is above that of the model that is all zero, the summary warns.
# Both cures that it names reach the minimum.

# %%
diverged = models["digits"][0].fit(ps.Pegasos(epochs=1, seed=443))
print(textwrap.fill(diverged.summary().notes[0], 80))

# %% [markdown]
# ## Other sizes of the steps
#
# `step=` replaces $1 / (\lambda t)$ by one number for all steps, by $1 / (\lambda n)$,
# by $1 / \sqrt{t}$, or by an array with a size for each step: plain stochastic gradient
# descent. Medians of six runs of 30 passes, each with the average of the last 15:

# %%
choices = {
    "1 / (lambda t)": lambda n: "pegasos",
    "1 / (lambda n)": lambda n: "1/(lambda n)",
    "1 / sqrt(t)": lambda n: "1/sqrt(t)",
    "0.1 / sqrt(t)": lambda n: 0.1 / np.sqrt(np.arange(1, EPOCHS * n + 1)),
    "0.01": lambda n: 0.01,
}
found = {}
for name in ("noise", "digits"):
    model, test = models[name]
    for words, sizes in choices.items():
        form = {"step": sizes(model.problem.n), "average": 15}
        runs = [model.fit(ps.Pegasos(EPOCHS, seed=s, **form)) for s in range(1, 7)]
        found[name, words] = {
            "above_minimum": np.median([run.objective for run in runs])
            - best[name].objective,
            "gap": np.median([run.gap for run in runs]),
        }
pd.DataFrame(found).T.round(5)

# %% [markdown]
# Steps that do not begin with $1 / \lambda = 100$ leave the intercept near where it is,
# and most of the harm to the digits is avoided. Steps of one size end at some distance from the minimum, the
# farther the larger they are; steps that shrink get there in the end. Which size is best
# depends on the data, though. The gap may be poor where the objective is good: its
# lower bound is made of the steps of the run, and small steps say little in 30 passes.
#
# Objective above the minimum, gap and accuracy against the number of steps, for one of
# these runs:

# %% {"alt": "Noise, steps of 0.1 over the root of t: the objective falls to about a ten-thousandth above the minimum, the gap stays large, the accuracy on the rows of the fit and on new rows settles after the first passes."}
model, test = models["noise"]
sizes = 0.1 / np.sqrt(np.arange(1, EPOCHS * model.problem.n + 1))
run = model.fit(ps.Pegasos(EPOCHS, seed=443, step=sizes), trace=True, test=test)
panels = run.plot.trace("steps", optimum=best["noise"].objective)

# %% [markdown]
# ## Another start, and going on
#
# `start=` takes coefficients, or a fit to go on from: then $t$ counts on, and twice ten
# passes are twenty. The rows are named here, as a seed would begin to draw anew.

# %%
rng = ps.RRandom(443)
rows = np.array([rng.permutation(model.problem.n) for _ in range(20)])
first = model.fit(ps.Pegasos(order=rows[:10]))
then = model.fit(ps.Pegasos(order=rows[10:], start=first))
once = model.fit(ps.Pegasos(epochs=20, seed=443))
print("The same coefficients in every bit:", then.params.equals(once.params))

# %% [markdown]
# `start="random"` begins in a random direction, by `rnorm()` of R, with length
# $1 / \sqrt{\lambda}$. It matters less than one may think: the step $t = 1$, of size
# $1 / \lambda$, keeps nothing of the coefficients that it finds. `first_step=` begins with
# a later, shorter one.
#
# ## When to stop
#
# `tol=` ends a run after the first pass whose relative gap is small enough,
# `change_tol=` after the first that hardly changes a coefficient. `epochs` is the limit,
# and a run that gets there warns.

# %%
ends = {
    words: model.fit(ps.Pegasos(300, seed=443, **tolerance))
    for words, tolerance in {
        "tol=0.1": {"tol": 0.1},
        "tol=0.05": {"tol": 0.05},
        "change_tol=0.05": {"change_tol": 0.05},
    }.items()
}
stopped = {
    words: {
        "passes": run.n_epochs,
        "relative gap": run.relative_gap,
        "above minimum": run.objective - best["noise"].objective,
    }
    for words, run in ends.items()
}
pd.DataFrame(stopped).T.round(4).astype({"passes": int})

# %% [markdown]
# In R all of these are arguments of `pegasos()` by the same names, with the same bits.
# Where `tol` ends a run R computes the gap by sums of its own, the same to rounding.

# %% [markdown]
# ## The exact reference
#
# `refine=` goes on after Pegasos, from its dual point, with `Optimum`, until the relative
# gap is what is asked for. `fit()` without a solver is `Optimum` from the start.

# %%
found = {}
for name, (model, test) in models.items():
    for kind, result in {
        "Pegasos": model.fit(ps.Pegasos(epochs=20, seed=443)),
        "Pegasos, refined": model.fit(ps.Pegasos(epochs=20, seed=443), refine=1e-6),
        "Optimum": model.fit(ps.Optimum(tol=1e-6, seed=443)),
    }.items():
        found[name, kind] = {
            "objective": result.objective,
            "lower bound": result.dual_objective,
            "relative gap": result.relative_gap,
            "steps": result.n_iter,
            "test error": result.confusion(test).error_rate,
        }
exactly = pd.DataFrame(found).T.astype({"steps": int})
print(exactly.to_string(float_format="{:.6g}".format))

# %% [markdown]
# The steps of the refined fits include those of Pegasos before: `Optimum` takes about as
# many of its own as from zero (a Newton step counts as one). So `refine=` is for going on from a given run, with its
# seed and its order; for the minimum alone use `Optimum` from the start.
#
# How fast each comes down, for noise. The study draws it itself: the objective less
# the lower bound against processor time, the errors and the gap against passes.

# %% {"alt": "Three panels for noise: loss less bound against processor time, test error and duality gap against epoch, for plain Pegasos, Pegasos with batches, projection and average, and Optimum. Optimum ends after a few Newton steps at a gap of 1e-6; the others come down slowly."}
few = {
    "Pegasos": ps.Pegasos(100),
    "Pegasos, average of last 50": ps.Pegasos(100, average=50),
    "Optimum": ps.Optimum(tol=1e-6),
}
model, test = models["noise"]
study = ps.compare_solvers(model, few, runs=6, test=test, seed=443)
panels = study.plot(excess=True)

# %% [markdown]
# The errors on new rows are settled after a few passes, long before the objective is.
# For predictions a plain run will do, unless its gap says that the intercept diverged.
# For coefficients that are to be interpreted, or for standard errors, the minimum is
# what theory speaks of.

# %% [markdown]
# ## What each of them does
#
# | | objective | gap and dual point | price |
# |:---|:---|:---|:---|
# | `batch_size=` | the same for the same passes; saves runs whose first steps are huge | dual weights averaged over the batch | none; too few steps if the batch is large |
# | `project=True` | shortens the first iterates, which keeps the intercept nearer | dual weights shrink with them | a norm in each step |
# | `average="all"` | worse: the first iterates are in it | those of the last iterate | a sum in each step |
# | `average=k` | less noise, if $k$ is about half of the epochs | those of the last iterate, so the gap hides most of the gain | a sum in each step |
# | `refit_intercept=True` | never worse; little if the coefficients are wrong too | unchanged | a sort at the end |
# | centred predictors | cures an intercept that diverged | the same as for any data | sparse columns become dense |
# | `step=` | the size decides; smaller first steps save the intercept | poor where steps are small | a size to choose |
# | `start=`, `first_step=` | goes on from another run | those of the new steps alone | none |
# | `tol=`, `change_tol=` | ends in time | what `tol` looks at | a pass over the rows for each gap |
# | `refine=1e-6`, `Optimum()` | the minimum | closes the gap | more passes |
#
# ## References
#
# Shalev-Shwartz, Singer, Srebro and Cotter (2011). Pegasos: primal estimated
# sub-gradient solver for SVM. *Mathematical Programming* B 127, 3–30.
#
# Shalev-Shwartz and Zhang (2013). Stochastic dual coordinate ascent methods for
# regularized loss minimization. *Journal of Machine Learning Research* 14, 567–599.
#
# ## Session

# %%
ps.session_info()
