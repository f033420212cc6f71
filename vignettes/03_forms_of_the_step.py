# %% [markdown]
# # Three forms of a step
#
# **Question.** What does a step of Pegasos cost if most predictors are 0 in most rows, as
# in text?
#
# **Answer.** A step can be written in three forms, which agree to rounding. Two of them
# change only the coefficients of the predictors that are not 0 in the row.

# %%
import numpy as np
import pandas as pd

import pegasos_stats as ps

# %% [markdown]
# ## One function
#
# What is minimised is
#
# $$\dfrac{\lambda}{2}\,\Vert\beta\Vert^2 + \dfrac{1}{n} \sum_{i=1}^{n}
# \mathrm{loss}(m_i), \qquad m_i = y_i\left(x_i'\beta + \alpha\right)$$
#
# and a step takes row $i$, its margin $m_i$, and the slope of the loss there, $s(m) =
# -\mathrm{loss}'(m)$:
#
# $$\beta \leftarrow \beta - \dfrac{1}{\lambda t}\left(\lambda \beta - s(m_i)\,y_i
# x_i\right), \qquad \alpha \leftarrow \alpha + \dfrac{1}{\lambda t}\,s(m_i)\,y_i$$

# %%
slopes = {"hinge": lambda m: 1.0 * (m < 1), "log": lambda m: 1 / (1 + np.exp(m))}

# %% [markdown]
# In full, with the function to choose; the package gives the same numbers.


# %%
def by_hand(X: np.ndarray, y: np.ndarray, slope, lam: float, epochs: int) -> np.ndarray:
    """Pegasos from seed 443: intercept and coefficients."""
    rng = ps.RRandom(443)
    beta, alpha, t = np.zeros(X.shape[1]), 0.0, 0
    for _ in range(epochs):
        for i in rng.permutation(len(y)):
            t += 1
            eta = 1 / (lam * t)
            s = slope(y[i] * (X[i] @ beta + alpha))
            beta = beta - eta * (lam * beta - s * y[i] * X[i])
            alpha = alpha + eta * s * y[i]
    return np.array([alpha, *beta])


train, _ = ps.datasets.load_digits56()
models = {
    name: getattr(ps, kind)("digit ~ .", train, lam=1.0)
    for name, kind in (("hinge", "svm"), ("log", "logit"))
}
X = train.drop(columns="digit").to_numpy(float)
y = np.where(train["digit"] == 6, 1.0, -1.0)
for name, slope in slopes.items():
    with np.errstate(over="ignore"):
        ours = by_hand(X, y, slope, lam=1.0, epochs=20)
    theirs = models[name].fit(ps.Pegasos(epochs=20, seed=443), cov_type=None)
    apart = np.abs(ours - theirs.params).max()
    print(f"{name:6} differs from the package by {apart:.0e} at most")
    assert apart < 1e-12

# %% [markdown]
# ## Three forms of the step
#
# As it is written above the step changes every coefficient, because $\beta$ shrinks by
# the factor $1 - 1/t$. That is the **literal** form: $p$ multiplications, whatever the
# row.
#
# **Lazily scaled.** Keep $\beta = a\,w$, and let the number $a$ do the shrinking:
#
# $$a \leftarrow (1 - \eta\lambda)\,a, \qquad w \leftarrow w + \dfrac{\eta}{a}\,s\,y\,x$$
#
# As it is often printed, this recipe starts at $t = 1$. There $\eta\lambda = 1$, so
# $a$ becomes 0, and the next thing is a division by it.


# %%
from scipy.sparse import csr_array


def rows_of(X: csr_array) -> list[tuple[np.ndarray, np.ndarray]]:
    """Columns and values of the entries of every row."""
    return [
        (X.indices[i:j], X.data[i:j])
        for i, j in zip(X.indptr[:-1], X.indptr[1:], strict=True)
    ]


def lazily_scaled(X, y, slope, lam, order, from_1=False) -> tuple[np.ndarray, int]:
    """Coefficients, no intercept, and how many numbers were changed on the way."""
    rows, w, a, changed = rows_of(X), np.zeros(X.shape[1]), 1.0, 0
    for t, i in enumerate(order, start=1):
        at, x = rows[i]
        eta = 1 / (lam * t)
        s = float(slope(y[i] * a * (x @ w[at])))
        a = (1 - eta * lam) * a if t > 1 or from_1 else 1.0
        if s != 0.0:
            w[at] += eta / a * s * y[i] * x
            changed += len(at)
        changed += 1
    return a * w, changed


order = ps.RRandom(443).permutation(len(y))
try:
    lazily_scaled(csr_array(X), y, slopes["hinge"], 1.0, order, from_1=True)
except ZeroDivisionError as error:
    print("ZeroDivisionError:", error)

# %% [markdown]
# It has to begin with $a = 1$ at $t = 1$, where $\beta$ is 0 anyway. From there on $a$
# is $1/t$, which shows the third form.
#
# **Unscaled.** Keep $v = \lambda t \beta$. In these terms the step is
#
# $$v \leftarrow v + s\,y\,x$$
#
# without $\eta$, without a division, and without a first case.


# %%
def literal(X, y, slope, lam, order) -> tuple[np.ndarray, int]:
    """The same by the step as it is written."""
    rows, beta, changed = rows_of(X), np.zeros(X.shape[1]), 0
    for t, i in enumerate(order, start=1):
        at, x = rows[i]
        eta = 1 / (lam * t)
        s = slope(y[i] * (x @ beta[at]))
        beta -= eta * lam * beta
        beta[at] += eta * s * y[i] * x
        changed += len(beta)
    return beta, changed


def unscaled(X, y, slope, lam, order) -> tuple[np.ndarray, int]:
    """The same by v."""
    rows, v, changed = rows_of(X), np.zeros(X.shape[1]), 0
    for t, i in enumerate(order, start=1):
        at, x = rows[i]
        s = slope(y[i] * (x @ v[at]) / (lam * max(t - 1, 1)))
        if s != 0.0:
            v[at] += s * y[i] * x
            changed += len(at)
    return v / (lam * len(order)), changed


# %% [markdown]
# The three on drawn rows: 1,000 of them, 5,000 columns, 20 entries in a row.


# %%
def drawn_rows(n: int, p: int, entries: int) -> tuple[csr_array, np.ndarray]:
    """Sparse rows; columns of odd number speak for +1."""
    rng = ps.RRandom(1)
    columns = np.concatenate([rng.sample_int(p, entries) - 1 for _ in range(n)])
    values = rng.rexp(n * entries)
    X = csr_array((values, columns, np.arange(n + 1) * entries), shape=(n, p))
    X.sort_indices()
    score = X @ np.where(np.arange(p) % 2, 1.0, -1.0) + rng.rnorm(n)
    return X, np.where(score > 0, 1.0, -1.0)


rows, signs = drawn_rows(1_000, 5_000, 20)
order = np.concatenate([ps.RRandom(443).permutation(1_000) for _ in range(3)])
kinds, found = {"hinge": ps.SVM, "log": ps.Logit}, {}
for name, slope in slopes.items():
    exact, changed = literal(rows, signs, slope, 0.01, order)
    model = kinds[name](signs, rows, lam=0.01, intercept=False)
    others = {
        "literal": (exact, changed),
        "lazily scaled": lazily_scaled(rows, signs, slope, 0.01, order),
        "unscaled": unscaled(rows, signs, slope, 0.01, order),
        "the package": (model.fit(ps.Pegasos(order=order)).coef, np.nan),
    }
    for form, (beta, changed) in others.items():
        apart = np.abs(beta - exact).max() / np.abs(exact).max()
        assert apart < 1e-10
        facts = {"differs from literal": apart, "changed per step": changed / 3_000}
        found[name, form] = facts
print(pd.DataFrame(found).T.to_string(float_format="{:.2g}".format, na_rep="-"))

# %% [markdown]
# They agree to rounding. Per step the two lazy forms change the entries of one row,
# and for the hinge only if its margin is below 1; the literal form changes all 5,000.
#
# The package takes the unscaled form for sparse rows, and for dense ones with
# `arithmetic="fast"`; dense rows are otherwise done literally, as R's script does
# them (the hinge bit for bit). Its time per step, for rows of 20 entries:

# %%
times = {"literal, dense": {}, "unscaled, dense": {}, "unscaled, sparse": {}}
for p in (100, 300, 1_000, 3_000, 10_000, 30_000):
    rows, signs = drawn_rows(200, p, 20)
    for form, data, arithmetic in (
        ("literal, dense", rows.toarray(), "reference"),
        ("unscaled, dense", rows.toarray(), "fast"),
        ("unscaled, sparse", rows, "reference"),
    ):
        model = ps.SVM(signs, data, lam=0.01, intercept=False)
        solver = ps.Pegasos(epochs=10, seed=443, arithmetic=arithmetic)
        seconds = model.fit(solver, trace=True).trace["cpu_seconds"]
        times[form][p] = 1e6 * np.diff(seconds).min() / 200
times = pd.DataFrame(times)

# %% {"alt": "Microseconds per step against the number of columns from 100 to 30,000, log axes: rising in proportion for both dense forms, nearly flat for the sparse one."}
ax = times.plot(loglog=True, marker="o", figsize=(6.4, 3.2))
ax.set(xlabel="Columns, 20 of them not 0 in each row", ylabel="Microseconds per step")

# %% [markdown]
# ## References
#
# Shalev-Shwartz, Singer, Srebro and Cotter (2011). Pegasos: primal estimated
# sub-gradient solver for SVM. *Mathematical Programming* B 127, 3–30.
#
# ## Session

# %%
ps.session_info()
