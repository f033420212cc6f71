"""``to_sql``: one expression, whose value in a database is the score."""

import re
import sqlite3
from contextlib import closing

import duckdb
import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError

CLOSE = {"rtol": 1e-12, "atol": 1e-12}  # sums and functions of another library


def scores_in_sqlite(result, data):
    """Scores that SQLite computes, NaN for NULL, in the order of the rows."""
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("PRAGMA trusted_schema = OFF")
        names = ", ".join("`" + str(c).replace("`", "``") + "`" for c in data.columns)
        base.execute(f"CREATE TABLE given ({names})")
        rows = data.astype(object).where(data.notna(), None)
        places = ", ".join("?" * data.shape[1])
        plain = [
            [value.item() if isinstance(value, np.generic) else value for value in row]
            for row in rows.itertuples(index=False)
        ]
        base.executemany(f"INSERT INTO given VALUES ({places})", plain)
        query = f"SELECT {result.to_sql('sqlite')} FROM given ORDER BY rowid"
        found = base.execute(query).fetchall()
        assert base.execute("SELECT count(*) FROM given").fetchone() == (len(data),)
    return np.array([np.nan if row[0] is None else row[0] for row in found])


def scores_in_duckdb(result, data):
    """Scores that DuckDB computes, NaN for NULL, in the order of the rows."""
    with duckdb.connect() as base:
        base.register("given", data)
        found = base.execute(f"SELECT {result.to_sql('duckdb')} FROM given").fetchall()
        assert base.execute("SELECT count(*) FROM given").fetchone() == (len(data),)
    return np.array([np.nan if row[0] is None else row[0] for row in found])


@pytest.fixture(params=[scores_in_sqlite, scores_in_duckdb])
def scores_in(request):
    return request.param


@pytest.fixture
def data():
    draw = np.random.default_rng(8)
    n = 40
    y, x = draw.integers(0, 2, n), draw.normal(size=n) * 3.0 + 5.0
    frame = pd.DataFrame({"y": y, "x": x, "k": draw.integers(1, 9, n)})
    frame["z"] = draw.uniform(0.1, 2.0, n)
    frame["g"] = draw.choice(["u", "v", "w's"], n)
    frame["h"], frame["b"] = draw.choice([1, 2, 4], n), draw.choice([True, False], n)
    return frame.assign(c=pd.Categorical(draw.choice(["lo", "mid", "hi"], n)))


FORMULAS = [
    "y ~ x + k + z",
    "y ~ x + g + b",
    "y ~ g + c - 1",
    "y ~ C(h) + x:g",
    "y ~ g*c + g:k",
    "y ~ g*c*x",
    "y ~ C(g, contr.sum) + C(c, contr.helmert) + C(h, contr.poly)",
    "y ~ C(g, contr.treatment('v')) + relevel(c, 'mid')",
    "y ~ log(z) + sqrt(k) + I(x**2) + exp(z) + log10(k) + log(k, 2)",
    "y ~ I(k / h) + I(k / 3) + I(-x * 2 + 1) + I(z**-1.5) + np.log2(z) + np.log1p(z)",
    "y ~ np.sin(x) + np.arctan(x) + abs(x - 5) + floor(x) + ceiling(x) + np.square(z)",
    "y ~ scale(x) + center(k) + I(x - mean(x)) + I(x / sd(x)) + I(x > median(x))",
    "y ~ I(x > 5) + C(k > 3) + I((x > 4) & (k < 6)) + I((x > 4) | ~(k < 6))",
    "y ~ I(3 < k <= 7) + I(k == 3) + I(h != 2)",
    "y ~ ifelse(x > 5, z, -1) + pmin(x, k) + pmax(x, k, 6) + I(g == 'v') + I(g != 'v')",
    "y ~ I(g in c('u', 'v')) + I(h in c(1, 4)) + np.where(g == 'u', x, 2)",
    "y ~ np.expm1(z) + np.add(x, k) + np.power(z, 3) + np.maximum(x, 4)",
]


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("standardize", [False, True])
def test_a_database_computes_the_scores(scores_in, data, formula, standardize):
    model = ps.svm(formula, data, lam=0.1, standardize=standardize)
    result = model.fit(ps.Pegasos(2, seed=1))
    scores = result.decision_function(data).to_numpy()
    assert scores.std() > 1e-3
    np.testing.assert_allclose(scores_in(result, data), scores, **CLOSE)


@pytest.mark.parametrize("intercept", [True, False])
def test_frames_without_a_formula(scores_in, data, intercept):
    X = data[["x", "k", "z"]]
    result = ps.Logit(data["y"], X, lam=0.1, intercept=intercept).fit(
        ps.Optimum(seed=1)
    )
    scores = result.decision_function(X)
    np.testing.assert_allclose(scores_in(result, X), scores, **CLOSE)
    assert result.to_sql().count("\n + ") == 3 - (not intercept)
    numbered = ps.SVM(data["y"], X.to_numpy(), lam=0.1).fit(ps.Optimum(seed=1))
    found = scores_in(numbered, X.set_axis(["x1", "x2", "x3"], axis=1))
    np.testing.assert_allclose(found, numbered.decision_function(X), **CLOSE)


def test_missing_values_and_unknown_levels_are_null(scores_in, data):
    formula = "y ~ x + g + ifelse(x > 5, 1, 0) + C(h) + pmin(x, k)"
    result = ps.svm(formula, data, lam=0.1).fit(ps.Pegasos(2, seed=1))
    holes = data.copy().astype({"k": float, "h": float, "g": object})
    for row, column in enumerate(["x", "g", "h", "k"]):
        holes.loc[row, column] = None
    scores = result.decision_function(holes).to_numpy()
    assert np.isnan(scores).tolist() == [True] * 4 + [False] * 36
    np.testing.assert_allclose(scores_in(result, holes), scores, **CLOSE)
    other = data.head(2).assign(g=["new", "u"])
    assert np.isnan(scores_in(result, other)).tolist() == [True, False]


def test_a_condition_hides_no_missing_value(scores_in, data):
    """As in `predict` and in R, a missing value that decides nothing does no harm."""
    formula = "y ~ ifelse(x > 5, z, 0) + I((x > 5) | (k > 4)) + C((x > 5) & (k > 4))"
    result = ps.svm(formula, data, lam=0.1).fit(ps.Optimum(seed=1))
    both = data.astype({"k": float}).assign(x=8.0), data.assign(x=2.0, k=2.0)
    for holes, decides in zip(both, [True, False], strict=True):
        for row, column in enumerate(["x", "k", "z"]):
            holes.loc[row, column] = np.nan
        scores = result.decision_function(holes)
        assert np.isnan(scores).tolist() == [True, True, decides] + [False] * 37
        np.testing.assert_allclose(scores_in(result, holes), scores, **CLOSE)


def test_nan_is_missing_in_duckdb_which_takes_it_for_a_large_number(data):
    formula = "y ~ I(x > 5) + ifelse(k > 4, x, 0) + pmin(z, 1) + pmax(z, k)"
    result = ps.logit(formula, data, lam=0.1).fit(ps.Optimum(seed=1))
    scores = result.to_sql("duckdb")
    for lost in ("x", "k", "z"):
        values = [
            f"{1.0 if name != lost else 'nan'!r}::DOUBLE AS {name}" for name in "xkz"
        ]
        found = duckdb.sql(f"SELECT {scores} FROM (SELECT {', '.join(values)})")
        assert found.fetchall() == [(None,)]


HOSTILE = [
    'a"b', "a`b", "a]b[", "it's", "two\nlines", "select", "a b", "Größe", "日本",
    "x;--", '"); DROP TABLE given; --', "`; DROP TABLE given; --", "%s", "?", ":x",
    "a\\", "a.b",
]  # fmt: skip


def test_hostile_names_of_columns_and_levels(scores_in, data):
    draw = np.random.default_rng(1)
    X = pd.DataFrame(draw.normal(size=(40, len(HOSTILE))), columns=HOSTILE)
    text = [*HOSTILE, "U", "u", "' OR 1=1 --", "''", ""]
    frame = pd.DataFrame({"y": [0, 1] * len(text), "g": text * 2})
    for model, rows in (
        (ps.SVM(data["y"], X, lam=0.1), X),
        (ps.svm("y ~ C(g)", frame, lam=0.01), frame),
    ):
        result = model.fit(ps.Pegasos(5, seed=1))
        scores = result.decision_function(rows)
        np.testing.assert_allclose(scores_in(result, rows), scores, **CLOSE)


QUOTED, TICKED, LEVEL = '"x`]"""', '`x``]"`', "(\"g'\" = 'b''s')"
CAST = """(CAST("g'" AS VARCHAR) COLLATE "C" = 'b''s')"""
DIALECTS = [
    ("ansi", QUOTED, "DOUBLE PRECISION", LEVEL),
    ("postgresql", QUOTED, "DOUBLE PRECISION", LEVEL),
    ("duckdb", QUOTED, "DOUBLE", CAST),
    ("sqlite", TICKED, "REAL", "(`g'` COLLATE BINARY = 'b''s')"),
]


@pytest.mark.parametrize(("dialect", "column", "number", "level"), DIALECTS)
def test_dialects(dialect, column, number, level):
    frame = pd.DataFrame({"y": [0, 1] * 4, 'x`]"': range(8)})
    frame["g'"] = ["a", "b's"] * 2 + ["b's", "a"] * 2
    written = ps.svm("y ~ .", frame, lam=1.0).fit(ps.Pegasos(1)).to_sql(dialect)
    assert f"CAST({column} AS {number})" in written
    assert level in written


def test_booleans_and_logarithms_by_dialect(data):
    model = ps.svm("y ~ C(b) + log(z) + ceiling(z)", data, lam=1.0)
    result = model.fit(ps.Pegasos(1, seed=1))
    for dialect, words in {
        "postgresql": ['("b" = TRUE)'],
        "duckdb": ['LN(NULLIF(CAST("z" AS DOUBLE), '],
        "sqlite": ["CEIL(CASE WHEN `z` <= "],
    }.items():
        assert all(word in result.to_sql(dialect) for word in words)


def test_letters_are_compared_whatever_the_collation_of_a_column(data):
    result = ps.svm("y ~ C(g) + x", data, lam=0.1).fit(ps.Optimum(seed=1))
    bases = (sqlite3.connect(":memory:"), "sqlite"), (duckdb.connect(), "duckdb")
    for run, dialect in bases:
        run.execute("CREATE TABLE folded (g VARCHAR COLLATE NOCASE, x DOUBLE)")
        run.execute("INSERT INTO folded VALUES ('u', 1), ('U', 1)")
        found = run.execute(f"SELECT {result.to_sql(dialect)} FROM folded").fetchall()
        assert [row[0] is None for row in found] == [False, True]


def test_text_that_is_no_number_is_none_in_sqlite(data):
    """A CSV file becomes a table of text there."""
    result = ps.svm("y ~ x", data, lam=0.1).fit(ps.Optimum(seed=1))
    text = ["1.50", " 2", "3e0", "1x", "", "NA", None]
    scores = result.decision_function(pd.DataFrame({"x": [1.5, 2.0, 3.0]}))
    found = scores_in_sqlite(result, pd.DataFrame({"x": text}))
    np.testing.assert_allclose(found, [*scores, *[np.nan] * 4], **CLOSE)


UNSURE = [
    "I(g == t)", "I(g < t)", "ifelse(g != t, 1, 2)", "as.numeric(digits)",
    "I(day == '2026-01-01')", "I(day == other)", "I(rank < 2)", "I(h in c(1, NA))",
    "C(long)", "I(long == 1152921504606846977)", "I(long == k)",
    "offset(ifelse(g == t, 1, 2))", "offset(as.numeric(digits))",
]  # fmt: skip


@pytest.mark.parametrize("term", UNSURE)
def test_what_databases_compare_otherwise_is_refused(data, term):
    """SQLite reads text as 0; dates, codes beyond 2^53, categories in an order."""
    day = pd.to_datetime("2026-01-01") + pd.to_timedelta(data["k"], "D")
    data = data.assign(t=data["g"].to_numpy()[::-1], day=day, other=day[::-1].array)
    data = data.assign(digits=data["h"].astype(str), long=2**60 + data["h"])
    data["rank"] = pd.Categorical(data["h"], [4, 1, 2], ordered=True)
    result = ps.svm(f"y ~ x + {term}", data, lam=1.0).fit(ps.Pegasos(1, seed=1))
    for written in (result.to_sql, result.to_json):
        with pytest.raises(OptionError, match="cannot be written"):
            written()


CALLS = ["poly(x, 2)", "bs(x, df=4)", "cut(x, [0, 5, 9, 20])", "round(x, 1)"]
WORDLESS = [(call, f"{call.split('(')[0]}()") for call in [*CALLS, "double(x)"]]
WORDLESS += [("I(k % 3)", "'%'"), ("I(k // 3)", "'//'")]


@pytest.mark.parametrize(("term", "what"), WORDLESS)
def test_what_sql_has_no_word_for_is_refused_in_one_sentence(data, term, what):
    functions = {"double": lambda x: 2 * x}
    model = ps.svm(f"y ~ z + {term}", data, lam=1.0, functions=functions)
    result = model.fit(ps.Pegasos(1, seed=1))
    for written in (result.to_sql, result.to_json):
        with pytest.raises(OptionError, match=f"^{re.escape(what)}"):
            written()


def test_a_missing_value_is_in_no_list(scores_in, data):
    formula = "y ~ I(k in [1, 2, 3]) + I(g not in ['u']) + x"
    result = ps.svm(formula, data, lam=0.1).fit(ps.Optimum(seed=1))
    holes = data.astype({"k": float, "g": object})
    holes.loc[0, "k"], holes.loc[1, "g"] = np.nan, None
    scores = result.decision_function(holes)
    assert not np.isnan(scores).any()
    np.testing.assert_allclose(scores_in(result, holes), scores, **CLOSE)
