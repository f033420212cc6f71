# %% [markdown]
# # The same in R, bit for bit
#
# **Question.** Does a fit in Python give the same numbers as the same fit in R from the
# same seed, and what has to agree for that?
#
# **Answer.** Pegasos with the hinge loss does, in every one of their 64 bits, if the data,
# the seed, the coding of the labels, the written form of one line and the order in which
# a score is summed agree. This page takes these one by one, Python first, R below it, and runs both. Without
# R the page says so, and shows what R printed earlier.

# %%
import json
import shutil
import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

import pegasos_stats as ps

sys.path.extend([".", "vignettes"])  # r_cells.py is beside this text
from r_cells import REFERENCE, check_bits, hexadecimal, r

# %% tags=["remove-input"]
# The page shows what r() is given, in the place of this and of the calls of r().
_ = r("cat(R.version.string)")

# %% [markdown]
# ## The answer first
#
# R's own iris data, two species with 50 rows each: *versicolor* against *virginica*,
# hinge loss, $\lambda = 0.01$, 20 epochs, seed 42. `r_reference/golden` has these data
# in hexadecimal, so that Python starts from the very numbers that R has.

# %%
golden = REFERENCE / "golden"
stored = json.loads((golden / "data.json").read_text())["iris 51:150"]
species = pd.Series(stored.pop("labels"), name="Species")
iris = pd.DataFrame({name: map(float.fromhex, x) for name, x in stored.items()})

model = ps.SVM(species, iris, lam=0.01)
result = model.fit(ps.Pegasos(epochs=20, seed=42))

print(result.params.to_string(), "\n")
print(result.n_violations, "violations\n")
print(result.confusion().table)

# %% [markdown]
# The same in R. `label_levels()`, `pegasos()` and the other functions that R itself
# does not have are in `r_reference/R`, in plain R.

# %% tags=["remove-input"]
from_r = r(r"""
X <- as.matrix(iris[51:150, 1:4])
levels <- label_levels(iris$Species[51:150])
y <- encode_labels(iris$Species[51:150], levels)

seed_generator(42)                               # set.seed(42)
fit <- pegasos(X, y, lambda = 0.01, epochs = 20)

print(c(fit$alpha, fit$beta), digits = 6)
cat(fit$violations, "violations\n")
predicted <- decode_labels(predict_sign(scores(X, fit$beta, fit$alpha)), levels)
confusion(iris$Species[51:150], predicted, levels)
cat(sprintf("%a", c(fit$alpha, fit$beta)), fill = 72)
""")

# %% [markdown]
# The last lines show every bit: `0x1.8p-2` is 1.5 times $2^{-2}$, with the digits
# after the point to base 16. Side by side, with what R 4.2.2 wrote into
# `r_reference/golden`:

# %%
before = json.loads((golden / "pegasos.json").read_text())["iris lambda 0.01"]
shown = pd.DataFrame({"Python": result.params})
shown["R, stored"] = [float.fromhex(x) for x in (before["alpha"], *before["beta"])]
if from_r:
    shown["R, above"] = hexadecimal(from_r)

for column in shown:
    check_bits(result.params, shown[column])
assert result.n_violations == before["violations"]
assert result.confusion().table.to_numpy().tolist() == before["table"]
shown.map(float.hex)

# %% [markdown]
# ## Seeds and sample()
#
# `ps.RRandom(443)` is R's generator after `set.seed(443)`. As in R, all draws come
# from one stream.

# %%
rng = ps.RRandom(443)
print(rng.sample_int(10))
print(rng.runif(3), rng.rnorm(3), rng.rexp(3), sep="\n")

# %% tags=["remove-input"]
_ = r("""
set.seed(443)
sample(10)
runif(3); rnorm(3); rexp(3)
""")

# %% [markdown]
# A fit draws one permutation for each epoch, `sample(1:n, n)`. These are the first
# rows that the iris fit visits, counted from 1 as in R, and a sum over all 2,000
# visits that changes when two of them change places.

# %%
rng = ps.RRandom(42)
visits = np.concatenate([rng.sample_int(100) for epoch in range(20)])
print(visits[:10])
print(visits @ np.arange(1, 2001))
assert visits[:10].tolist() == before["rows"]
assert visits @ np.arange(1, 2001) == before["rows_sum"]

# %% tags=["remove-input"]
_ = r("""
set.seed(42)
visits <- unlist(lapply(1:20, function(epoch) sample(1:100, 100)))
visits[1:10]
sum(visits * seq_along(visits))
""")

# %% [markdown]
# R before 3.6 drew whole numbers in another way, which R calls rounding. For an old
# script there is `sample_kind="rounding"`, in `RRandom` and in `Pegasos`.

# %%
print(ps.RRandom(443, sample_kind="rounding").sample_int(10))

# %% tags=["remove-input"]
_ = r("""
suppressWarnings(RNGkind(sample.kind = "Rounding"))
set.seed(443)
sample(10)
""")

# %% [markdown]
# The stream can change hands in the middle: `get_state()` gives R's `.Random.seed`,
# and `set_state()` takes one. Python draws five numbers, and both go on from there, R
# with the same `state`.

# %%
rng = ps.RRandom(1)
rng.runif(5)
state = rng.get_state()  # 626 whole numbers
x = rng.rexp(3)
print(state[:4], x, sep="\n")

# %% tags=["remove-input"]
code = r"""
.Random.seed <- state
x <- rexp(3)
x
cat(sprintf("%a", x))
"""
handed_over = f"state <- as.integer(c({', '.join(map(str, state))}))"
check_bits(x, hexadecimal(r(handed_over + code, shown=code)))

# %% [markdown]
# ## The coding of the labels
#
# One level is $-1$, the other $+1$. R's `factor()` sorts the levels; scripts often
# write `ifelse(y == unique(y)[1], -1, 1)`, which takes the first label seen for $-1$.
# Both are here, and a third: naming them.

# %%
labels = pd.Series(["virginica", "versicolor", "virginica"])
for coding in ("factor", "first-seen", ("virginica", "versicolor")):
    levels = ps.LabelCoding.from_labels(labels, coding).levels
    print(f"{coding!s:30} -1: {levels[0]:12} +1: {levels[1]}")

# %% tags=["remove-input"]
_ = r("""
labels <- c("virginica", "versicolor", "virginica")
label_levels(labels)
label_levels(labels, "first-seen")
""")

# %% [markdown]
# The other coding changes the sign of every coefficient, and no other bit.

# %%
turned = ps.SVM(species, iris, lam=0.01, coding=("virginica", "versicolor"))
turned_result = turned.fit(ps.Pegasos(epochs=20, seed=42))
check_bits(turned_result.params, -result.params)
assert (turned_result.predict() == result.predict()).all()

# %% [markdown]
# Text is sorted by code point, as in R's C locale: capital letters come first. In most
# other locales R sorts `a` before `B`, so that `factor()` depends on the machine. A
# pair, `coding=("a", "B")`, does not.

# %%
print(ps.LabelCoding.from_labels(pd.Series(["a", "B"])).levels)

# %% tags=["remove-input"]
_ = r("""
Sys.getlocale("LC_COLLATE")
label_levels(c("a", "B"))
""")

# %% [markdown]
# ## Ties
#
# A score of exactly 0 is on neither side. `sign(0)` is 0 in R, and a script that goes
# on with `ifelse(s < 0, ..., ifelse(s > 0, ..., NA))` has `NA` there. So has this
# package, unless `ties` says otherwise; the row is not dropped from the table.

# %%
tied = pd.DataFrame({"y": ["a", "b", "a", "b"], "x": [-1.0, 1.0, 0.0, 2.0]})
tied_result = ps.svm("y ~ x - 1", tied, lam=1.0).fit(ps.Pegasos(epochs=5, seed=443))
print(tied_result.confusion().table)
print(tied_result.predict(ties="positive").tolist())

# %% tags=["remove-input"]
_ = r("""
X <- matrix(c(-1, 1, 0, 2))
labels <- c("a", "b", "a", "b")
levels <- label_levels(labels)
y <- encode_labels(labels, levels)
seed_generator(443)
fit <- pegasos(X, y, lambda = 1, epochs = 5, intercept = FALSE)
s <- scores(X, fit$beta, fit$alpha)
confusion(labels, decode_labels(predict_sign(s), levels), levels)
decode_labels(predict_sign(s, ties = "positive"), levels)
""")

# %% [markdown]
# ## The written form of one line
#
# Why are the bits the same? IEEE 754 fixes the rounding of each operation, provided no
# extended precision or fused multiply-add is used. But it matters which operations there
# are, and in which order. These two are the same in algebra and not on a machine:
#
# $$\beta - \eta\,(\lambda \beta - y x) \qquad
# (1 - \eta \lambda)\,\beta + \eta\, y x$$
#
# The R script has the first, so the package has it too. Here is the whole algorithm for
# the hinge, in which that line can be chosen, on the digits that come with the package.

# %%
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
check_bits(by_hand(as_in_r=True), fit.params)

# %% [markdown]
# The other line differs in most of the numbers. So does the fast arithmetic of the
# package, which keeps $\lambda t \beta$ in the place of $\beta$.

# %%
fast = digits.fit(ps.Pegasos(epochs=20, seed=443, arithmetic="fast"))
others = {"other line": by_hand(as_in_r=False), 'arithmetic="fast"': fast.params}
for name, params in others.items():
    differing = int((params != fit.params).sum())
    largest = np.abs(params - fit.params).max()
    print(f"{name:18} {differing} of {len(params)} differ, by {largest:.0e} at most")

# %% {"alt": "Distance of every coefficient from R's in units of its last bit: within some hundred units for the other line and for fast arithmetic."}
exact = fit.params.to_numpy()
away = {
    name: (np.asarray(p) - exact) / np.spacing(abs(exact)) for name, p in others.items()
}
ax = pd.DataFrame(away).plot(style=["o", "s"], markersize=4, figsize=(6.4, 3.2))
ax.set(xlabel="Intercept, then the 64 coefficients", ylabel="Units of the last bit")

# %% [markdown]
# Differences of that size change no conclusion. But exact agreement is the simplest check of
# two programs.
#
# ## Your own fit in your own R
#
# The reference comes with the package. `check_against_r` runs it in an installed R, by
# rpy2 or by Rscript, on the data of a model, and says which quantities agree: in every
# bit, to rounding, or not. If something differs, it finds the first step that differs,
# and the reason, where it is known: another BLAS, another kind of random numbers, another order of the
# levels.

# %%
try:
    check = ps.check_against_r(digits, ps.Pegasos(epochs=20, seed=443), via="Rscript")
    print(check)
except ps.errors.DependencyError as error:
    print(error)

# %% [markdown]
# ## Data that pass from one to the other
#
# The digits are whole numbers, and a CSV file hands them over as they are: R reads the
# file of the package, whose `path` is `ps.datasets.digits56_path()`, and finds the
# numbers of the fit above.

# %% tags=["remove-input"]
code = r"""
digits <- read.csv(path)[1:200, ]
X <- as.matrix(digits[, -1])
levels <- label_levels(digits$digit)
seed_generator(443)
fit <- pegasos(X, encode_labels(digits$digit, levels), lambda = 1, epochs = 20)
cat(sprintf("%a", c(fit$alpha, fit$beta)), fill = 75)
"""
path = f'path <- "{ps.datasets.digits56_path().as_posix()}"'
check_bits(fit.params, hexadecimal(r(path + code, shown=code)))

# %% [markdown]
# Decimal fractions are more difficult. R's `write.csv()` keeps 15 digits, where 17 are
# needed; and when R reads 17 digits, it sometimes reads the number next to the right
# one. Hexadecimal is safe both ways: `sprintf("%a", x)` in R, `x.hex()` in Python.
# 20,000 numbers, written by Python into a `folder` in both ways, and how many of them
# come out as others in R:

# %%
folder = Path(tempfile.mkdtemp())
x = ps.RRandom(443).rexp(20_000).tolist()
written = {"decimal": [repr(number) for number in x], "hex": [n.hex() for n in x]}
pd.DataFrame(written).to_csv(folder / "x.csv", index=False)

# %% tags=["remove-input"]
code = r"""
setwd(folder)
set.seed(443)
x <- rexp(20000)
given <- read.csv("x.csv", colClasses = "character")
write.csv(data.frame(x), "again.csv", row.names = FALSE)
c("hexadecimal" = sum(as.numeric(given$hex) != x),
  "17 digits" = sum(as.numeric(given$decimal) != x),
  "write.csv" = sum(read.csv("again.csv")$x != x))
"""
_ = r(f'folder <- "{folder.as_posix()}"' + code, shown=code)
shutil.rmtree(folder)

# %% [markdown]
# ## What is not promised
#
# * For the **log loss**, `exp()` comes from the mathematical library of the machine. R
#   and Python are held to 12 digits there.
# * **Formulas** with `scale()` agree to rounding: R sums means in extended precision.
#   Columns that are computed once and passed on are safe.
# * **Another BLAS** under R may sum a score in another order. The score enters the
#   comparison of a margin with 1 only, so a fit changes where a margin is within
#   rounding of 1.
#
# Stored linear fits that the tests hold to R, with every option of `ps.Pegasos`, are listed in
# `r_reference/cases.csv`.

# %%
cases = pd.read_csv(REFERENCE / "cases.csv", keep_default_na=False)
cases.groupby(["loss", "storage"]).size().rename("fits").reset_index()

# %% [markdown]
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

# %%
ps.session_info()
