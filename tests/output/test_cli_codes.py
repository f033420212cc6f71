"""Codes, names of rows and kinds of columns of files: the same at every door."""

import io

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.files import CsvStyle, read_csv
from tests.output.command_line import refused, run

N = 120
AT_ONCE, BY_BLOCKS = [], ["--memory", "64MiB"]
WAYS = pytest.mark.parametrize("way", [AT_ONCE, BY_BLOCKS], ids=["once", "blocks"])
CSV = {"dtype": str, "keep_default_na": False}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"x": rng.normal(size=N), "g": rng.choice(["250", "V27"], N)})
    frame["w"], frame["flag"] = rng.choice([1, 2, 3], N), rng.choice([True, False], N)
    noise = rng.normal(size=N)
    frame["y"] = (frame["x"] + (frame["g"] == "250") + noise > 0).astype(int)
    return frame


def fitted(capsys, folder, data, formula, way, *more):
    data.to_csv(folder / "train.csv", index=False)
    model = folder / "a.model"
    words = ["--formula", formula, "--loss", "log", "--lam", "0.01", "--save", model]
    run(capsys, "fit", folder / "train.csv", *words, *way, *more)
    return model


def predictions(capsys, model, path, *more):
    return pd.read_csv(
        io.StringIO(run(capsys, "predict", model, path, *more).out), **CSV
    )


@WAYS
def test_rows_are_matched_by_position_and_ids_are_text(data, way, tmp_path, capsys):
    ids = np.resize(["007", "1.10", "NA", "9007199254740993", "007"], N)
    model = fitted(capsys, tmp_path, data, "y ~ x", way)
    result = ps.load(tmp_path / "a.model")
    data.assign(id=ids).to_csv(tmp_path / "ids.csv", index=False)
    pd.concat([data.head(60), data.head(60)]).to_csv(tmp_path / "labels.csv")
    for name, rows, option, first in (
        ("ids.csv", data, ["--id", "id"], ids.tolist()),
        ("labels.csv", pd.concat([data.head(60)] * 2), [], None),
    ):
        found = predictions(capsys, model, tmp_path / name, *option, *way)
        shares = result.predict_proba(rows.reset_index(drop=True))
        assert len(found) == len(rows)
        np.testing.assert_allclose(found["probability_1"].astype(float), shares[1])
        if first and way:  # by blocks, an id NA is missing
            first = ["" if text == "NA" else text for text in first]
        assert first is None or found["id"].tolist() == first


@WAYS
@pytest.mark.parametrize("digits", [16, 19, 20, 25])
def test_long_codes_stay_apart_where_cells_are_empty(
    digits, way, data, tmp_path, capsys
):
    codes = [str(10 ** (digits - 1) + k) for k in (1, 2, 3)]
    data = data.assign(h=np.resize(codes, N))
    data.loc[5, "h"] = ""
    model = fitted(capsys, tmp_path, data, "y ~ x + C(h)", way)
    named = data.assign(h="h" + data["h"]).drop(index=5)
    expected = ps.logit("y ~ x + C(h)", named, lam=0.01).fit()
    found = ps.load(model).params
    np.testing.assert_allclose(found, expected.params, atol=1e-3)
    assert [n.replace("[T.", "[T.h") for n in found.index] == [*expected.params.index]


@pytest.mark.parametrize("scale", [1, 1000])
def test_long_codes_of_objects_stay_apart(scale, data):
    codes = [scale * (2**60 + k) for k in range(3)]
    expected = ps.logit("y ~ C(h)", data.assign(h=np.resize(["a", "b", "c"], N)), lam=1)
    h = np.resize(np.array(codes, dtype=object), N)
    for column in (h, h.tolist(), pd.Series(h, [7] * N).array):
        found = ps.logit(
            "y ~ C(h)", {"y": data["y"].tolist(), "h": list(column)}, lam=1
        )
        np.testing.assert_array_equal(found.fit().params, expected.fit().params)


@WAYS
def test_new_files_are_read_as_the_model_was(data, way, tmp_path, capsys):
    formula = "y ~ x + g + C(w) + C(flag)"
    model = fitted(capsys, tmp_path, data, formula, way)
    new = data[data["g"] == "250"].head(8).reset_index(drop=True)
    expected = ps.load(model).decision_function(new)
    new.to_csv(tmp_path / "new.csv", index=False)
    path = tmp_path / "doubt.csv"
    words = new.astype({"w": str, "flag": str, "y": str})
    words.loc[2, "w"], words.loc[3, "flag"], words.loc[4, "y"] = "?", "?", ""
    words.to_csv(path, index=False)
    new.assign(g=250).to_parquet(tmp_path / "new.parquet")
    for name in ("new.csv", "new.parquet"):
        found = predictions(capsys, model, tmp_path / name, *way)
        np.testing.assert_allclose(found["score"].astype(float), expected)
    assert "'?', in row 2; the levels are 1, 2, 3" in refused(
        capsys, ["predict", model, path, *way]
    )
    found = predictions(capsys, model, path, "--unseen", "missing", *way)
    assert found.index[found["score"] == ""].tolist() == [2, 3]
    words = ["fit", tmp_path / "train.csv", "--formula", formula, *way]
    test = run(capsys, *words, "--test", tmp_path / "new.csv").out
    assert "of 8\n" in test


@WAYS
def test_an_empty_cell_leaves_whole_classes_whole(data, way, tmp_path, capsys):
    rows = data.astype({"y": "Int64"})
    rows.loc[3, "y"] = pd.NA
    fitted(capsys, tmp_path, rows, "y ~ x", way, "--positive", "1")
    assert ps.load(tmp_path / "a.model").coding.levels == (0, 1)
    floats = rows.astype({"y": float})
    assert ps.logit("y ~ x", floats, lam=1.0).fit().predict().tolist()[0] in (0, 1)
    assert repr(ps.logit("y ~ x", floats, lam=1.0).fit().coding.levels) == "(0, 1)"


def test_numbers_with_units_and_groups_are_read_on_request(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a;b;k\n1'234,5;CHF -7;NA\n-2;5 CHF;DE\n;;\n1'000;1;\n")
    found = read_csv(str(path), CsvStyle(";", ",", thousands="'", strip="CHF"))
    assert found["a"].dropna().tolist() == [1234.5, -2.0, 1000.0]
    assert found["b"].dropna().tolist() == [-7, 5, 1]
    assert found["k"].dropna().tolist() == ["DE"]
    kept = read_csv(str(path), CsvStyle(";", ",", keep_na=True))
    assert kept["k"].dropna().tolist() == ["NA", "DE"]
    assert kept["a"].tolist()[0] == "1'234,5"


TIMES = {
    "dates": pd.Series(pd.date_range("2020-01-01", periods=N)),
    "durations": pd.Series(pd.to_timedelta(range(N), "D")),
}
TERMS = [
    "poly(d, 2)",
    "ns(d, df=3)",
    "bs(d, df=4)",
    "scale(d)",
    "log(d)",
]
TERMS += ["as.numeric(d)", "as.integer(d)", "d.astype('float')", "cut(d, 3)"]


@pytest.mark.parametrize("term", TERMS)
@pytest.mark.parametrize("kind", TIMES)
def test_no_function_takes_times_by_their_unit(term, kind, data):
    pa = pytest.importorskip("pyarrow")
    d = TIMES[kind].astype({"dates": "datetime64[us]", "durations": "m8[us]"}[kind])
    types = {"dates": pa.timestamp("us"), "durations": pa.duration("us")}
    for column in (d, d.astype(pd.ArrowDtype(types[kind]))):
        with pytest.raises(
            ps.errors.ColumnError, match=r"Column 'd' .* \.dt\.days|days"
        ):
            ps.logit(f"y ~ x + {term}", data.assign(d=column), lam=1.0)


def test_codes_like_numbers_with_a_letter_stay_levels(data, tmp_path, capsys):
    wards = [f"W{i % 15}" for i in range(N)]
    data[["y"]].assign(ward=wards).to_csv(tmp_path / "a.csv", index=False)
    run(capsys, "fit", tmp_path / "a.csv", "-y", "y")


def test_a_code_for_missing_values_is_pointed_out(data, tmp_path, capsys):
    ages = np.where(np.arange(N) % 9 == 0, -99, 40 + np.arange(N) % 50)
    data[["y"]].assign(age=ages).to_csv(tmp_path / "a.csv", index=False)
    words = ["fit", tmp_path / "a.csv", "-y", "y"]
    assert "-99" in run(capsys, *words).out
    assert "-99" not in run(capsys, *words, "--na-values", "-99").out
