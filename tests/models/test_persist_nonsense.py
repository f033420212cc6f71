"""Files whose digest is right and whose numbers no fit has; they load nowhere."""

import json

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.models.persist import load, save
from tests.data.hostile_files import MIB, check_refused
from tests.models.saved_models import put_together, taken_apart

ERRORS = {
    "sandwich": "sandwich",
    "bootstrap": ps.Bootstrap(replicates=30, seed=1),
    "HC3": "HC3",
}


@pytest.fixture(scope="module", params=ERRORS)
def parts(request, tmp_path_factory):
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.standard_normal((60, 2)), columns=["a", "b"])
    data["y"] = np.where(data["a"] + rng.standard_normal(60) > 0, "yes", "no")
    model = ps.logit("y ~ a + b", data, lam=0.1, standardize=True)
    errors = ERRORS[request.param]
    result = model.fit(ps.SDCA(tol=1e-8, seed=1), cov_type=errors)
    _ = result.bse
    path = tmp_path_factory.mktemp("saved") / "a"
    save(result, path)
    return taken_apart(path)


def names_of(arrays, kind):
    """Covariances, or what they are made of."""
    names = {"covariance": ("matrix", "joint", "fixed", "covariance")}[kind]
    found = [f"covariance.{name}" for name in names]
    square = (3, 3)
    return [n for n in found if n in arrays and arrays[n].shape == square]


def test_the_file_itself_loads(parts, tmp_path):
    (tmp_path / "a").write_bytes(put_together(*parts))
    assert np.isfinite(load(tmp_path / "a").bse).all()


@pytest.mark.parametrize("rows", [0, 1, 4])
def test_second_estimates_are_as_many_as_the_first(rows, parts, tmp_path):
    header, arrays = parts
    if "covariance.fixed" in arrays:
        arrays = arrays | {"covariance.fixed": np.zeros((rows, 3))}
        check_refused(tmp_path / "a", put_together(header, arrays))


def test_variances_below_zero_are_refused(parts, tmp_path):
    header, arrays = parts
    for name in names_of(arrays, "covariance"):
        forged = arrays | {name: -arrays[name]}
        check_refused(tmp_path / "a", put_together(header, forged))


def test_covariances_are_symmetric(parts, tmp_path):
    header, arrays = parts
    for name in names_of(arrays, "covariance"):
        matrix = arrays[name].copy()
        matrix[0, 2] += np.abs(matrix).max()
        check_refused(tmp_path / "a", put_together(header, arrays | {name: matrix}))


@pytest.mark.parametrize("size", [1e308, -1e200, 1e100, 1e3])
def test_coefficients_cost_no_more_than_the_objective(size, parts, tmp_path):
    header, arrays = parts  # lam / 2 |beta|^2 is a part of the objective
    forged = arrays | {"beta": np.array([size, 0.5])}
    check_refused(tmp_path / "a", put_together(header, forged))


@pytest.mark.parametrize("shape", [(10**17, 0), (0, 10**17), (0, 10**9)])
def test_arrays_without_numbers_raise_no_limit(shape, parts, tmp_path):
    """A header may grow with the rows of a model, of which there are none here."""
    header, arrays = parts
    text = json.dumps(header).encode()
    text = text.replace(b"{", b'{"more": [' + b"0," * (8 * MIB) + b"0], ", 1)
    forged = arrays | {"covariance.unbounded": np.empty(shape)}
    check_refused(tmp_path / "a", put_together(text, forged))
    check_refused(tmp_path / "a", put_together(header, forged))
