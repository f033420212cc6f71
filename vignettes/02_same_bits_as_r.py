# %% [markdown]
# # The same bits as R
#
# **Question.** Does a fit in Python give the same numbers as the same fit in R from the
# same seed? What has to agree for that?
#
# **Answer.** Pegasos with the hinge loss gives the same 64 bits of every number. Five
# things have to agree: the data, the seed, the coding of the labels, the treatment of ties,
# and the form of one line of code, including the order in which a score is summed. This
# notebook shows each of them first in Python, then in R.

# %%
import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import pegasos_stats as ps

# %% tags=["r"]
# %load_ext rpy2.ipython

# %% [markdown]
# `label_levels()`, `pegasos()` and the other functions that base R lacks are plain R code
# in `r_reference/R`. Cells that begin with `%%R` run in R, by rpy2. Without R and rpy2,
# `%load_ext rpy2.ipython` raises an error. Then read the output that is stored in the notebook,
# or run `python execute.py 02`, which skips cells that need R and retains their output.

# %% language="R"
# for (file in list.files("../r_reference/R", full.names = TRUE)) source(file)
# invisible(Sys.setlocale("LC_COLLATE", "C"))

# %% [markdown]
# ## The answer first
#
# The example uses R's iris data: two species, *versicolor* and *virginica*, with 50 rows
# each. The fit has the hinge loss, $\lambda = 0.01$, 20 epochs and seed 42.
# `r_reference/golden` contains the data in hexadecimal, so Python starts from exactly the
# numbers of R.

# %% tags=["exact"]
golden = Path("../r_reference/golden")
stored = json.loads((golden / "data.json").read_text())["iris 51:150"]
species = pd.Series(stored.pop("labels"), name="Species")
iris = pd.DataFrame({name: map(float.fromhex, x) for name, x in stored.items()})

model = ps.SVM(species, iris, lam=0.01)
result = model.fit(ps.Pegasos(epochs=20, seed=42))

print(result.params.to_string(), "\n")
print(result.n_violations, "violations\n")
print(result.confusion().table)

# %% [markdown]
# The same in R:

# %% tags=["exact"] magic_args="-o from_r" language="R"
# X <- as.matrix(iris[51:150, 1:4])
# levels <- label_levels(iris$Species[51:150])
# y <- encode_labels(iris$Species[51:150], levels)
#
# seed_generator(42)                               # set.seed(42)
# fit <- pegasos(X, y, lambda = 0.01, epochs = 20)
# from_r <- c(fit$alpha, fit$beta)
#
# print(from_r, digits = 6)
# cat(fit$violations, "violations\n")
# predicted <- decode_labels(predict_sign(scores(X, fit$beta, fit$alpha)), levels)
# print(confusion(iris$Species[51:150], predicted, levels))
# cat(sprintf("%a", from_r), fill = 72)

# %% [markdown]
# The last lines show every bit: `0x1.8p-2` is 1.5 times $2^{-2}$, with digits to base 16
# after the point. The next table compares the coefficients from Python with the numbers that
# R 4.2.2 wrote into `r_reference/golden` earlier.


# %% tags=["exact"]
def count_equal(ours, others):
    """Print how many numbers have the same 64 bits."""
    ours, others = (np.asarray(x, float).view(np.int64) for x in (ours, others))
    print(f"{np.sum(ours == others)} of {len(others)} numbers are equal in every bit")


before = json.loads((golden / "pegasos.json").read_text())["iris lambda 0.01"]
written = [float.fromhex(x) for x in (before["alpha"], *before["beta"])]
count_equal(result.params, written)
assert result.n_violations == before["violations"]
assert result.confusion().table.to_numpy().tolist() == before["table"]
pd.DataFrame({"Python": result.params, "R, stored": written}).map(float.hex)

# %% tags=["exact", "r"]
count_equal(result.params, from_r)

# %% [markdown]
# ## Seeds and sample()
#
# `ps.RRandom(443)` is R's generator after `set.seed(443)`. As in R, all draws come from one
# stream.

# %% tags=["exact"]
rng = ps.RRandom(443)
print(rng.sample_int(10))
print(rng.runif(3), rng.rnorm(3), rng.rexp(3), sep="\n")

# %% tags=["exact"] language="R"
# set.seed(443)
# print(sample(10))
# print(runif(3)); print(rnorm(3)); print(rexp(3))

# %% [markdown]
# A fit draws one permutation for each epoch, `sample(1:n, n)`. The next cells show the
# first rows that the iris fit visits, counted from 1 as in R. The weighted sum over all 2,000
# visits would change if two visits were exchanged.

# %% tags=["exact"]
rng = ps.RRandom(42)
visits = np.concatenate([rng.sample_int(100) for epoch in range(20)])
print(visits[:10])
print(visits @ np.arange(1, 2001))

# %% tags=["exact"] language="R"
# set.seed(42)
# visits <- unlist(lapply(1:20, function(epoch) sample(1:100, 100)))
# print(visits[1:10])
# print(sum(visits * seq_along(visits)))

# %% [markdown]
# R before 3.6 drew integers by another method, which R calls rounding. To reproduce old
# scripts, pass `sample_kind="rounding"` to `RRandom` or `Pegasos`.

# %% tags=["exact"]
print(ps.RRandom(443, sample_kind="rounding").sample_int(10))

# %% tags=["exact"] language="R"
# suppressWarnings(RNGkind(sample.kind = "Rounding"))
# set.seed(443)
# print(sample(10))
# RNGkind(sample.kind = "Rejection")

# %% [markdown]
# A stream can pass from one language to the other. `get_state()` returns R's
# `.Random.seed`, and `set_state()` sets it. Here Python draws five numbers, and both
# languages continue from `state`.

# %% tags=["exact"]
rng = ps.RRandom(1)
rng.runif(5)
state = rng.get_state()  # 626 whole numbers
x = rng.rexp(3)
print(state[:4], x, sep="\n")

# %% tags=["exact"] magic_args="-i state -o x_from_r" language="R"
# .Random.seed <- as.integer(state)
# x_from_r <- rexp(3)
# print(x_from_r)

# %% tags=["exact", "r"]
count_equal(x, x_from_r)

# %% [markdown]
# ## The coding of the labels
#
# One class is $-1$, the other $+1$. R's `factor()` sorts the classes. Scripts often write
# `ifelse(y == unique(y)[1], -1, 1)`, which codes the first label in the data as $-1$. The
# package supports both rules; you can also name the two classes in order.

# %% tags=["exact"]
labels = pd.Series(["virginica", "versicolor", "virginica"])
for coding in ("factor", "first-seen", ("virginica", "versicolor")):
    levels = ps.LabelCoding.from_labels(labels, coding).levels
    print(f"{coding!s:30} -1: {levels[0]:12} +1: {levels[1]}")

# %% tags=["exact"] language="R"
# labels <- c("virginica", "versicolor", "virginica")
# print(label_levels(labels))
# print(label_levels(labels, "first-seen"))

# %% [markdown]
# The opposite coding changes the sign of every coefficient, and no other bit.

# %% tags=["exact"]
turned = ps.SVM(species, iris, lam=0.01, coding=("virginica", "versicolor"))
turned_result = turned.fit(ps.Pegasos(epochs=20, seed=42))
count_equal(turned_result.params, -result.params)

# %% [markdown]
# Text is sorted by code point, as in R's C locale: capital letters come first. In most
# other locales R sorts `a` before `B`, so the coding of `factor()` depends on the machine.
# A pair such as `coding=("a", "B")` does not.

# %% tags=["exact"]
print(ps.LabelCoding.from_labels(pd.Series(["a", "B"])).levels)

# %% tags=["exact"] language="R"
# print(Sys.getlocale("LC_COLLATE"))
# print(label_levels(c("a", "B")))

# %% [markdown]
# ## Ties
#
# A score of exactly 0 predicts neither class. `sign(0)` is 0 in R, and a script that
# continues with `ifelse(s < 0, ..., ifelse(s > 0, ..., NA))` returns `NA`. The package does
# the same unless you set `ties`. The row stays in the table.

# %% tags=["exact"]
tied = pd.DataFrame({"y": ["a", "b", "a", "b"], "x": [-1.0, 1.0, 0.0, 2.0]})
tied_result = ps.svm("y ~ x - 1", tied, lam=1.0).fit(ps.Pegasos(epochs=5, seed=443))
print(tied_result.confusion().table)
print(tied_result.predict(ties="positive").tolist())

# %% tags=["exact"] language="R"
# X <- matrix(c(-1, 1, 0, 2))
# labels <- c("a", "b", "a", "b")
# levels <- label_levels(labels)
# y <- encode_labels(labels, levels)
# seed_generator(443)
# fit <- pegasos(X, y, lambda = 1, epochs = 5, intercept = FALSE)
# s <- scores(X, fit$beta, fit$alpha)
# print(confusion(labels, decode_labels(predict_sign(s), levels), levels))
# print(decode_labels(predict_sign(s, ties = "positive"), levels))

# %% [markdown]
# ## The form of one line of code
#
# IEEE 754 fixes the rounding of each operation, provided that no extended precision and no
# fused multiply-add is used. But the operations and their order matter. These two lines are
# equal in exact arithmetic, but not in floating point:
#
# $$\beta - \eta\,(\lambda \beta - y x) \qquad
# (1 - \eta \lambda)\,\beta + \eta\, y x$$
#
# The R script uses the first line, and so does the package. The next cell is the whole
# algorithm, on the digits that come with the package. It can use either line.

# %% tags=["exact"]
train, test = ps.datasets.load_digits56()
X = train.drop(columns="digit").to_numpy(float)
y = np.where(train["digit"] == 6, 1.0, -1.0)


def by_hand(as_in_r: bool, lam: float = 1.0) -> np.ndarray:
    """Pegasos, 20 epochs from seed 443: intercept and coefficients."""
    rng = ps.RRandom(443)
    beta, alpha, t = np.zeros(X.shape[1]), 0.0, 0
    for _ in range(20):
        for i in rng.permutation(len(y)):
            t += 1
            eta = 1 / (lam * t)
            s = 1.0 if y[i] * (X[i] @ beta + alpha) < 1 else 0.0
            if as_in_r:
                beta = beta - eta * (lam * beta - s * y[i] * X[i])
            else:
                beta = (1 - eta * lam) * beta + eta * s * y[i] * X[i]
            alpha = alpha + eta * s * y[i]
    return np.array([alpha, *beta])


digits = ps.svm("digit ~ .", train, lam=1.0)
fit = digits.fit(ps.Pegasos(epochs=20, seed=443))
count_equal(by_hand(as_in_r=True), fit.params)

# %% [markdown]
# With the second line most of the numbers differ. They also differ with the fast arithmetic
# of the package, which stores $\lambda t \beta$ instead of $\beta$.

# %%
fast = digits.fit(ps.Pegasos(epochs=20, seed=443, arithmetic="fast"))
others = {"second line": by_hand(as_in_r=False), 'arithmetic="fast"': fast.params}
for name, params in others.items():
    differing = int((params != fit.params).sum())
    largest = np.abs(params - fit.params).max()
    print(f"{name:18} {differing} of {len(params)} differ, by {largest:.0e} at most")

# %% tags=["picture"] mystnb={"image": {"alt": "Difference of every coefficient from R's, in units of its last bit: within some hundred units for the second line and for fast arithmetic."}}
exact = fit.params.to_numpy()
away = {
    name: (np.asarray(p) - exact) / np.spacing(abs(exact)) for name, p in others.items()
}
ax = pd.DataFrame(away).plot(style=["o", "s"], markersize=4, figsize=(6.4, 3.2))
ax.set(
    xlabel="Number of the coefficient (0: intercept)",
    ylabel="Difference from R\n(units of the last bit)",
)
ax.set_yscale("symlog")
ax.set_ylim(-1_000, 1_000)
legend = ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)

# %% [markdown]
# Differences of that size change no conclusion. But exact agreement is the simplest check
# of two programs.
#
# ## Your own fit in your own R
#
# The R reference comes with the package. `check_against_r()` runs it in an installed R, on
# the data of a model. It reports which quantities agree in every bit, which agree to
# rounding, and which differ. If something differs, it reports the first step that differs,
# and the reason if it is known: another BLAS, another kind of random numbers, another order
# of the classes.

# %% tags=["r", "exact"]
check = ps.check_against_r(digits, ps.Pegasos(epochs=20, seed=443))
print(check.verdict)
check.table

# %% [markdown]
# ## Data files for both languages
#
# The digits are whole numbers, which a CSV file stores exactly. R reads the file of the
# package and computes the coefficients of the fit above.

# %%
digits_file = str(ps.datasets.digits56_path())

# %% tags=["exact"] magic_args="-i digits_file -o digits_from_r" language="R"
# digits <- read.csv(digits_file)[1:200, ]
# X <- as.matrix(digits[, -1])
# levels <- label_levels(digits$digit)
# seed_generator(443)
# fit <- pegasos(X, encode_labels(digits$digit, levels), lambda = 1, epochs = 20)
# digits_from_r <- c(fit$alpha, fit$beta)
# cat(sprintf("%a", digits_from_r[1:6]), fill = 60)

# %% tags=["exact", "r"]
count_equal(fit.params, digits_from_r)

# %% [markdown]
# Decimal fractions are more difficult. R's `write.csv()` writes 15 digits, but 17 are
# needed. When R reads 17 digits, it sometimes returns a neighbouring double. Both languages
# read hexadecimal numbers exactly: `sprintf("%a", x)` writes them in R, `x.hex()` in Python.
# Here Python writes 20,000 numbers in both forms, and R counts how many of them it reads
# wrongly. R also writes them with `write.csv()` and reads them again.

# %%
x_file = str(Path(tempfile.mkdtemp()) / "x.csv")
x = ps.RRandom(443).rexp(20_000).tolist()
written = {"decimal": [repr(number) for number in x], "hex": [n.hex() for n in x]}
pd.DataFrame(written).to_csv(x_file, index=False)

# %% tags=["exact"] magic_args="-i x_file" language="R"
# set.seed(443)
# x <- rexp(20000)
# read <- read.csv(x_file, colClasses = "character")
# write.csv(data.frame(x), x_file, row.names = FALSE)
# print(c("hexadecimal" = sum(as.numeric(read$hex) != x),
#         "17 digits" = sum(as.numeric(read$decimal) != x),
#         "write.csv" = sum(read.csv(x_file)$x != x)))

# %%
shutil.rmtree(Path(x_file).parent)

# %% [markdown]
# ## What may differ
#
# * **Log loss.** Results depend on `exp()` of the machine's mathematical library. The tests
#   require agreement to 1e-12 for this loss.
# * **Formulas** with `scale()` agree to rounding, because R sums means in extended
#   precision. To avoid this, compute the column in one language and pass it to the other.
# * **Another BLAS** in R may sum a score in another order. With the hinge loss the score is
#   used only to compare a margin with 1. A fit therefore changes only if a margin is within
#   rounding error of 1.
#
# The tests compare each linear fit of `r_reference/cases.csv` with R. Together these fits use
# every option of `ps.Pegasos`.
#
# ## References
#
# Shalev-Shwartz, Singer, Srebro and Cotter (2011). Pegasos: primal estimated
# sub-gradient solver for SVM. *Mathematical Programming* B 127, 3–30.
#
# Matsumoto and Nishimura (1998). Mersenne Twister: a 623-dimensionally equidistributed
# uniform pseudo-random number generator. *ACM Transactions on Modeling and Computer
# Simulation* 8, 3–30.
#
# ## Session

# %% tags=["varies"]
pd.Series(ps.session_info().versions, name="version").to_frame()
