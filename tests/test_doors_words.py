"""Text that cannot be written, and other limits of what is taken or shown."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.data.foreign import is_valid_text
from pegasos_stats.errors import ColumnError, DataError, LabelError, OptionError
from pegasos_stats.output.report.repeat import call

HALF = "\ud800"  # of a surrogate pair
X = pd.DataFrame({"a": [1.0, 2.0, 3.0, 5.0], "b": [2.0, 1.0, 0.0, -1.0]})
Y = ["n", "p", "p", "n"]


@pytest.mark.parametrize(
    ("text", "valid"),
    [("", True), ("ß☃🙂", True), ("\0", True), (HALF, False), (f"a{HALF}b", False)],
)
def test_half_a_character_is_no_valid_text(text, valid):
    assert is_valid_text(text) is valid


@pytest.mark.parametrize(
    ("door", "kind", "words"),
    [
        (
            lambda: ps.SVM(
                Y, X.set_axis(pd.Index([HALF, "b"], dtype=object), axis=1), lam=1.0
            ),
            ColumnError,
            f"Column {HALF!r} has a name that is not valid text; read the data with "
            "the encoding that they have, or rename it.",
        ),
        (
            lambda: ps.SVM(pd.Series(Y, name=HALF), X, lam=1.0),
            LabelError,
            f"The outcome {HALF!r} has a name that is not valid text; rename it.",
        ),
        (
            lambda: ps.SVM(["n", HALF, HALF, "n"], X, lam=1.0),
            LabelError,
            f"The outcome 'y' holds {HALF!r}, which is not valid text; read the data "
            "with the encoding that they have.",
        ),
        (
            lambda: ps.SVM(Y, [[HALF, 1.0]] * 4, lam=1.0),
            ColumnError,
            f"Column 'x1' is not numeric: it holds {HALF!r} in 4 rows (0, 1, 2, 3); "
            "give numbers, or make it a factor of the model: C(...) in a formula.",
        ),
        (
            lambda: ps.compare_models(
                {HALF: ps.SVM(Y, X, lam=1.0).fit(ps.SDCA(seed=1))}
            ),
            OptionError,
            f"A fit is called {HALF!r}; give it a name as text.",
        ),
        (
            lambda: (
                ps.SVM(Y, X, lam=1.0).fit(ps.SDCA(seed=1)).report("no.md", title=HALF)
            ),
            OptionError,
            f"title={HALF!r} is not allowed; give text.",
        ),
    ],
)
def test_text_that_cannot_be_written_is_refused_at_the_door(door, kind, words):
    with pytest.raises(kind) as caught:
        door()
    assert str(caught.value) == words


def test_a_call_that_is_too_long_has_an_argument_a_line():
    argument = "a" * (88 - len("f(, b=1)"))
    assert call("f", [argument, "b=1"]) == f"f({argument}, b=1)"
    assert call("f", [f"{argument}a", "b=1"]) == f"f(\n    {argument}a,\n    b=1,\n)"
    assert call("f", []) == "f()"


@pytest.mark.parametrize("size", [0.0, 5e-324, 1e-300])
def test_a_kernel_that_is_zero_is_one(size):
    K = np.zeros((4, 4))
    K[0, 0] = size
    result = ps.KernelSVM(Y, K, kernel="precomputed", lam=1.0).fit(
        ps.Pegasos(epochs=1, seed=1)
    )
    assert result.objective >= result.objective - result.gap >= 0.0


@pytest.mark.parametrize("size", [1e-200, 1.0, 1e300])
def test_a_kernel_with_a_value_below_zero_is_none(size):
    swapped = np.array([[0.0, 1.0], [1.0, 0.0]])
    for K in (np.diag([1.0, 1.0, 1.0, -1e-6]), np.kron(np.eye(2), swapped)):
        with pytest.raises(DataError) as caught:
            ps.KernelSVM(Y, size * K, kernel="precomputed", lam=1.0)
        assert str(caught.value) == (
            "The precomputed kernel is not positive semi-definite, so it belongs to no "
            "space of functions; give the values of a kernel."
        )


@pytest.mark.parametrize(
    "door",
    [
        lambda name: ps.Logit(Y, X, weights=name, lam=1.0),
        lambda name: ps.Logit(Y, X, freq_weights=name, lam=1.0),
        lambda name: ps.Logit(Y, X, offset=name, lam=1.0),
        lambda name: ps.Logit(Y, X, lam=1.0).fit(cov_type="cluster", groups=name),
    ],
)
def test_a_long_name_that_is_no_column_is_shortened(door):
    name = "x" * 5000
    with pytest.raises(ColumnError) as caught:
        door(name)
    assert name[:100] in str(caught.value)
    assert len(str(caught.value)) < 400  # one value of at most 120 characters, twice


def test_a_long_path_keeps_its_end():
    with pytest.raises(DataError, match=r"x\.parquet") as caught:
        ps.scan("f" * 5000 + "/x.parquet")
    assert len(str(caught.value)) < 700  # 500 characters of the path
