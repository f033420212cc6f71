"""No exception of others leaves the command line."""

import pickle

import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError
from pegasos_stats.output.cli import main


def raising(error):
    def fails(*args, **options):
        raise error

    return fails


REPORT = "this should not happen, please report it with what PEGASOS_STATS_TRACEBACK=1"
ENOUGH = "The memory is not enough for these data and options"
ENDS = [
    (KeyboardInterrupt(), 130, "interrupted"),
    (MemoryError(), 2, f"{ENOUGH}."),
    (MemoryError("for 8 GB"), 2, f"{ENOUGH}: for 8 GB."),
    (RecursionError("deep"), 2, f"unexpected RecursionError: deep; {REPORT} shows."),
    (ValueError("a\nb"), 2, f"unexpected ValueError: a b; {REPORT} shows."),
]


@pytest.mark.parametrize(("error", "code", "said"), ENDS)
def test_one_line_and_an_exit_code(error, code, said, capsys, monkeypatch):
    monkeypatch.delenv("PEGASOS_STATS_TRACEBACK", raising=False)
    monkeypatch.setattr("pegasos_stats.output.cli.commands._evaluated", raising(error))
    assert main(["demo"]) == code
    assert capsys.readouterr().err == (
        "" if said is None else f"pegasos-stats: {said}\n"
    )


def test_the_traceback_can_be_asked_for(monkeypatch):
    monkeypatch.setenv("PEGASOS_STATS_TRACEBACK", "1")
    monkeypatch.setattr(
        "pegasos_stats.output.cli.commands._evaluated", raising(KeyError("a"))
    )
    with pytest.raises(KeyError):
        main(["demo"])


WRONG = {
    "--seed": ["1e5", "1_0", "\u0663", "", " 1", "0x1", "1" * 19, "1" * 5000, "½"],
    "--lambda": ["1_0", "\u0663", "", " 1", "nan", "inf", "-1", "0", "1e999", "0x1p3"],
    "--epochs": ["0", "-1", "1e2", "nan", "1" * 5000],
    "--average": ["1_0", "\u0663", "", "some", "1" * 5000],
    "--loss": ["", "Hinges"],
    "--s": ["1"],
    "--outcome": ["\udcff", "\0", "a\nb", "", "\x1b[31m"],
    "--rows": ["", "\0", "x" * 300, "/dev/zero"],
}
CASES = [(name, value) for name, values in WRONG.items() for value in values]


@pytest.mark.parametrize(("name", "value"), CASES)
def test_a_wrong_value_is_one_line(name, value, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "d.csv").write_text("y,a\nn,1\np,2\n")
    given = [] if name == "--outcome" else ["--outcome", "y"]
    try:
        code = main(["fit", "d.csv", *given, name, value])
    except SystemExit as stop:
        code = stop.code
    printed = capsys.readouterr()
    assert (code, printed.out) == (2, "")
    assert printed.err.startswith("pegasos-stats: ")
    assert "unexpected" not in printed.err
    assert printed.err.count("\n") == 1
    assert printed.err[:-1].isprintable()
    assert len(printed.err) < 400


def test_an_option_is_given_once(capsys):
    assert main(["demo", "--seed", "1", "--seed", "2"]) == 2
    assert "--seed specified multiple times" in capsys.readouterr().err


def test_an_error_keeps_the_option_that_it_is_about():
    with pytest.raises(OptionError) as caught:
        ps.Pegasos(batch_size=0)
    for error in (caught.value, pickle.loads(pickle.dumps(caught.value))):
        assert (error.option, error.value) == ("batch_size", "0")
        assert str(error) == f"batch_size=0 {error.reason}"
