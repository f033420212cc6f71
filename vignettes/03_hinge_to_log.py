# %% [markdown]
# # From hinge to log loss
#
# **Question.** Pegasos for a support vector machine and for logistic regression differ
# in one function, the loss. How does the loss change the fit? And what does a step cost
# if most predictors are 0 in most rows, as in text?
#
# **Answer.** The predictions change little, if each loss has a $\lambda$ that suits
# it. The log loss gives probabilities too, and uses every row, while the hinge ignores
# rows that are far on the correct side. A step can be written in three forms. Two of
# them change only the coefficients of the predictors that are not 0 in the row, so that
# a fit to text costs no more than one to a short table.

# %% tags=["remove-input"]
import os
import sys

sys.path.extend([".", "vignettes"])  # drawings.py and reviews.py are beside this text
import drawings
import reviews

folder = os.environ.get("PEGASOS_STATS_DATA")

# %%
import numpy as np
import pandas as pd

import pegasos_stats as ps

# %% [markdown]
# ## The answer first
#
# Fives and sixes, 64 pixels, $\lambda = 1$: both losses by 20 epochs of Pegasos, and
# at their minimum.

# %%
train, test = ps.datasets.load_digits56()
models = {
    "hinge": ps.svm("digit ~ .", train, lam=1.0),
    "log": ps.logit("digit ~ .", train, lam=1.0),
}
fits = {
    (name, kind): model.fit(solver)
    for name, model in models.items()
    for kind, solver in {
        "Pegasos": ps.Pegasos(epochs=20, seed=443),
        "minimum": ps.SDCA(tol=1e-6, seed=443),
    }.items()
}


def facts(result: ps.LinearResults) -> dict[str, float]:
    """A line of the table."""
    return {
        "objective": result.objective,
        "gap": result.gap,
        "test errors": result.confusion(test).n_errors,
        "rows with weight": (result.solution.dual > 0).sum(),
    }


table = pd.DataFrame({name: facts(result) for name, result in fits.items()}).T
table.round(5).astype({"test errors": int, "rows with weight": int})

# %% [markdown]
# The last column counts the training rows that the coefficients are made of, $\beta =
# \frac{1}{\lambda n} \sum_i a_i y_i x_i$ with weights $a_i$ from 0 to 1. At the
# minimum of the hinge few rows have one.
#
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
losses = {
    "hinge": lambda m: np.maximum(0, 1 - m),
    "log": lambda m: np.log1p(np.exp(-m)),
}
slopes = {"hinge": lambda m: 1.0 * (m < 1), "log": lambda m: 1 / (1 + np.exp(m))}

# %% {"alt": "Left, the two losses against the margin: the hinge falls straight to 0 at margin 1, the log loss bends towards 0. Right, their slopes: the hinge has 1 below margin 1 and 0 above, the log loss falls smoothly from 1 to 0."}
drawings.losses_and_slopes(losses, slopes)

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


X = train.drop(columns="digit").to_numpy(float)
y = np.where(train["digit"] == 6, 1.0, -1.0)
for name, slope in slopes.items():
    with np.errstate(over="ignore"):
        ours = by_hand(X, y, slope, lam=1.0, epochs=20)
    apart = np.abs(ours - fits[name, "Pegasos"].params).max()
    print(f"{name:6} differs from the package by {apart:.0e} at most")
    assert apart < 1e-12

# %% [markdown]
# ## What changes in the fit
#
# The coefficients are weights of pixels: blue speaks for a five, red for a six. Both
# losses find the same strokes. The scores of new digits differ in scale, rarely in
# sign.

# %% {"alt": "Coefficients as images of 8 by 8 pixels for hinge and log loss, nearly alike, and the scores of the test digits under both losses, which lie along a rising curve."}
hinge, log = fits["hinge", "minimum"], fits["log", "minimum"]
drawings.weights_and_scores(hinge, log, test)

# %% [markdown]
# The hinge gives no probabilities. Those of the log loss are shrunk towards one half by
# the penalty: on new digits the mean probability of the predicted label is lower than
# the share of correct labels. With calibrated probabilities the two would agree.

# %%
probabilities = log.predict_proba(test)
of_the_predicted = probabilities.max(axis=1)
print(f"Mean probability of the predicted label  {of_the_predicted.mean():.3f}")
right = 1 - log.confusion(test).error_rate
print(f"Share of labels that are right           {right:.3f}")

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
# them, bit for bit. Its time per step, for rows of 20 entries:

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
drawings.time_per_step(times)

# %% [markdown]
# ## Reviews as sparse data
#
# Where the environment variable `PEGASOS_STATS_DATA` names a folder with
# `sentiment_4999.txt.gz`, the rows are reviews of books, music, cameras and so on, by
# buyers who liked what they had bought or did not. Otherwise a stand-in is drawn, and
# it is no more than that: words that follow Zipf's law, of which some are likelier in
# one of the two kinds of review.

# %%
found = reviews.load_reviews(folder)
labels, texts = np.array(found.labels), np.array(found.texts)
print(
    f"{len(texts):,}", "reviews" if found.are_real else "drawn texts, no reviews here"
)
print(texts[0][:76], "...")

# %% [markdown]
# Four fifths, drawn by R's `sample()`, are for the fit. A text becomes the counts of
# its words, each times $1 + \log\frac{1 + n}{1 + n_w}$ where $n_w$ of the $n$ texts
# have the word (tf-idf), divided by the length of the row. Only words of the training
# texts count.

# %%
from sklearn.feature_extraction.text import TfidfVectorizer

order = ps.RRandom(443).permutation(len(texts))
known, new = np.split(order, [round(0.8 * len(texts))])
counting = TfidfVectorizer()
X, X_new = counting.fit_transform(texts[known]), counting.transform(texts[new])
y, y_new = labels[known], labels[new]

n, p = X.shape
stored = (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / 1e6
print(f"{n:,} rows, {p:,} columns, {X.nnz / n:.0f} entries in a row")
print(f"{stored:.1f} MB stored, {8 * n * p / 1e6:,.0f} MB if dense")

# %% [markdown]
# $\lambda = 1/1000$, no intercept, 100,000 rows drawn with replacement: Pegasos as it
# was published. The minimum, by SDCA, beside it.

# %%
text_models = {
    name: kind(y, X, lam=1e-3, intercept=False) for name, kind in kinds.items()
}
solvers = {
    "Pegasos": ps.Pegasos.paper(steps=100_000, seed=443),
    "minimum": ps.SDCA(tol=1e-5, seed=443),
}
found, fitted = {}, {}
for name, model in text_models.items():
    for way, solver in solvers.items():
        result = model.fit(solver, trace=True)
        fitted[name, way] = result
        found[name, way] = {
            "objective": result.objective,
            "gap": result.gap,
            "accuracy": 1.0
            - result.confusion(X_new, y_new, ties="positive").error_rate,
            "CPU ms": 1000.0 * result.trace["cpu_seconds"].iloc[-1],
        }
print(pd.DataFrame(found).T.to_string(float_format="{:.4g}".format))

# %% [markdown]
# Both losses predict the same texts, so the comparison is a paired one: McNemar's
# test, and an interval for the difference of the error rates.

# %%
a, b = (fitted[name, "minimum"].predict(X_new) for name in ("hinge", "log"))
print(ps.compare_predictions(y_new, a, b, names=("hinge", "log")))

# %% [markdown]
# That is a comparison at one $\lambda$, which need not suit both losses. At their
# minima, for several:

# %%
by_lambda = {}
for lam in (1e-2, 1e-3, 1e-4, 1e-5):
    for name, kind in kinds.items():
        result = kind(y, X, lam=lam, intercept=False).fit(ps.SDCA(tol=1e-3, seed=443))
        right = 1.0 - result.confusion(X_new, y_new, ties="positive").error_rate
        by_lambda.setdefault(name, {})[lam] = right
accuracies = pd.DataFrame(by_lambda).rename_axis("lambda")
print(accuracies.round(3).to_string(), "\n")
print("Binomial standard error:", round(np.sqrt(0.25 / len(y_new)), 3), "at most")

# %% [markdown]
# A linear model of words can be read. The words with the largest coefficients, for the
# hinge:

# %%
coefficients = fitted["hinge", "minimum"].coef
coefficients = coefficients.set_axis(counting.get_feature_names_out()).sort_values()
negative, positive = fitted["hinge", "minimum"].coding.levels
print(f"{negative}:", *coefficients.index[:12])
print(f"{positive}:", *coefficients.index[:-13:-1])

# %% [markdown]
# ## Which to take
#
# * **Labels only:** either. Compare them on held-out rows, as above.
# * **Probabilities:** the log loss, with a $\lambda$ that held-out rows have chosen,
#   since the penalty draws them towards one half.
# * **Few rows in the model, or the same bits as in R:** the hinge. Its arithmetic has no `exp()`,
#   and rows well on their side cost a step without an update.
# * **Sparse data:** pass them sparse. The form of the step follows from that.
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
