"""An outcome of three levels and more: the error shows lines to write, and they run."""

import re
import shlex

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import LabelError
from pegasos_stats.output.cli import main
from pegasos_stats.sklearn import KernelSVMClassifier, SVMClassifier


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    names = ["a b", 'c"d', "e'f"]
    frame = pd.DataFrame({"kind": np.repeat(names, 10), "x": rng.normal(size=30)})
    frame["blood type"] = frame["Some.Name"] = np.repeat(list("uvw"), 10)
    frame["k"] = np.tile([3, 1, 2], 10)
    frame["m"] = rng.normal(size=30)
    return frame


def said(call):
    with pytest.raises(LabelError) as caught:
        call()
    return str(caught.value)


def line(pattern, text):
    return re.search(pattern, text).group(1)


@pytest.mark.parametrize(
    ("formula", "outcome"),
    [
        ("kind ~ x + k", 'I(kind == "a b")'),
        ("k ~ x", "I(k == 1)"),
        ("C(k) ~ x", "I(C(k) == 1)"),
        ("`blood type` ~ x", 'I(`blood type` == "u")'),
        ("Some.Name ~ x", 'I(Some.Name == "u")'),
    ],
)
@pytest.mark.parametrize("make", [ps.svm, ps.logit, ps.kernel_svm])
def test_lines_of_formulas_run(data, make, formula, outcome):
    text = said(lambda: make(formula, data))
    asked = line(r"or one against the others: '(.*?)'\.$", text)
    assert asked == f"{outcome} ~ {formula.partition('~')[2].strip()}"
    one = make(asked, data)
    assert one.coding.levels == (False, True)
    assert (one.problem.y > 0.0).sum() == 10


@pytest.mark.parametrize("form", [pd.Series, np.asarray, pd.Categorical, list])
@pytest.mark.parametrize("make", [ps.SVM, ps.Logit, ps.KernelSVM])
def test_lines_of_arrays_run(data, make, form):
    y, X = form(data["k"]), data[["x", "m"]]
    text = said(lambda: make(y, X))
    assert text.startswith("The outcome 'k' has 3" if form is pd.Series else "The out")
    compared = eval(line(r"as by (.*?) for y;", text), {"np": np, "y": y})
    assert (make(compared, X).problem.y > 0.0).sum() == 10


@pytest.mark.parametrize("kind", [SVMClassifier, KernelSVMClassifier])
def test_classifiers_name_the_levels_and_the_line(data, kind):
    text = said(lambda: kind().fit(data[["x"]], data["k"]))
    assert "1, 2, 3" in text
    assert f"OneVsRestClassifier({kind.__name__}())" in text


def test_many_numbers_are_compared(data):
    text = said(lambda: ps.svm("m ~ x", data, lam=1.0))
    asked = line(r"against the others: '(.*)'\.$", text)
    assert sorted(ps.svm(asked, data, lam=1.0).problem.y) == [-1.0] * 15 + [1.0] * 15
    text = said(lambda: ps.SVM(data["m"], data[["x"]], lam=1.0))
    names = {"np": np, "y": data["m"].tolist()}
    compared = eval(line(r"as by (.*?) for y;", text), names)
    assert compared.sum() == 15


def test_the_line_runs_on_the_command_line(data, tmp_path, capsys):
    path = str(tmp_path / "d.csv")
    data[["kind", "x", "k"]].to_csv(path, index=False)
    assert main(["fit", path, "--outcome", "k"]) == 2
    text = capsys.readouterr().err.strip()
    (formula,) = shlex.split(text.partition("others: ")[2].rstrip("."))
    assert main(["fit", path, "--formula", formula]) == 0


LONG = {
    "digits": [-(10**300), 1, 2],
    "digits that Python does not write": [-(10**5000), 1, 2],
    "text": ["a" * 3000, "b", "c"],
}


@pytest.mark.parametrize("y", LONG.values(), ids=LONG)
def test_levels_too_long_to_be_repeated_are_in_no_line(y):
    frame = pd.DataFrame({"y": pd.Series(y, dtype=object), "x": [1.0, 2.0, 3.0]})
    for call in (
        lambda: ps.SVM(y, np.eye(3), lam=1.0),
        lambda: ps.svm("y ~ x", frame, lam=1.0),
    ):
        with pytest.raises(LabelError) as info:
            call()
        assert len(str(info.value)) <= 400


@pytest.mark.parametrize(
    ("levels", "named"),
    [
        (["Clinton", "Clinton ", "Dole"], "'Clinton', 'Clinton '"),
        (["no", " yes", "Yes"], "' yes', 'Yes'"),
        (["no", "yes", "maybe"], None),
    ],
)
def test_levels_that_differ_by_blanks_or_capitals_are_named(levels, named):
    data = pd.DataFrame({"y": levels * 2, "x": range(6)})
    with pytest.raises(LabelError) as raised:
        ps.svm("y ~ x", data, lam=1.0)
    told = f"{named} are the same but for blanks or capitals: write them alike."
    assert (told in str(raised.value)) == (named is not None)
    assert ("one against the others" in str(raised.value)) == (named is None)
