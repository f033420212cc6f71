# %% [markdown]
# # Standard errors and intervals
#
# **Question.** Which coefficients of a support vector machine, or of a penalised logistic
# regression, are distinguishable from 0, and can the intervals be trusted?
#
# **Answer.** `result.summary()` has standard errors, intervals and tests. The loss alone
# decides which: the hinge has the pairs bootstrap, the log loss HC3. Both are about the
# coefficients that this penalised model would have in the population, for a $\lambda$ that
# was fixed beforehand.

# %% tags=["remove-input"]
import textwrap

# %%
import numpy as np
import pandas as pd
import statsmodels.api as sm

import pegasos_stats as ps

# %% [markdown]
# ## The answer first
#
# The data are a survey of a magazine in 1974, which Fair (1978) analysed and which comes
# with statsmodels: 6,366 married women, and whether they have had an affair. Predictors
# are brought to one scale, so that coefficients can be compared.

# %%
data = sm.datasets.fair.load_pandas().data
data["affair"] = np.where(data["affairs"] > 0, "yes", "no")
predictors = "rate_marriage + age + yrs_married + children + religious + educ"
model = ps.svm(f"affair ~ {predictors}", data, lam=0.01, standardize=True)
result = model.fit()
result.summary()

# %% [markdown]
# The column is called `boot sd` and not `std err`, because the p-value is not that of
# their ratio: both p-value and interval are counted from the resamples.
#
# A p-value tests that the coefficient of the *penalised* model is 0. With a strong penalty
# and correlated predictors it need not be 0 for a predictor that has no effect of its own,
# which then stands in for others that are shrunk.
#
# ## The bootstrap of the hinge
#
# Rows are drawn with replacement by R's `sample()`, standardized anew, and the model is
# fitted again to each of 999 resamples, from the fit, to a certified gap of $10^{-6}$. The
# interval is the *envelope*: it reaches from the estimate to the farther of the outer 2.5%
# of the resamples, on both sides, and so holds the percentile and the basic interval. The
# p-value is the level at which it would end at 0: $2 (1 + c) / (1 + 999)$, with $c$
# resamples as far from the estimate as 0 is, on the side where there are more.
#
# Why not a formula? The hinge is a broken line; the curvature of its mean is the density
# of rows at the kink, where $y_i f(x_i) = 1$. With predictors of few values, as here,
# groups of rows tie at the kink, and there is no density. `cov_type="sandwich"` estimates
# one by a kernel all the same (Koo et al. 2008), which is right where a continuous
# predictor with an effect keeps rows apart.

# %%
sandwich = result.with_covariance("sandwich")
both = pd.DataFrame({"sandwich": sandwich.bse, "bootstrap": result.bse})
both.assign(ratio=both["bootstrap"] / both["sandwich"]).round(4)

# %% [markdown]
# ## Hypotheses about several coefficients
#
# Linear hypotheses are written as in statsmodels. A joint one compares the distance of the
# estimate from the hypothesis with those of the resamples from the estimate, in the metric
# of the scores, which does not depend on how a factor is coded.

# %%
print(result.t_test("age = yrs_married"))
print(result.wald_test("educ = 0, children = 0"))

# %% [markdown]
# ## The sandwich of the log loss
#
# The log loss is smooth, and its covariance is
#
# $$\dfrac{1}{n}\, H^{-1}\, G\, H^{-1},$$
#
# with $G$ the covariance of the scores of the rows and $H$ the curvature of the penalised
# risk. HC3 divides the score of a row by one minus its leverage, as the jackknife does, so
# that few rows do not make intervals too short; joint tests are by F. At $\lambda \to 0$
# HC0 is the robust covariance of statsmodels' `Logit`, and `cov_type="nonrobust"` repeats
# what `glm` prints, which is right if the model is.

# %%
logit = ps.logit(f"affair ~ {predictors}", data, lam=1e-9).fit(ps.SDCA(tol=1e-13))
X = sm.add_constant(data[logit.coef.index])
theirs = sm.Logit(data["affair"] == "yes", X)
pd.DataFrame(
    {
        "HC3": logit.bse.to_numpy(),
        "HC0": logit.with_covariance("HC0").bse.to_numpy(),
        "HC0, statsmodels": theirs.fit(disp=0, cov_type="HC0").bse.to_numpy(),
        "nonrobust": logit.with_covariance("nonrobust").bse.to_numpy(),
        "nonrobust, statsmodels": theirs.fit(disp=0).bse.to_numpy(),
    },
    index=logit.bse.index,
).round(5)

# %% [markdown]
# ## Rows that come in groups
#
# Patients of one hospital, or answers of one person, are not independent. With `groups=`
# the log loss adds the scores of a group before they are squared, and tests are by
# Student's t with one degree of freedom less than there are groups: the numbers are those
# of `vcovCL(type = "HC1")` of R's sandwich and of statsmodels. The hinge draws whole
# groups. Here women of one age and one education are taken together.

# %%
groups = data["age"].astype(str) + ", " + data["educ"].astype(str)
clustered = logit.with_covariance("cluster", groups=groups)
pd.DataFrame({"rows": logit.bse, str(clustered.groups): clustered.bse}).round(4)

# %% [markdown]
# ## A fit that is not at its optimum
#
# The formulas hold at the optimum. After a few epochs of Pegasos the coefficients are far
# from it, and the summary says so; `refine=` goes on to it.

# %%
rough = model.fit(ps.Pegasos(epochs=2, seed=443))
fine = model.fit(ps.Pegasos(epochs=2, seed=443), refine=1e-8)
pd.DataFrame(
    {
        "relative gap": [rough.relative_gap, fine.relative_gap],
        "from the optimum": [
            np.linalg.norm(fit.coef - result.coef) for fit in (rough, fine)
        ],
    },
    index=["2 epochs of Pegasos", "refined"],
)

# %%
print(textwrap.fill(rough.summary().notes[0], 80))

# %% [markdown]
# ## Where this ends
#
# Intervals are for this $\lambda$, taken as fixed, also where cross-validation chose it.
# With fewer than ten rows of the rarer level to a coefficient they are too short, and the
# summary warns. Where resamples of the hinge coincide, as predictors have few values and
# estimates jump between corners, nothing is known to cover; the summary warns then too.
# The page *Standard errors* of the documentation has the formulas and a table of coverage.
#
# ## References
#
# MacKinnon & White (1985), *Some heteroskedasticity-consistent covariance matrix
# estimators with improved finite sample properties*, Journal of Econometrics 29. Davison
# & Hinkley (1997), *Bootstrap methods and their application*. Koo, Lee, Kim & Park (2008),
# *A Bahadur representation of the linear support vector machine*, Journal of Machine
# Learning Research 9. Fair (1978), *A theory of extramarital affairs*, Journal of
# Political Economy 86.
#
# ## Session

# %%
ps.session_info()
