"""Arguments and files drawn at random end in one line and an exit code.

An exception that nobody foresaw would be caught by the last guard of `main`, so that
these tests look for its word, "unexpected", in what is said.
"""

from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from pegasos_stats.output.cli import main

CSV = b"y,a,b\nn,1,u\np,2,v\nn,3,u\np,5,v\nn,2.5,v\n"
SVMLIGHT = b"+1 1:0.5 3:2\n-1 2:1\n+1 1:1e-3\n-1 1:2 2:.5 # aside\n"
FILES = ["d.csv", "d.svm", "no.csv", ".", "", "m", "bad\0", "x" * 300, "d.csv/x", "\n"]
NUMBERS = [
    *["1", "0", "-1", "1e5", "1_0", "nan", "inf", "-inf", "1e400", "5e-324", "0x10"],
    *["", " ", "\u0663", "1" * 5000, "9223372036854775807", "2147483648", "½", "1,5"],
]
WORDS = ["y", "a", "none", "all", "balanced", "tab", ";", "y ~ .", "~", "16x16", "\x1b"]
FLAGS = [
    *["--lambda", "--epochs", "--tol", "--seed", "--steps", "--batch-size", "--degree"],
    *["--offset", "--gamma", "--refine", "--average", "--loss", "--coding", "--kernel"],
    *["--weights", "--solver", "--start", "--order", "--arithmetic", "--ties", "--sep"],
    *["--outcome", "--formula", "--test", "--format", "--decimal", "--ro"],
    *["--s", "--no-intercept", "--standardize", "--project", "--json"],
    *["--refit-intercept", "--trace", "--progress", "--unlabelled", "--help"],
    *["--", "-"],
]
CHOICES = [
    *["hinge", "log", "pegasos", "sdca", "linear", "gaussian", "polynomial", "zero"],
    *["sgd", "shuffle", "sequential", "replace", "subset", "reference", "fast"],
    *["first-seen", "positive", "csv", "svmlight"],
]
WORST = "".join(map(chr, (0, 10, 27, 0xD800, 0xDCFF, 0x202E, 0x1F600)))
TEXT = st.text(st.characters() | st.sampled_from(WORST), max_size=8)
VALUES = st.sampled_from([*FILES, *NUMBERS, *WORDS, *CHOICES]) | TEXT
FLAG = st.sampled_from(FLAGS)
GIVEN = st.lists(st.tuples(FLAG) | st.tuples(FLAG, VALUES), max_size=5)
CALLS = ["fit d.csv --outcome y", "fit d.svm", "predict m d.csv"]
CALLS += ["fit", "predict", "demo", "report no.csv", ""]
COMMANDS = st.sampled_from([call.split() for call in CALLS])
# Long runs are what was asked for, and not what is tested here.
LONG = ("--epochs", "--steps", "--tol", "--refine")

pytestmark = [
    pytest.mark.fuzz,
    # Hardly any penalty, and the optimum is not reached: that is what was asked for.
    pytest.mark.filterwarnings("default::pegasos_stats.errors.ConvergenceWarning"),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("fuzz")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(made)
        (made / "d.csv").write_bytes(CSV)
        (made / "d.svm").write_bytes(SVMLIGHT)
        assert main(["fit", "d.csv", "--outcome", "y", "--save", "m"]) == 0
        yield made


def check(*arguments):
    """One line on standard error after a failure, and nothing unforeseen."""
    with redirect_stdout(StringIO()) as printed, redirect_stderr(StringIO()) as said:
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = stop.code
    out, err = printed.getvalue(), said.getvalue()
    lines = [line for line in err.split("\n") if ": warning: " not in line]
    assert "unexpected" not in err, (arguments, err)
    assert code in (0, 2)
    if code == 2:
        assert out == ""
        assert len(lines) == 2, (arguments, err)
        assert lines[0].startswith("pegasos-stats: ")
        assert lines[1] == ""
        assert lines[0].isprintable()
    return code


@given(COMMANDS, GIVEN)
@example(["fit", "d.csv", "--outcome", "y"], [("--seed", "1"), ("--seed", "1")])
@example(["fit", "\0.csv", "--outcome", "y"], [])
@example(["fit", "d.csv", "--outcome", "y"], [("--lambda", "5e-324")])
@example(["fit", "d.csv", "--outcome", "y"], [("--batch-size", "9" * 18)])
def test_arguments(folder, command, given):
    words = [word for pair in given if pair[0] not in LONG for word in pair]
    check(*command, *words)


WRONG = {
    "--seed": ["1e5", "1.5", "", "0x1", "1" * 5000],
    "--lambda": ["nan", "inf", "-1", "0", "1e999", "0x1p3"],
    "--average": ["1.5", "1" * 5000],
    "--outcome": ["\udcff", "\0", "a\nb", "", "\x1b[31m"],
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_values(folder, name):
    given = [] if name == "--outcome" else ["--outcome", "y"]
    for value in WRONG[name]:
        assert check("fit", "d.csv", *given, name, value) == 2


JUNK = [b"\0", b"\xff", b'"', b"\n", b"\r", b",", b";", b":", b"#", b"", b" ", b"1e999"]
JUNK += [b"nan", b"\xef\xbb\xbf", b"\xf0\x9f\x98\x80", b"-", b"1" * 400, b"qid:", b"\\"]
EDIT = st.tuples(st.integers(0, 60), st.integers(0, 4), st.sampled_from(JUNK))
EDITS = st.lists(EDIT, max_size=4)


def edited(content, edits):
    for place, removed, junk in edits:
        content = content[:place] + junk + content[place + removed :]
    return content


@given(EDITS)
def test_csv_files(folder, edits):
    (folder / "e.csv").write_bytes(edited(CSV, edits))
    check("fit", "e.csv", "--outcome", "y")
    check("predict", "m", "e.csv")


@given(EDITS)
def test_svmlight_files(folder, edits):
    (folder / "e.svm").write_bytes(edited(SVMLIGHT, edits))
    check("fit", "e.svm", "--epochs", "2")
    check("fit", "d.svm", "--test", "e.svm", "--format", "svmlight")


@given(st.binary(max_size=80))
def test_files_of_noise(folder, content):
    for name in ("e.csv", "e.svm"):
        (folder / name).write_bytes(content)
    check("fit", "e.csv", "--outcome", "y")
    check("fit", "e.svm", "--format", "svmlight")
    check("predict", "e.csv", "d.csv")
