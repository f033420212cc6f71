"""Files that do not go together, or cannot be read: one sentence each."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ColumnError, DataError, LabelError, PegasosStatsError
from tests.scan.scan_files import frame_of, written

SOLVER = ps.Optimum(tol=1e-6, seed=1)


@pytest.fixture
def parts():
    data = frame_of(1200).dropna().reset_index(drop=True)
    return [data.iloc[:400], data.iloc[400:800], data.iloc[800:]]


@pytest.fixture
def scanned(tmp_path):
    def write(parts):
        for earlier in tmp_path.glob("*.parquet"):
            earlier.unlink()
        for i, part in enumerate(parts):
            part.to_parquet(tmp_path / f"{'abcdef'[i]}.parquet", index=False)
        return ps.scan(str(tmp_path / "*.parquet"))

    return write


def test_a_column_that_one_file_lacks(parts, scanned):
    scan = scanned([parts[0], parts[1].drop(columns="x1"), parts[2]])
    for formula in ("y ~ x0 + x1", "y ~ ."):
        with pytest.raises(ColumnError, match=r"'x1' not found in .*b\.parquet"):
            ps.svm(formula, scan, lam=1.0)
    assert ps.svm("y ~ x0", scan, lam=1.0).problem.n == sum(map(len, parts))


def test_text_in_one_file_and_numbers_in_another(parts, scanned):
    scan = scanned([parts[0], parts[1].assign(x0=parts[1]["x0"].astype(str))])
    named = r"^Column 'x0' .*b\.parquet .*a\.parquet"
    with pytest.raises(ColumnError, match=named):
        ps.svm("y ~ x0", scan, lam=1.0)


def test_other_types_of_numbers_and_an_empty_file_are_no_matter(parts, scanned):
    whole = pd.concat(parts)
    whole["k"] = whole["k"].astype(float)
    mixed = [
        parts[0].assign(k=parts[0]["k"].astype("int8"), x2=None),
        parts[1].assign(k=parts[1]["k"].astype("float32")),
        parts[1][:0],
        parts[2].assign(g=parts[2]["g"].astype("category")),
    ]
    tight = ps.Optimum(tol=1e-10, seed=1)
    fitted = ps.logit("y ~ x0 + C(k) + g", scanned(mixed), lam=0.01).fit(tight)
    here = ps.logit("y ~ x0 + C(k) + g", whole, lam=0.01).fit(tight)
    assert fitted.nobs == len(whole)
    assert list(fitted.params.index) == list(here.params.index)
    # ||beta - beta*||^2 <= 2 gap / lam, for each of the two
    apart = sum(np.sqrt(2.0 * each.gap / 0.01) for each in (fitted, here))
    assert np.linalg.norm(fitted.coef - here.coef) <= apart < 1e-3
    assert np.linalg.norm(here.coef) > 0.5
    assert fitted.objective == pytest.approx(here.objective, rel=2e-10)


def test_a_file_that_ends_in_the_middle(parts, scanned, tmp_path):
    scan = scanned([pd.concat(parts)])
    whole = (tmp_path / "a.parquet").read_bytes()
    damaged = whole[:500] + b"\x00" * (len(whole) // 2) + whole[500 + len(whole) // 2 :]
    (tmp_path / "a.parquet").write_bytes(damaged)
    with pytest.raises(DataError, match=r"a\.parquet cannot be read as Parquet \("):
        ps.svm("y ~ x0", scan, lam=1.0)


def test_outcomes_without_two_levels(parts, scanned):
    one = scanned([part[part["y"] == "no"] for part in parts])
    with pytest.raises(LabelError, match="has 1 level, 'no'; "):
        ps.svm("y ~ x0", one, lam=1.0)
    three = scanned([parts[0], parts[1], parts[2].assign(y="maybe")])
    several = r"contains 'maybe' in the rows 0, 1, 2, 3, 4 and .*/c\.parquet"
    with pytest.raises(LabelError, match=several):
        ps.svm("y ~ x0", three, lam=1.0)
    with pytest.raises(LabelError, match=r"has 3 levels, 'maybe', 'no', 'yes'; "):
        ps.svm("y ~ g", three, lam=1.0)
    sorted_files = scanned([pd.concat(parts).sort_values("y")])
    assert ps.svm("y ~ x0", sorted_files, lam=1.0).coding.levels == ("no", "yes")


def test_values_lacking_in_every_row_of_a_file_are_counted(tmp_path):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"y": np.tile(["a", "b"], 300), "x": rng.standard_normal(600)})
    data["z"] = data["x"].where(data.index >= 200)  # none in the first of three
    data.loc[[250, 599], "x"] = np.nan
    model = ps.svm("y ~ x + z", ps.scan(written(data, tmp_path, 3)), lam=1.0)
    found = model.fit(ps.Optimum(seed=1)).dropped
    assert (found.total, dict(found.missing)) == (202, {"x": 2, "z": 200})


def test_functions_that_look_at_other_rows_are_refused(parts, scanned):
    scan, said = scanned(parts), "which depends on all rows, and files are "
    calls = [f"y ~ {f}(x0)" for f in ("scale", "poly", "mean")]
    for formula in (*calls, "x0 > median(x0) ~ x1"):
        with pytest.raises(PegasosStatsError, match=said):
            ps.svm(formula, scan, lam=1.0)
    for call, cure in (
        ("cut(x0, 3)", "cut(x0, c(-9, 0, 9))"),
        ("bs(x0, df=4)", "bs(x0, knots=[0.1], lower_bound=-99, upper_bound=99)"),
        ("poly(x0, 2)", "poly(x0, 2, raw=True)"),
    ):
        with pytest.raises(PegasosStatsError, match=r"; write .*, or compute the "):
            ps.svm(f"y ~ {call}", scan, lam=1.0)
        ps.svm(f"y ~ {cure}", scan, lam=1.0)


def test_files_without_rows_have_no_predictions(parts, scanned):
    result = ps.svm("y ~ x0 + g", scanned(parts), lam=0.01).fit(SOLVER)
    nothing = scanned([parts[0][:0]])
    assert len(result.predict(nothing)) == 0
    with pytest.raises(DataError, match="None of 0 rows is complete"):
        ps.svm("y ~ x0", nothing, lam=1.0)


HOSTILE = [{"paths": value} for value in (3, [], [None], {"a": "b"}, "no.parquet")]
HOSTILE += [{"memory": value} for value in ("a lot", -1, True, 1.5, None, "1GiBs")]


@pytest.mark.parametrize("given", HOSTILE, ids=str)
def test_files_and_budgets_that_are_none(given, parts, scanned, tmp_path):
    scanned(parts[:1])
    with pytest.raises(PegasosStatsError):
        ps.scan(**{"paths": tmp_path / "a.parquet"} | given)
