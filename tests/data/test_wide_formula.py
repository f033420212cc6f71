"""Formulas of many columns: the matrix and the spec of formulaic, in little time."""

import re
import time

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import FormulaError
from tests.data.formula_frames import design_of

N, WIDE = 12, 2_500
SECONDS = 15.0  # of the processor for all; work that is quadratic takes minutes


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "y": np.arange(N) % 2,
            "a": rng.normal(size=N),
            "b": range(N),
            "f f": rng.normal(size=N).astype("float32"),
            "u.v": np.arange(N, dtype="uint8"),
            "t": np.arange(N) % 3 == 0,
            "g": list("uvw") * (N // 3),
            "h": list("pq") * (N // 2),
            "g[T.v]": rng.normal(size=N),
        }
    )


TERMS = [".", ". - 1", "a + `f f` + u.v + t", "g + a + h - 1", "b + a:g + h - 1 + t"]
TERMS += ["a*g + b + u.v + t", "a:b + a + b + t", "a + g:h + b", "(a + b + g)^2 + t"]
TERMS += ["poly(a, 2) + a + C(u.v)", "scale(a) + b + bs(a, df=4) + t:g", "`g[T.v]` + b"]


@pytest.mark.parametrize("terms", TERMS)
def test_columns_are_those_of_formulaic(terms, data):
    from formulaic import model_matrix

    data = data.drop(columns="g[T.v]") if terms.startswith(".") else data
    names = " + ".join(f"`{name}`" for name in data.columns.drop("y"))
    text = re.sub(r"^\.", names, terms).replace("+ u.v", "+ `u.v`")
    text = text.replace("C(u.v)", "C(`u.v`)")
    theirs = model_matrix(text, data).drop(columns="Intercept", errors="ignore")
    design, ours = design_of(f"y ~ {terms}", data)
    assert list(design.names) == list(theirs.columns)
    np.testing.assert_array_equal(ours.values, theirs.astype(float))
    later = design.matrix(data[3:8])
    np.testing.assert_array_equal(later.values, ours.values[3:8])


def test_thousands_of_columns_take_seconds_from_the_formula_to_new_data(tmp_path):
    rng = np.random.default_rng(1)
    names = [f"gene{j}" for j in range(WIDE)]
    data = pd.DataFrame(rng.normal(size=(N, WIDE)), columns=names)
    data["batch"], data["y"] = list("uvw") * (N // 3), np.arange(N) % 2
    begun = time.process_time()
    result = ps.svm("y ~ .", data, lam=1.0).fit(ps.Pegasos(epochs=2, seed=1))
    ps.save(result, tmp_path / "a.model")
    loaded = ps.load(tmp_path / "a.model")
    found = loaded.predict(data[:5])
    assert time.process_time() - begun < SECONDS
    assert found.tolist() == result.predict(data[:5]).tolist()
    assert len(result.params) == WIDE + 1 + 2


@pytest.mark.parametrize(
    ("levels", "terms", "words"),
    [
        (10, "{}*{}*{}*{}*{}*{}*{}*{}", "terms have more than 100,000 columns."),
        (10, "({}+{}+{}+{}+{}+{}+{}+{})**5", "terms have more than 100,000 columns."),
        (2, "{}:{}:{}:{}:{}:{}:{}:{}:{}:{}:{}", "more than 300 products within one"),
        (2, ":".join(["{}"] * 25), "600,000 products of subsets of their factors."),
    ],
)
def test_products_that_are_too_large_are_refused_before_they_are_made(
    levels, terms, words
):
    """Formulaic's time grows as 8 to the power of the factors that are no terms."""
    names = [f"f{i}" for i in range(terms.count("{}"))]
    rows = {name: [f"l{i % levels}" for i in range(N)] for name in names}
    begun = time.process_time()
    with pytest.raises(FormulaError) as caught:
        ps.svm(f"y ~ {terms.format(*names)}", rows | {"y": [0, 1] * (N // 2)}, lam=1.0)
    assert time.process_time() - begun < SECONDS
    message = str(caught.value)
    assert words in message
    assert message.count("cannot be used") == 1


def test_a_factorial_of_ten_factors_has_all_its_products():
    rows = {f"f{i}": ["lh"[(k >> i) % 2] for k in range(1024)] for i in range(10)}
    terms = "*".join(rows)
    model = ps.svm(f"y ~ {terms}", rows | {"y": [0, 1] * 512}, lam=1.0)
    assert len(model.names) == 1023
