"""The command line, as a newcomer calls it."""

import json
import pickle
import shlex
from dataclasses import fields, is_dataclass, replace
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.models.summaries import summary_of
from pegasos_stats.output.cli import main
from pegasos_stats.output.cli.options import COMMANDS
from pegasos_stats.tables import params_text
from tests.models.test_groups import hospitals
from tests.output.command_line import params_of, run, strict

pytestmark = pytest.mark.slow


def test_fit_prints_tables_counts_and_errors(files, capsys):
    test = ["--test", files / "test.csv"]
    printed = run(capsys, "fit", files / "train.csv", "--outcome", "digit", *test).out
    data, new = ps.datasets.load_digits56()
    result = ps.svm("digit ~ .", data, lam=1.0).fit(cov_type="none")
    assert "digit: 5 or 6, modelled: 6, 100 of 200" in printed
    assert str(result.confusion(data)) in printed
    assert str(result.confusion(new)) in printed


LISTED = Path(__file__).with_name("refused_calls.txt").read_text("utf-8")
REFUSED = LISTED.splitlines()[1:]


@pytest.mark.parametrize("line", REFUSED)
def test_bad_input_is_one_line_and_exit_code_2(line, files, capsys, monkeypatch):
    call, words = line.split("  ->  ")
    monkeypatch.chdir(files)
    try:
        code = main(shlex.split(call))
    except SystemExit as stop:
        code = stop.code
    out, err = capsys.readouterr()
    assert code == 2
    assert out == ""
    assert words in err
    assert err.count("\n") == 1


def test_packed_csv_row_names_and_svmlight_give_the_same_fit(files, capsys):
    given = "--json --lambda 1 --epochs 2 --seed 1 --cov-type none"
    fits = []
    for name in ("train.csv", "train.csv.gz", "named_rows.csv", "train.svm.bz2"):
        outcome = [] if "svm" in name else ["--outcome", "digit"]
        fits.append(run(capsys, "fit", files / name, *outcome, *given.split()))
    plain, packed, named, sparse = (list(params_of(fit).values()) for fit in fits)
    assert plain == packed == named
    np.testing.assert_allclose(sparse, plain, rtol=1e-10, atol=1e-14)


FAST = {"arithmetic": "fast"}
SOLVERS = {
    "--order sequential --arithmetic fast": {"order": "sequential", **FAST},
    "--order replace --steps 300": {"order": "replace", "steps": 300},
    "--order subset --steps 99 --batch-size 20": {
        "order": "subset",
        "steps": 99,
        "batch_size": 20,
    },
    "--batch-size 7 --project": {"batch_size": 7, "project": True},
    "--average all --refit-intercept": {"average": "all", "refit_intercept": True},
    "--epochs 4 --average 2": {"epochs": 4, "average": 2},
    "--start random --first-step 50": {"start": "random", "first_step": 50},
    "--step 1/sqrt(t) --epochs 2": {"step": "1/sqrt(t)", "epochs": 2},
    "--step 0.25 --epochs 2": {"step": 0.25, "epochs": 2},
    "--change-tol 0.25": {"change_tol": 0.25},
}


def test_log_loss_trace_and_progress(capsys):
    train, test = ps.datasets.load_digits56()
    solver = ps.Pegasos(epochs=3, seed=443)
    model = ps.logit("digit ~ .", train, lam=1.0)
    expected = model.fit(solver, trace=True, test=test).trace
    options = ["--loss", "log", "--epochs", 3, "--trace"]
    found = json.loads(run(capsys, "demo", *options, "--json").out)
    assert found["loss"] == "log"
    trace = pd.DataFrame(found["trace"]).drop(columns="cpu_seconds")
    assert trace.equals(expected.drop(columns="cpu_seconds"))
    printed = run(capsys, "demo", *options, "--progress")
    assert "test_error" in printed.out
    assert "3/3" in printed.err


TRAIN, _ = ps.datasets.load_digits56()
WEIGHTED = TRAIN.assign(w=[1, 2] * 100)
RUN, SHORT = ps.Pegasos(seed=443), ps.Pegasos(epochs=2, seed=443)


def svm(lam=1.0, formula="digit ~ .", data=TRAIN, **options):
    return ps.svm(formula, data, lam=lam, **options)


CUBE = {"kernel": "polynomial", "degree": 3, "offset": 0.0}
CUBIC = ps.kernel_svm("digit ~ .", TRAIN, lam=1.0, **CUBE)
HEAVY = svm(None, "digit ~ . - w", WEIGHTED, weights="w", standardize=True), None
PYTHON = {
    "demo --lambda 20 --tol 0.5": (svm(20.0), replace(RUN, tol=0.5)),
    "demo --no-intercept": (svm(intercept=False), RUN),
    "demo --refine 1e-6": (svm(), RUN),
    "demo --kernel polynomial --degree 3 --offset 0 --epochs 2": (CUBIC, SHORT),
    "fit weighted.csv --formula 'digit ~ . - w' --weights w --standardize": HEAVY,
}
for words, options in SOLVERS.items():
    made = svm(0.1), ps.Pegasos(seed=443, **options)
    PYTHON[f"demo --lambda 0.1 --cov-type none {words}"] = made
for words, solver in {
    "": None,
    "--solver optimum --tol 1e-5": ps.Optimum(tol=1e-5),
    "--epochs 2 --seed 1": ps.Pegasos(2, seed=1),
}.items():
    PYTHON[f"fit train.csv --outcome digit --lambda 1 {words}"] = svm(), solver
words = "fit train.csv --outcome digit --lambda 1 --no-intercept --solver sdca --tol 0"
for option in ("average", "random_stop"):
    made = svm(intercept=False), ps.SDCA(5, tol=0, **{option: 2})
    PYTHON[f"{words} --epochs 5 --{option.replace('_', '-')} 2"] = made
FORMULA = "digit ~ p34 * C(p43)"
words = f"fit train.csv --formula '{FORMULA}' --lambda 1 --epochs 2 --seed 443"
PYTHON[words] = svm(formula=FORMULA), SHORT


@pytest.mark.parametrize("words", PYTHON)
def test_a_fit_is_that_of_python(words, files, capsys, monkeypatch):
    monkeypatch.chdir(files)
    facts = strict(run(capsys, *shlex.split(words), "--json").out)
    (model, solver), refined = PYTHON[words], "--refine" in words
    result = model.fit(solver, **({"refine": 1e-6} if refined else {}))
    for name in ("objective", "n_iter", "seed", "relative_gap"):
        assert facts[name] == getattr(result, name)
    assert facts["solver"] == result.solver_name
    assert facts["intercept"] == result.problem.intercept
    assert facts["refine"] == (1e-6 if refined else None)
    assert facts["label_counts"]["training"] == {"5": 100, "6": 100}
    table = result.confusion().table.to_numpy().tolist()
    assert facts["confusion"]["training"]["table"] == table
    if "kernel" in words:
        assert facts["n_support"] == result.n_support
    else:
        for name in ("params", "params_original"):  # JSON has null for NaN
            expected = getattr(result, name).astype(object)
            assert facts[name] == expected.where(expected.notna(), None).to_dict()


# ---- The command line as a program: help, pipes, interrupts, strict output.


def test_json_is_strict_where_nothing_is_defined(tmp_path, capsys):
    path = tmp_path / "ties.csv"
    path.write_text("y,a\n0,0\n1,0\n")
    options = ["--outcome", "y", "--no-intercept", "--json", "--trace"]
    content = strict(run(capsys, "fit", path, *options).out)
    statistics = content["confusion"]["training"]["statistics"]
    (rate,) = (line for line in statistics if line["term"] == "error_rate")
    assert rate["estimate"] is None
    assert content["confusion"]["training"]["n_undecided"] == 2


def test_help_is_readable(capsys):
    for command in ([], ["fit"]):
        printed = run(capsys, *command, "--help").out
        assert printed.startswith("Usage: pegasos-stats")
        assert max(map(len, printed.splitlines())) <= 80


# ---- What the command line prints, as a whole: of a fit before its tables, and after.

DATA = pd.DataFrame({"y": ["no", "yes"] * 10, "g": list("uvwu") * 5})
DATA = DATA.assign(x=[i % 7 - 3.0 for i in range(20)], w=[1.0, 2.0] * 10)
DATA.loc[3, "x"] = None
PEGASOS = ps.Pegasos(epochs=3, seed=2)

# Options of the command, and the same model in Python.
FITS = {
    "--solver optimum --formula y~g+x --loss log --lambda 0.5 --standardize "
    "--weights w": (
        ps.logit("y ~ g + x", DATA, lam=0.5, standardize=True, weights="w")
    ),
    "--formula y~x --kernel gaussian --gamma 0.5 --lambda 1 --epochs 3": (
        ps.kernel_svm("y ~ x", DATA, kernel="gaussian", gamma=0.5, lam=1.0)
    ),
    "--formula y~x --lambda 1 --epochs 3 --refine 1e-6 --no-intercept": (
        ps.svm("y ~ x", DATA, intercept=False, lam=1.0)
    ),
}


@pytest.mark.parametrize("words", FITS)
def test_a_fit_is_told_by_its_summary_of_one_screen(words, capsys):
    DATA.to_csv("small.csv", index=False)
    solver = ps.Optimum(seed=1) if "optimum" in words else PEGASOS
    refined = {"refine": 1e-6} if "refine" in words else {}
    result = FITS[words].fit(solver, **refined)
    given = ["fit", "small.csv", *words.split(), "--seed", str(solver.seed)]
    assert main(given) == 0
    out, err = capsys.readouterr()
    assert err == ""
    head, table = out.split("\n\nTraining data\n")
    header = summary_of(result, pd.DataFrame()).header
    assert head.split("\n")[1 : len(header) + 1] == header
    assert head.count("\n") < 20
    assert table == f"{result.confusion()}\n"


def test_every_option_of_every_command_is_explained():
    assert {*COMMANDS} >= {"fit", "proof", "report"}
    for kind in COMMANDS.values():
        for each in fields(kind):
            group = type(each.default) if is_dataclass(each.default) else None
            for name in [each.name] if group is None else group.__annotations__:
                told = [group] if group else kind.__mro__[:-1]
                text = "".join(one.__doc__ for one in told)
                assert f"    {name}\n        " in text, name


# ---- The command line says what is seldom meant: one answer for all rows, text, names.

N = 60
NUMBERS = [f"{i / 4}" for i in range(N)]


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def warned(capsys, **columns):
    """Warnings about a model of a few columns."""
    y = np.where(np.arange(N) % 3 == 0, "no", "yes")
    pd.DataFrame({"y": y, **columns}).to_csv("d.csv", index=False)
    given = "fit", "d.csv", "--outcome", "y", "--json"
    return json.loads(run(capsys, *given).out)["warnings"]


def test_missing_values_are_counted_by_column(capsys):
    x = [f"{i}" if i > 2 else "" for i in range(N)]
    pd.DataFrame({"y": ["n", "p"] * 30, "x": x}).to_csv("d.csv", index=False)
    given = "fit", "d.csv", "--outcome", "y", "--solver", "optimum"
    assert f"n {N - 3} (3 dropped)" in run(capsys, *given).out
    assert json.loads(run(capsys, *given, "--json").out)["missing"] == {"x": 3}


def test_names_of_rows_and_words_among_numbers_are_said(capsys):
    names = [f"P{i}" for i in range(N)]
    lines = warned(capsys, name=names, x=[*NUMBERS[:-3], *["<5"] * 3])
    told = "\n".join(lines)
    assert "the column 'name' has 60 levels in 60 rows, like names of rows" in told
    assert "the column 'x' is text, as '<5' (row 57) is not a number: 58 levels" in told
    for meant in (["25-34", "35-44", "45+"] * 20, [*NUMBERS[:-3], "NA", "", "n/a"]):
        assert not any("the column" in line for line in warned(capsys, x=meant))


# ---- Coefficients with standard errors: those of the fit in Python.

# Options of the command; the model, and options of the fit.
FITS_OF_COEFFICIENTS = {
    "": (ps.svm, {}),
    "--loss log --groups hospital": (ps.logit, {"groups": "hospital"}),
    "--loss log --groups hospital --cov-type CR0": (
        ps.logit,
        {"groups": "hospital", "cov_type": "CR0"},
    ),
    "--loss log --groups hospital --cov-type CR1": (
        ps.logit,
        {"groups": "hospital", "cov_type": "CR1"},
    ),
    "--loss squared_hinge": (partial(ps.svm, loss="squared_hinge"), {}),
    "--cov-type none": (ps.svm, {"cov_type": "none"}),
}


@pytest.mark.parametrize("given", FITS_OF_COEFFICIENTS)
def test_they_are_those_of_the_fit(given, capsys):
    data = hospitals()
    data["site"] = np.resize(["north", "south", "west"], len(data))
    data.to_csv("h.csv", index=False)
    make, options = FITS_OF_COEFFICIENTS[given]
    model = make("died ~ age + site", data, lam=0.01)
    result = model.fit(ps.Optimum(seed=1), **options)
    words = f"fit h.csv --formula died~age+site --lambda 0.01 --seed 1 {given}"
    asked = words.split()
    printed = run(capsys, *asked, "--coefficients").out
    cells, *_ = result.coefficient_cells()
    assert "\n".join(params_text(cells)) in printed
    found = strict(run(capsys, *asked, "--coefficients", "--json").out)
    expected = result.coefficient_table()
    for name, values in expected.items():
        shown = [None if value != value else value for value in values]
        assert [row[name] for row in found["coefficients"]] == shown
    assert len(found["coefficient_notes"]) == len(result.notes_on_errors())


# ---- ``compile`` fills the cache: usual fits have nothing to compile after it.

event = pytest.importorskip("numba.core.event")


class Compiled(event.Listener):
    """Names of functions that are compiled, or loaded from the cache."""

    def __init__(self):
        self.names = []

    def on_start(self, event):
        self.names.append(event.data["dispatcher"].py_func.__qualname__)

    def on_end(self, event):
        pass


def test_compile_leaves_nothing_to_compile_for_usual_fits(capsys):
    assert main(["compile"]) == 0
    assert "loops are compiled" in capsys.readouterr().out
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, 5))
    y = np.where(X[:, 0] + rng.normal(size=150) > 0, "yes", "no")
    sparse = csr_array(np.where(X > 0.5, X, 0.0))
    compiled = Compiled()
    event.register("numba:compile", compiled)
    try:
        for kind in (ps.SVM, ps.Logit):
            for rows in (X, sparse):
                model = kind(y, rows, lam=0.02, weights=rng.random(150))
                model.fit(ps.Pegasos(epochs=3, seed=2))
                model.fit().confusion()
            kind(y[:40], rng.normal(size=(40, 90)), lam=0.1).fit()
        ps.KernelSVM(y, X, lam=0.02).fit().confusion()
    finally:
        event.unregister("numba:compile", compiled)
    assert compiled.names == []


# ---- No exception of others leaves the command line.


EVALUATED = "pegasos_stats.output.cli.commands._evaluated"
REPORT = "this should not happen: please report it, with the traceback"
ENOUGH = "There is not enough memory for these data and options."
ENDS = [(KeyboardInterrupt(), 130, "interrupted"), (MemoryError(), 2, ENOUGH)]
ENDS += [
    (
        ValueError("a\nb"),
        2,
        f"unexpected ValueError: a b; {REPORT} that PEGASOS_STATS_TRACEBACK=1 prints.",
    )
]


@pytest.mark.parametrize(("error", "code", "said"), ENDS)
def test_one_line_and_an_exit_code(error, code, said, capsys, monkeypatch):
    monkeypatch.delenv("PEGASOS_STATS_TRACEBACK", raising=False)
    monkeypatch.setattr(EVALUATED, Mock(side_effect=error))
    assert main(["demo"]) == code
    assert capsys.readouterr().err == f"pegasos-stats: {said}\n"


def test_the_traceback_can_be_asked_for(monkeypatch):
    monkeypatch.setenv("PEGASOS_STATS_TRACEBACK", "1")
    monkeypatch.setattr(EVALUATED, Mock(side_effect=KeyError("a")))
    with pytest.raises(KeyError):
        main(["demo"])


def test_an_error_keeps_the_option_that_it_is_about():
    with pytest.raises(OptionError) as caught:
        ps.Pegasos(batch_size=0)
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert (error.option, error.value) == ("batch_size", "0")
        assert str(error) == f"batch_size=0 {error.reason}"
