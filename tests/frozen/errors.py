"""Fits whose standard errors and intervals are frozen, every option written out.

The kinds of errors are those that stay: of the log loss model-based, HC0 to HC3, of
groups and of resamples; of the hinge the sandwich, of groups and of resamples.
"""

from typing import Any

import pegasos_stats as ps
from tests.frozen import rows
from tests.frozen.fits import MODEL, NEWTON

TOL = 1e-12  # relative gap


def resamples(interval: str) -> ps.Bootstrap:
    """The pairs bootstrap of 199 resamples."""
    return ps.Bootstrap(
        replicates=199,
        seed=443,
        interval=interval,
        sample_kind="rejection",
        tol=1e-10,
        workers=1,
    )


NORMAL, PERCENTILE = resamples("normal"), resamples("percentile")
BASIC, ENVELOPE = resamples("basic"), resamples("envelope")
NORMAL_CLUSTER = ps.Cluster(bandwidth="silverman", correction="CR1", use_t=False)
WEIGHTS, COUNTS, OFFSET = {"weights": "w"}, {"freq_weights": "f"}, {"offset": "o"}
FREE = {"intercept": False}
SCALED = {"standardize": True}
BALANCED = {"weights": "balanced"}
SCHOOL = "school"

# name: loss, cov_type, options of the model, groups
CASES: dict[str, tuple[str, Any, dict[str, Any], Any]] = {
    "log, nonrobust": ("log", "nonrobust", {}, None),
    "log, HC0": ("log", "HC0", {}, None),
    "log, HC1": ("log", "HC1", {}, None),
    "log, HC2": ("log", "HC2", {}, None),
    "log, HC3": ("log", "HC3", {}, None),
    "log, cluster": ("log", "CR1", {}, SCHOOL),
    "log, cluster, normal": ("log", NORMAL_CLUSTER, {}, SCHOOL),
    "log, cluster, two ways": ("log", "cluster", {}, [SCHOOL, "town"]),
    "log, bootstrap, normal": ("log", NORMAL, {}, None),
    "log, bootstrap, percentile": ("log", PERCENTILE, {}, None),
    "log, bootstrap, basic": ("log", BASIC, {}, None),
    "log, bootstrap, envelope": ("log", ENVELOPE, {}, None),
    "log, bootstrap of groups": ("log", NORMAL, {}, SCHOOL),
    "log, weights, HC0": ("log", "HC0", WEIGHTS, None),
    "log, weights, HC3": ("log", "HC3", WEIGHTS, None),
    "log, weights, cluster": ("log", "CR1", WEIGHTS, SCHOOL),
    "log, balanced, HC3": ("log", "HC3", BALANCED, None),
    "log, freq_weights, nonrobust": ("log", "nonrobust", COUNTS, None),
    "log, freq_weights, HC3": ("log", "HC3", COUNTS, None),
    "log, freq_weights, bootstrap": ("log", NORMAL, COUNTS, None),
    "log, offset, nonrobust": ("log", "nonrobust", OFFSET, None),
    "log, offset, HC3": ("log", "HC3", OFFSET, None),
    "log, standardize, HC3": ("log", "HC3", SCALED, None),
    "log, no intercept, HC2": ("log", "HC2", FREE, None),
    "hinge, sandwich": ("hinge", "sandwich", {}, None),
    "hinge, weights, sandwich": ("hinge", "sandwich", WEIGHTS, None),
    "hinge, freq_weights, sandwich": ("hinge", "sandwich", COUNTS, None),
    "hinge, standardize, sandwich": ("hinge", "sandwich", SCALED, None),
    "hinge, no intercept, sandwich": ("hinge", "sandwich", FREE, None),
    "hinge, cluster": ("hinge", "cluster", {}, SCHOOL),
    "hinge, bootstrap, normal": ("hinge", NORMAL, {}, None),
    "hinge, bootstrap, percentile": ("hinge", PERCENTILE, {}, None),
    "hinge, bootstrap, envelope": ("hinge", ENVELOPE, {}, None),
    "hinge, bootstrap of groups": ("hinge", NORMAL, {}, SCHOOL),
    "hinge, weights, bootstrap": ("hinge", NORMAL, WEIGHTS, None),
}


def fitted(name: str) -> ps.LinearResults:
    """Fit a case."""
    loss, cov_type, options, groups = CASES[name]
    build = {"hinge": ps.svm, "log": ps.logit}[loss]
    given = MODEL | options
    terms = "y ~ a + b + c + g" + " - 1" * (not given["intercept"])
    model = build(terms, rows.frame(), functions=None, **given)
    solver = ps.Optimum(**NEWTON | {"tol": TOL})
    return model.fit(solver, cov_type=cov_type, groups=groups)


def numbers(name: str) -> dict[str, list[float]]:
    """Coefficients, standard errors and limits of 95% of a case."""
    fit = fitted(name)
    limits = fit.conf_int(alpha=0.05).to_numpy()
    found = {"params": fit.params, "std_error": fit.bse}
    found |= {"low": limits[:, 0], "high": limits[:, 1]}
    return {key: [float(value) for value in values] for key, values in found.items()}
