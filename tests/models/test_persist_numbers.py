"""Numbers that no fit has are refused on loading, whoever wrote them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import PegasosStatsError
from pegasos_stats.models.persist.kinds import check_sandwich


def fitted():
    rng = np.random.default_rng(12)
    x = rng.normal(size=60)
    y = np.where(x + rng.normal(size=60) > 0.0, "yes", "no")
    data = pd.DataFrame({"y": y, "x": x})
    return ps.logit("y ~ x", data, lam=0.1).fit(ps.SDCA(seed=1), cov_type="sandwich")


@pytest.mark.parametrize(
    ("name", "forge"),
    [
        ("matrix", lambda m: np.full_like(m, 1e308)),
        ("matrix", lambda m: -m),
        ("bread", lambda m: np.full_like(m, np.nan)),
        ("bread", lambda m: np.full_like(m, np.inf)),
    ],
)
def test_matrices_of_no_sandwich(name, forge):
    found = fitted().covariance
    check_sandwich(found)
    with pytest.raises(ValueError, match=r"bread|covariance|variance"):
        check_sandwich(replace(found, **{name: forge(getattr(found, name))}))


@pytest.mark.parametrize("alpha", [1e308, -1e301])
def test_an_intercept_of_no_fit(alpha, tmp_path):
    result = fitted()
    forged = replace(result, solution=replace(result.solution, alpha=alpha))
    vars(forged).update(certificate=result.certificate, shortfall=result.shortfall)
    path = tmp_path / "forged.model"
    with pytest.raises((PegasosStatsError, ValueError)):
        written_and_read(forged, path)
    assert written_and_read(result, tmp_path / "fit.model").params.equals(result.params)


def written_and_read(result, path):
    ps.save(result, path)
    return ps.load(path)
