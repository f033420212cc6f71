"""New rows beyond a spline, terms without effects, and columns called like ours."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import FormulaError

SOLVER = ps.SDCA(seed=1)


def rows(n=60):
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"x": rng.uniform(0.0, 1.0, n).round(3)})
    data["g"] = rng.choice(["a", "b"], n)
    data["y"] = np.where(data["x"] + 0.4 * rng.normal(size=n) > 0.5, "no", "yes")
    return data


def fitted(formula, data):
    return ps.logit(formula, data, lam=0.1).fit(SOLVER)


def test_rows_beyond_a_spline_are_refused():
    data = rows()
    result = fitted("y ~ bs(x, df=4)", data)
    high = data["x"].max()
    with pytest.raises(FormulaError, match=r"beyond .*extrapolation"):
        result.predict(data.assign(x=data["x"] + 1.0))
    clipped = fitted("y ~ bs(x, df=4, extrapolation='clip')", data)
    far = clipped.decision_function(data.assign(x=7.0))
    at_end = clipped.decision_function(data.assign(x=high))
    assert far.tolist() == at_end.tolist()


@pytest.mark.parametrize(
    "name", ["estimate", "term", "actual", "weights", "no", "index", ".fitted", "count"]
)
def test_columns_called_like_ours_give_the_same_numbers(name, tmp_path):
    plain, data = rows(), rows().rename(columns={"x": name})
    expected, found = fitted("y ~ x + g", plain), fitted(f"y ~ `{name}` + g", data)
    terms = [name if term == "x" else term for term in expected.tidy()["term"]]
    assert found.tidy()["term"].tolist() == terms
    pd.testing.assert_frame_equal(
        found.tidy().drop(columns="term"), expected.tidy().drop(columns="term")
    )
    assert found.confusion(data).table.equals(expected.confusion(plain).table)
    by_name, by_x = (r.margins().tidy().set_index("term") for r in (found, expected))
    assert by_name.loc[name].equals(by_x.loc["x"])
    new = found.augment(data, prefix="our_")
    assert new["our_score"].tolist() == expected.decision_function(plain).tolist()
    assert new[name].equals(data[name])
    both = ps.compare_models({"a": expected, "b": found}).tidy()
    assert set(both["term"]) == {*expected.tidy()["term"], name}
    ps.save(found, tmp_path / "a")
    assert ps.load(tmp_path / "a").predict(data).equals(found.predict(data))
