# ---
# title: Every object as a notebook shows it
# ---

# %% [markdown]
# # Every object as a notebook shows it
#
# `make test-pages` opens this notebook in a browser. It shows each object of the
# package as the last value of a cell, and a progress bar.

# %%
import pegasos_stats as ps

train, test = ps.datasets.load_digits56()
model = ps.logit("digit ~ p34 + p43 + p22", train, lam=0.01)
model

# %%
solver = ps.Pegasos(epochs=20, seed=443)
solver

# %%
fit = model.fit(ps.Optimum(seed=443))
fit

# %%
fit.summary()

# %%
model.fit(solver, progress=True)

# %%
fit.confusion(test)

# %%
fit.confusion(test).summary()

# %%
fit.tidy()

# %%
fit.margins()

# %%
fit.wald_test_terms()

# %%
fit.thresholds(cost={5: 1, 6: 4}, seed=443)

# %%
kernel = ps.kernel_svm("digit ~ p34 + p43", train, lam=0.01).fit()
kernel

# %%
kernel.summary()

# %%
path = ps.lambda_path(model, folds=5, seed=443)
path

# %%
ps.cross_validate(model, folds=5, seed=443)

# %%
calibrated = ps.calibrate(
    ps.svm("digit ~ p34 + p43", train, lam=1.0), folds=5, seed=443
)
calibrated

# %%
calibrated.summary()

# %%
calibrated.reliability()

# %%
one = ps.logit("digit ~ p34", train, lam=0.01)
ps.compare_models({"one pixel": one.fit(), "three pixels": fit})

# %%
ps.compare_errors({"one pixel": one, "three pixels": model}, folds=5, seed=443)

# %%
ps.session_info()
