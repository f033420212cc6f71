"""What the package maketables reads of a fit, by its plug-in format."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame({"x": rng.standard_normal(90), "c": np.arange(90) % 9})
    return frame.assign(ill=np.where(frame["x"] > rng.normal(size=90), "yes", "no"))


def test_a_fit_is_a_column_of_a_table(data):
    fit = ps.logit("ill ~ x", data).fit(groups="c")
    table = fit.__maketables_coef_table__
    assert table.columns.tolist() == ["b", "se", "t", "p", "ci95l", "ci95u"]
    assert table.index.name == "Coefficient"
    assert table["se"].tolist() == fit.bse.tolist()
    assert fit.__maketables_depvar__ == "ill = yes"
    stat = {key: fit.__maketables_stat__(key) for key in ("N", "ll", "aic", "no such")}
    assert stat == {"N": 90, "ll": fit.llf, "aic": fit.aic, "no such": None}
    assert fit.__maketables_stat__("se_type") == "HC1, 9 groups of c"
    for key in fit.__maketables_default_stat_keys__:
        assert fit.__maketables_stat__(key) is not None


def test_other_fits_are_columns_too(data):
    hinge = ps.svm("ill ~ x", data)
    names = [hinge.fit(cov_type=kind) for kind in (ps.Bootstrap(29), None)]
    types = [fit.__maketables_vcov_info__["se_type"] for fit in names]
    assert types == ["bootstrap", "none"]
    pooled = ps.pool([ps.logit("ill ~ x", data).fit()] * 3)
    assert pooled.__maketables_coef_table__["b"].tolist() == pooled.params.tolist()
    stats = [pooled.__maketables_stat__(key) for key in ("N", "m", "ll")]
    assert stats == [90, 3, None]
