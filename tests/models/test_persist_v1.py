"""Files of format 1: they load, marked as unchecked, and give what they gave."""

import json

import numpy as np
import pandas as pd
import pytest

from pegasos_stats.errors import DataError, PegasosStatsWarning
from pegasos_stats.models.persist import load, load_saved, save
from tests.models.saved_models import V1, as_format_1, put_together, taken_apart

EXPECTED = json.loads((V1 / "expected.json").read_text())
SUM = 1e-12  # scores are sums, whose order differs between machines


def rows_for(name):
    new = pd.read_csv(V1 / "new.csv")
    if name == "given_rows":
        return new[["a", "b"]]
    if name == "precomputed":
        train = pd.read_csv(V1 / "train.csv")
        return new[["a", "b"]].to_numpy() @ train[["a", "b"]].to_numpy().T
    return new


@pytest.mark.parametrize("name", EXPECTED)
def test_a_file_of_format_1_loads_and_is_marked(name, tmp_path):
    with pytest.warns(PegasosStatsWarning, match="saved in format 1, which has no dig"):
        saved = load_saved(V1 / f"{name}.model")
    assert saved.checked is False
    result, expected = saved.result, EXPECTED[name]
    kernel = hasattr(result, "dual_coef")
    params = result.dual_coef if kernel else result.params
    assert params.tolist() == expected["params"]
    assert [result.intercept, result.objective, result.gap] == [
        expected[key] for key in ("intercept", "objective", "gap")
    ]
    scores = result.decision_function(rows_for(name))
    np.testing.assert_allclose(scores, expected["scores"], rtol=SUM)
    if not kernel:
        assert result.estimated.std_error.tolist() == expected["errors"]
    save(result, tmp_path / "again")
    assert load_saved(tmp_path / "again").checked is True


def test_a_digest_and_the_number_of_the_format_go_together(tmp_path):
    header, arrays = taken_apart(V1 / "given_rows.model")
    path = tmp_path / "a"
    path.write_bytes(put_together(header, arrays))
    with pytest.raises(DataError, match="its format is 1, and has a digest"):
        load(path)
    path.write_bytes(as_format_1(json.dumps(header | {"version": 2}).encode(), arrays))
    with pytest.raises(DataError, match="its format is 2, and has no digest"):
        load(path)
    text = json.dumps(header | {"digest": "sha256"}).encode()
    path.write_bytes(as_format_1(text, arrays))
    with pytest.raises(DataError, match="has not the fields of its format"):
        load(path)


@pytest.mark.parametrize(
    "version", [0, -1, 1.0, 2.0, True, "2", None, [2], float("nan"), 1e400, {}]
)
def test_a_format_that_is_no_number_is_refused(version, tmp_path):
    header, arrays = taken_apart(V1 / "given_rows.model")
    header |= {"version": version, "digest": "x"}
    (tmp_path / "a").write_bytes(put_together(header, arrays))
    with pytest.raises(DataError, match=r"is damaged or incomplete .*save it again"):
        load(tmp_path / "a")


@pytest.mark.parametrize("version", [3, 2**40, 10**300])
def test_a_newer_format_is_named(version, tmp_path):
    header, arrays = taken_apart(V1 / "given_rows.model")
    (tmp_path / "a").write_bytes(put_together(header | {"version": version}, arrays))
    with pytest.raises(DataError, match=f"has format {str(version)[:150]}.*newer one"):
        load(tmp_path / "a")


@pytest.mark.parametrize("above", [1e-12, 1e-5, 7e-3])
def test_a_bound_above_the_objective_is_no_bound(above, tmp_path):
    """Format 1 counted no rounding; format 2 does, and has no excuse."""
    header, arrays = taken_apart(V1 / "given_rows.model")
    facts = dict(header["fit"]["certificate"]["value"])
    dual = facts["objective"] * (1.0 + above)
    pairs = [[k, dual if k == "dual_objective" else v] for k, v in facts.items()]
    header["fit"]["certificate"]["value"] = pairs
    (tmp_path / "a").write_bytes(as_format_1(header, arrays))
    with pytest.warns(PegasosStatsWarning, match="format 1"):
        result = load(tmp_path / "a")
    assert (result.objective, result.gap) == (facts["objective"], facts["objective"])
    save(result, tmp_path / "again")
    again, arrays = taken_apart(tmp_path / "again")
    pairs = again["fit"]["certificate"]["value"]
    pairs[[key for key, _ in pairs].index("dual_objective")][1] = dual
    (tmp_path / "again").write_bytes(put_together(again, arrays))
    with pytest.raises(DataError, match="its lower bound"):
        load(tmp_path / "again")
