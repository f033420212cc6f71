"""No exception of others leaves the command line."""

import pytest

from pegasos_stats.cli import main


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
    monkeypatch.setattr("pegasos_stats.cli.commands._fit_rows", raising(error))
    assert main(["demo"]) == code
    assert capsys.readouterr().err == (
        "" if said is None else f"pegasos-stats: {said}\n"
    )


def test_the_traceback_can_be_asked_for(monkeypatch):
    monkeypatch.setenv("PEGASOS_STATS_TRACEBACK", "1")
    monkeypatch.setattr("pegasos_stats.cli.commands._fit_rows", raising(KeyError("a")))
    with pytest.raises(KeyError):
        main(["demo"])
