"""Reports and figures of fits whose offset was numbers: test rows bring theirs."""

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import pegasos_stats as ps
from pegasos_stats.errors import OptionError

SOLVER = ps.SDCA(seed=1)


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=["x", "z"])
    noise = rng.normal(size=90)
    data["y"] = np.where(data["x"] + 2 * data["z"] + noise > 0.8, "yes", "no")
    return data[:60], data[60:]


@pytest.fixture(scope="module")
def fits(rows):
    train, _ = rows
    return [
        ps.logit("y ~ x", train, lam=0.01, offset=offset).fit(SOLVER)
        for offset in (train["z"].to_numpy(), "z")
    ]


def test_the_report_is_that_of_a_column(rows, fits, tmp_path):
    _, test = rows
    by_number, by_name = fits
    found = by_number.report(test, offset=test["z"]).to_markdown()
    expected = by_name.report(test).to_markdown()
    errors = [
        [line for line in text.splitlines() if line.startswith("| Error")]
        for text in (found, expected)
    ]
    assert errors[0] == errors[1] != []
    made = ps.report(by_number, test, tmp_path / "a.md", offset="z")
    assert made.path == tmp_path / "a.md"


def test_figures_take_the_offset_of_new_rows(rows, fits):
    _, test = rows
    for name in ("roc", "margins", "confusion"):
        texts = []
        for fit, offset in zip(fits, (test["z"], None), strict=True):
            ax = getattr(fit.plot, name)(test, offset=offset, ax=Figure().subplots())
            texts.append([text.get_text() for text in ax.findobj(match=has_text)])
        assert texts[0] == texts[1] != []


def has_text(artist):
    return hasattr(artist, "get_text")


@pytest.mark.parametrize(
    "call",
    [
        lambda fit, test: fit.report(offset=test["z"]),
        lambda fit, test: fit.report(test),
        lambda fit, test: fit.plot.confusion(offset=test["z"]),
        lambda fit, test: fit.model.fit(ps.Pegasos(1), trace=True, test=test),
        lambda fit, test: ps.compare_solvers(
            fit.model, {"a": SOLVER}, runs=1, test=test
        ),
    ],
)
def test_an_offset_is_given_with_its_rows(rows, fits, call):
    with pytest.raises(OptionError, match="offset="):
        call(fits[0], rows[1])
