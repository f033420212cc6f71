"""What users of other programs type works, or is answered by what to write instead."""

import io
import json
import shlex
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.output.cli import main
from pegasos_stats.output.cli.options import read_words
from tests.output.command_line import refused, run
from tests.processes import in_process
from tests.test_habits import is_answer

TABLE = Path(__file__).parents[1].joinpath("habits_cli.txt").read_text("utf-8")
CALLS = [tuple(line.split("  ->  ")) for line in TABLE.splitlines() if "->" in line]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A CSV file with names of rows, and a fit of it."""
    place = tmp_path_factory.mktemp("habits")
    rng = np.random.default_rng(1)
    age = rng.normal(50, 10, 80).round(2)
    frame = pd.DataFrame({"patient": [f"p{i}" for i in range(80)], "age": age})
    frame["ward"] = rng.choice(["süd", "nord"], 80)
    frame["had"] = np.where(age + rng.normal(0, 10, 80) > 50, "yes", "no")
    frame.to_csv(place / "d.csv", index=False)
    frame.to_csv(place / "semi.csv", index=False, sep=";", decimal=",")
    frame.to_csv(place / "cp1252.csv", index=False, encoding="cp1252")
    frame.to_csv(place / "bare.csv", index=False, header=False)
    frame.mask(frame == frame.iat[3, 1]).to_csv(place / "na.csv", na_rep="?")
    data, model = str(place / "d.csv"), str(place / "m.npz")
    assert main(["fit", data, "-y", "had", "--id", "patient", "--save", model]) == 0
    return place


@pytest.fixture
def here(folder, monkeypatch):
    monkeypatch.chdir(folder)
    return folder


def answer_to(call, capsys):
    """What a call is answered by: "works", or one line on standard error."""
    try:
        code = main(shlex.split(call))
    except SystemExit as end:
        code = end.code
    lines = capsys.readouterr().err.splitlines()
    told = [line for line in lines if ": warning: " not in line]
    assert code in (0, 2), call
    assert code == 0 or len(told) == 1, call
    return told[0] if code else "works"


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_calls_work_or_are_answered(here, capsys):
    found = {(call, instead): answer_to(call, capsys) for call, instead in CALLS}
    assert {each: a for each, a in found.items() if not is_answer(a, each[1])} == {}


def given_on_standard_input(monkeypatch, content):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))


FIT = ["-y", "had", "--id", "patient"]


def printed_of(capsys, *words):
    return run(capsys, *words).out


def test_standard_input_is_a_file_of_rows(here, monkeypatch, capsys):
    expected = printed_of(capsys, "fit", "d.csv", *FIT).splitlines()[1:7]
    given_on_standard_input(monkeypatch, Path("d.csv").read_bytes())
    assert printed_of(capsys, "fit", "-", *FIT).splitlines()[1:7] == expected
    given_on_standard_input(monkeypatch, Path("d.csv").read_bytes())
    predicted = printed_of(capsys, "predict", "m.npz", "-")
    assert predicted == printed_of(capsys, "predict", "m.npz", "d.csv")
    assert main(["fit", "-", "--test", "-", *FIT]) == 2


def test_text_in_other_encodings(here, capsys):
    expected = printed_of(capsys, "fit", "d.csv", *FIT).splitlines()[1:7]
    text = Path("d.csv").read_text("utf-8")
    Path("other.csv").write_text(text, "latin-1")
    assert "UTF-8" in refused(capsys, ["fit", "other.csv", *FIT])
    words = [*FIT, "--encoding", "latin-1", "--save", "other.npz"]
    found = printed_of(capsys, "fit", "other.csv", *words)
    assert found.splitlines()[1:7] == expected
    found = printed_of(capsys, "predict", "other.npz", "other.csv")
    assert found == printed_of(capsys, "predict", "m.npz", "d.csv")
    Path("bom.csv").write_text(text, "utf-8-sig")
    assert printed_of(capsys, "fit", "bom.csv", *FIT).splitlines()[1:7] == expected
    words = ["fit", "d.csv", *FIT, "--encoding", "latin-0"]
    assert "latin-0" in refused(capsys, words)


def test_a_column_names_the_rows(here, capsys):
    without = printed_of(capsys, "fit", "d.csv", "--formula", "had ~ age + ward")
    for model in (["-y", "had"], ["--formula", "had ~ ."]):
        found = printed_of(capsys, "fit", "d.csv", *model, "--id", "patient")
        assert found.splitlines()[:9] == without.splitlines()[:9]
    frame = pd.read_csv(io.StringIO(printed_of(capsys, "predict", "m.npz", "d.csv")))
    assert [*frame.columns] == ["patient", "predicted", "score"]
    assert [*frame["patient"]] == [f"p{i}" for i in range(80)]
    printed_of(capsys, "predict", "m.npz", "d.csv", "-o", "out.csv")
    read_by_block = ["predict", "m.npz", "d.csv", "--memory", "64MiB"]
    assert printed_of(capsys, *read_by_block) == Path("out.csv").read_text("utf-8")
    assert "nobody" in refused(capsys, ["fit", "d.csv", *FIT[:-1], "nobody"])


def test_several_codes_for_missing_values(here, capsys):
    frame = pd.read_csv("d.csv").astype({"age": object})
    frame.loc[[3, 5, 7, 8], "age"] = ["-99", "k.A.", "-k", "-99"]
    frame.to_csv("codes.csv", index=False)
    fit = ["fit", "codes.csv", *FIT, "--json"]
    codes = ["--na-values", "-99", "--na-values", "k.A.", "--na=-k"]
    found = run(capsys, *fit, *codes, "--save", "codes.npz")
    assert json.loads(found.out)["missing"] == {"age": 4}
    assert "--na-values" not in found.err
    assert ps.load("codes.npz").nobs == 76
    predicted = printed_of(capsys, "predict", "codes.npz", "codes.csv")
    assert pd.read_csv(io.StringIO(predicted))["predicted"].isna().sum() == 4


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("intercept=False standardize=True", "--no-intercept --standardize"),
        ("cov_type=HC3 lam=0.1 folds=3", "--cov-type HC3 --lambda 0.1 --cv 3"),
        (
            "refit_intercept=True standardize=False",
            "--refit-intercept --no-standardize",
        ),
    ],
)
def test_an_argument_of_a_message_is_an_option(arguments, words):
    options = [f"--{argument}" for argument in arguments.split()]
    fit = ["fit", "d.csv"]
    assert read_words([*fit, *options]) == read_words([*fit, *words.split()])


@pytest.mark.parametrize("name", ["p.xlsx", "p.ODS", "p.parquet", "p.docx", "p.csv.gz"])
def test_predictions_are_no_workbook(here, capsys, name):
    told = refused(capsys, ["predict", "m.npz", "d.csv", "-o", name])
    assert "ends in .csv" in told
    assert not Path(name).exists()


CALL = """
import sys
from pegasos_stats.output.cli import main
try: main({words})
except SystemExit: pass
print({{"pandas", "scipy", "numba"}} & {{*sys.modules}})
"""


@pytest.mark.parametrize("words", [["--version"], ["fit", "d.csv", "--nosuch"]])
def test_the_version_help_and_refusals_load_no_library(words):
    told = in_process(CALL.format(words=words)).stdout
    assert told.endswith("set()\n")
    assert told.startswith(ps.__version__) == (words == ["--version"])


def test_messages_have_options_and_nothing_of_python(here, capsys):
    Path("three.csv").write_text("y,x\na,1\nb,2\nc,3\n")
    told = refused(capsys, ["fit", "three.csv", "-y", "y"])
    assert "3 levels" in told
    assert not any(word in told for word in ("np.", "sklearn", "ps."))
    told = refused(capsys, ["fit", "d.csv", *FIT, "--penalty", "firth"])
    assert "--penalty=firth" in told
    assert told.endswith("use --loss log.\n")


def test_a_wrong_outcome_is_answered_with_the_columns(here, capsys):
    Path("two.csv").write_text("y,age\na,1\nb,2\n")
    told = refused(capsys, ["fit", "two.csv", "-y", "dead"])
    assert told.endswith("not a column of two.csv: its header has 'y', 'age'.\n")
