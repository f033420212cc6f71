"""The lines of a report run: Python and R find the same fit again."""

import contextlib
import io
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import pegasos_stats as ps
from pegasos_stats.output.report.origin import checked_source
from pegasos_stats.output.report.r_data import r_number, r_reads_exactly
from pegasos_stats.output.report.r_lines import r_lines
from pegasos_stats.output.report.repeating import python_lines
from pegasos_stats.output.report.subject import Subject, training_rows

REFERENCE = Path(__file__).parents[2] / "r_reference"
P = ps.Pegasos

# What R prints in hexadecimal, to be compared with the fit.
PRINTED = {
    "loop": "c(alpha, beta)",
    "reference": "c(if (is.null(fit$alpha)) 0 else fit$alpha, "
    "if (is.null(fit$beta)) fit$counts else fit$beta)",
    "check": "unlist(found)",
}


@pytest.fixture(scope="module")
def train():
    return ps.datasets.load_digits56()[0]


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, train):
    """A working folder with the data and the R reference in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r_reference").symlink_to(REFERENCE)
    train.to_csv("train.csv")
    words = train.assign(digit=train["digit"].map({5: "T", 6: "six"}))
    words = words.assign(group=["u", "v"] * 100, third=np.arange(200) / 3)
    words.to_csv("words.csv", index=False)


def subject_of(result, source):
    origin = checked_source(source, result, False)
    return Subject(result, training_rows(result), None, origin)


def again(subject, names):
    """Run the lines of Python; return their variables."""
    variables = dict(names)
    with contextlib.redirect_stdout(io.StringIO()):
        exec(python_lines(subject), variables)
    return variables


def in_r(subject, variables):
    """Run the lines of R, after those of Python that go before them."""
    lines = r_lines(subject)
    exec(lines.python, variables)
    printing = f'writeLines(c("HERE", sprintf("%a", {PRINTED[lines.kind]})))'
    done = subprocess.run(
        ["Rscript", "--vanilla", "-"],
        input=f"{lines.r}\n{printing}\n",
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    numbers = done.stdout.split("HERE\n")[1].split()
    return lines, np.array([float.fromhex(number) for number in numbers])


def numbers_of(result):
    if isinstance(result, ps.KernelResults):
        return np.r_[result.intercept, result.counts]
    return np.r_[result.intercept, result.coef]


BITS, DIGITS = 0.0, 1e-12  # hinge; log loss, whose exp() is that of the C library

FROM_FILE = {
    "plain": (ps.svm, {}, P(epochs=2, seed=443), BITS),
    "log": (ps.logit, {"lam": 1 / 3, "weights": {5: 1, 6: 3}}, P(epochs=2), DIGITS),
    "no intercept": (ps.svm, {"intercept": False}, P.homework(2), BITS),
    "drawn, rounding": (
        ps.svm,
        {"coding": (6, 5)},
        P(order="replace", steps=300, seed=3, sample_kind="rounding"),
        BITS,
    ),
    "all options": (
        ps.svm,
        {"lam": 0.1},
        P(2, 3, batch_size=7, project=True, average=1, refit_intercept=True),
        BITS,
    ),
    "random start, later steps": (
        ps.svm,
        {"lam": 0.5},
        P(2, seed=3, start="random", first_step=5),
        BITS,
    ),
    "steps by root": (
        ps.logit,
        {"lam": 0.5},
        P(2, seed=3, step="1/sqrt(t)", average="all"),
        DIGITS,
    ),
    "size for each step": (
        ps.svm,
        {},
        P(order=[3, 1, 150], step=[0.5, 0.1, 1 / 3]),
        BITS,
    ),
    "until the gap": (ps.svm, {"lam": 20.0}, P(seed=4, tol=0.5), BITS),
    "until little changes": (
        ps.svm,
        {"lam": 20.0},
        P(order=[[0, 199, 5], [7, 180, 2]], epochs=50, change_tol=0.1),
        BITS,
    ),
    "drawn until": (
        ps.svm,
        {"lam": 20.0},
        P(order="replace", steps=900, tol=0.5, seed=2, start="random"),
        BITS,
    ),
    "given rows": (ps.svm, {}, P(order=[3, 1, 150], epochs=2), BITS),
    "SDCA": (
        ps.svm,
        {"intercept": False},
        ps.SDCA(epochs=2, tol=0.0, seed=1, algorithm="perm"),
        BITS,
    ),
}


@pytest.mark.r
@pytest.mark.parametrize("name", FROM_FILE)
def test_r_reads_the_file_and_finds_the_same(name, train):
    function, options, solver, tolerance = FROM_FILE[name]
    result = function("digit ~ .", train, **options).fit(solver)
    subject = subject_of(result, "train.csv")
    variables = again(subject, {})
    assert variables["result"].params.equals(result.params)
    lines, found = in_r(subject, variables)
    assert "write" not in lines.python
    assert "train.csv" in lines.r
    np.testing.assert_allclose(found, numbers_of(result), rtol=tolerance, atol=0.0)


HEADERS = {"twice": "a,a,b,y", "thrice": "a,a,a.1,y", "without": "a,,b,y"}


@pytest.mark.r
@pytest.mark.parametrize("name", HEADERS)
def test_r_takes_the_names_of_pandas_where_the_header_has_none_of_its_own(name):
    rows = [f"{i % 7},{i % 5},{i / 4},{i % 2}" for i in range(40)]
    Path("odd.csv").write_text("\n".join([HEADERS[name], *rows]))
    result = ps.svm("y ~ .", read("odd.csv"), lam=1.0).fit(P(epochs=3, seed=443))
    lines, found = in_r(subject_of(result, "odd.csv"), {"result": result})
    assert "names(train) <- c(" in lines.r
    assert found.tolist() == numbers_of(result).tolist()


FROM_PYTHON = {
    "factors": lambda: ps.svm(
        "digit ~ group * p34 + third", read("words.csv"), lam=1.0
    ).fit(P(epochs=2, seed=1)),
    "an expression": lambda: ps.svm(
        "p34 > 5 ~ p35 + p36", read("words.csv"), lam=1.0
    ).fit(P(epochs=2, seed=1)),
    "standardized": lambda: ps.svm(
        "digit ~ p34 + third",
        read("words.csv"),
        standardize=True,
        weights="balanced",
        lam=1.0,
    ).fit(P(epochs=2, seed=1)),
    "kernel": lambda: ps.kernel_svm(
        "digit ~ p34 + p43 + third", read("words.csv"), kernel="polynomial", lam=1.0
    ).fit(P(epochs=2, seed=1)),
    "kernel, weights": lambda: ps.kernel_svm(
        "digit ~ p34 + third",
        read("words.csv"),
        standardize=True,
        weights={"T": 3.0, "six": 1.0},
        lam=0.01,
    ).fit(P(epochs=2, seed=1)),
}


def read(name):
    import pandas as pd

    return pd.read_csv(name)


@pytest.mark.r
@pytest.mark.parametrize("name", FROM_PYTHON)
def test_python_writes_the_numbers_and_r_finds_the_same(name):
    result = FROM_PYTHON[name]()
    subject = subject_of(result, "words.csv")
    variables = again(subject, {})
    assert (numbers_of(variables["result"]) == numbers_of(result)).all()
    lines, found = in_r(subject, variables)
    assert "matrix.csv" in lines.python
    assert (found == numbers_of(result)).all()


@pytest.mark.r
def test_sparse_rows_and_weights_of_a_session(train):
    y, X = train["digit"], sp.csr_array(train.drop(columns="digit") / 7.0)
    weights = np.arange(200) + 1.0
    result = ps.SVM(y, X, weights=weights, lam=1.0).fit(P(epochs=2, seed=1))
    subject = subject_of(result, None)
    variables = again(subject, {"y": y, "X": X, "weights": weights})
    _, found = in_r(subject, variables)
    assert (found == numbers_of(result)).all()


KERNEL_CHECKS = {
    "gaussian": (
        {"weights": {5: 1.0, 6: 3.0}, "gamma": 0.01, "lam": 0.01},
        ps.SDCA(seed=1),
        {},
    ),
    "polynomial": (
        {"kernel": "polynomial", "degree": 2, "intercept": False, "lam": 1e6},
        P(epochs=2, seed=1),
        {"refine": 1e-4},
    ),
}


@pytest.mark.r
@pytest.mark.parametrize("name", KERNEL_CHECKS)
def test_r_checks_the_certificate_of_a_kernel_fit_at_its_optimum(train, name):
    options, solver, more = KERNEL_CHECKS[name]
    result = ps.kernel_svm("digit ~ .", train, **options).fit(solver, **more)
    subject = subject_of(result, "train.csv")
    lines, found = in_r(subject, again(subject, {}))
    assert lines.kind == "check"
    wanted = [result.objective, result.dual_objective, result.gap]
    # Another order of sums, and the bound of rounding in our gap: 5e-11 of 1 here.
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-10)


@pytest.mark.r
def test_r_reads_a_long_start_and_sizes_from_files(train):
    model = ps.svm("digit ~ .", train, lam=0.5)
    first = model.fit(P(2, seed=1))
    sizes = 0.1 / np.sqrt(np.arange(1, 401))
    result = model.fit(P(2, seed=3, start=first, step=sizes))
    subject = subject_of(result, "train.csv")
    given = {"start": result.solver.start, "step": sizes}
    variables = again(subject, given)
    assert variables["result"].params.equals(result.params)
    lines, found = in_r(subject, variables)
    assert 'start = read.csv("start.csv")$start' in lines.r.replace("\n ", "")
    assert (found == numbers_of(result)).all()


@pytest.mark.r
def test_r_checks_the_certificate_of_what_it_cannot_repeat(train):
    result = ps.svm("digit ~ .", train, lam=1.0).fit(P(epochs=2, seed=1), refine=1e-4)
    subject = subject_of(result, "train.csv")
    lines, found = in_r(subject, again(subject, {}))
    assert lines.kind == "check"
    wanted = [result.objective, result.dual_objective, result.gap]
    # Other order of sums; and ours has a bound of the rounding in its gap, 1e-15 here.
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-14)


@pytest.mark.r
def test_r_reads_exactly_what_is_said_to_be(tmp_path):
    rng = np.random.default_rng(1)
    values = rng.normal(size=20_000) * 10.0 ** rng.integers(-8, 8, 20_000)
    forms = ["%.17g", "%.6f", "%.10f", "%.3e", "%.15g", "%.20f"]
    texts = [forms[i % len(forms)] % value for i, value in enumerate(values)]
    (tmp_path / "texts.txt").write_text("\n".join(texts) + "\n")
    code = 'writeLines(sprintf("%a", scan("texts.txt", quiet = TRUE)))'
    command = ["Rscript", "--vanilla", "-e", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    read_by_r = [float.fromhex(line) for line in done.stdout.split()]
    right = np.array([x == float(t) for x, t in zip(read_by_r, texts, strict=True)])
    said = np.array([r_reads_exactly(text) for text in texts])
    assert right[said].all()
    assert said.mean() > 0.7  # 20 decimals, a sixth of them, are too many to tell
    assert not right.all()  # R does round some of them another way


def test_numbers_that_r_would_round_are_hexadecimal():
    values = np.random.default_rng(0).normal(size=20_000)
    written = [r_number(value) for value in values]
    hexadecimal = [float.fromhex(t) for t in written if "0x" in t]
    assert 0 < len(hexadecimal) < 100  # about one in 4,000
    assert set(hexadecimal) <= set(values)


def test_no_line_of_r_ends_within_an_argument(train):
    result = ps.svm("digit ~ .", train, lam=1.0).fit(ps.SDCA(seed=1))
    lines = r_lines(subject_of(result, "train.csv")).r.split("\n")
    assert any("intercept = TRUE" in line for line in lines)
    assert not any(
        line.endswith(" =") or "\N{NO-BREAK SPACE}" in line for line in lines
    )


def test_the_lines_name_what_they_stand_on(train):
    result = ps.svm("digit ~ .", train, lam=1.0).fit(P(epochs=1, seed=1))
    assert "# train is the data of this report" in python_lines(
        subject_of(result, None)
    )
    arrays = ps.SVM(train["digit"], train[["p34"]], lam=1.0).fit(P(epochs=1, seed=1))
    assert "# y and X are the data" in python_lines(subject_of(arrays, None))
    assert re.search(
        r"model = ps\.SVM\(y, X, lam=1\.0\)", python_lines(subject_of(arrays, None))
    )


@pytest.mark.parametrize("name", FROM_PYTHON)
def test_what_r_reads_python_has_written(name, tmp_path):
    lines = r_lines(subject_of(FROM_PYTHON[name](), "words.csv"))
    read_by_r = set(re.findall(r'read\.csv\("(.*?)"', lines.r))
    assert "matrix.csv" in read_by_r
    result = FROM_PYTHON[name]()
    exec(lines.python, {"result": result})
    assert all((tmp_path / file).exists() for file in read_by_r)
    matrix = read("matrix.csv").map(float.fromhex)
    assert matrix.pop("(y)").tolist() == result.problem.y.tolist()
    assert ("(w)" in matrix) == (result.problem.weights is not None)
    if "(w)" in matrix:
        assert matrix.pop("(w)").tolist() == result.problem.weights.tolist()
    assert (matrix.to_numpy() == result.problem.X).all()
