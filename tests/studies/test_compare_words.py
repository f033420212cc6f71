"""What a study says, every word and column: summary, frames and refusals."""

import numpy as np
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import OptionError

X = np.array([[0.0, 1.0, 3.0, 2.0, 5.0, 4.0, 9.0], [2, -1, 0.5, -2, 1, 0.25, -3]]).T
Y = np.array(["no", "no", "yes", "no", "yes", "yes", "no"])
SOLVERS = {
    "P": ps.Pegasos(epochs=3),
    "S": ps.SDCA(tol=1e-3, gap_tol=0.01),
    "all": ps.SDCA(tol=0, epochs=4),
}
MODEL = ps.SVM(Y, X, lam=0.1234567)
MEASURES = [
    "objective",
    "gap",
    "relative_gap",
    "violations",
    "training_error",
    "cpu_seconds",
]


@pytest.fixture(scope="module")
def study():
    return ps.compare_solvers(MODEL, SOLVERS, runs=3, seed=7, workers=1)


def test_columns_stand_in_their_order(study):
    steps = ["epoch", "steps", *MEASURES]
    assert study.runs.columns.tolist() == ["solver", "run", "seed", *steps]
    head = ["solver", "n_runs", "epochs_min", "epochs_max", "n_reached"]
    both = [f"{name}_{what}" for name in MEASURES for what in ("mean", "sd")]
    assert study.glance().columns.tolist() == head + both
    shares = ["q05", "q25", "q50", "q75", "q95"]
    first = ["solver", "epoch", "measure", "n_runs", "mean", "sd"]
    assert study.tidy().columns.tolist() == first + shares
    assert study.tidy()["measure"].cat.categories.tolist() == MEASURES


def test_the_header_names_the_model_and_the_bounds(study):
    found = study.summary()
    assert found.header == ["Comparison of solvers"]
    assert dict(found.left) == {
        "Outcome:": "y",
        "Loss:": "hinge",
        "lambda:": "0.123457",
        "Intercept:": "free",
        "No. Observations:": "7",
    }
    assert dict(found.right) == {
        "Runs of each:": "3",
        "Seed:": "7",
        "Held-out rows:": "none",
        "Lower bound:": f"{study.lower_bound:.6g}",
        "Least objective:": f"{study.least_objective:.6g}",
    }
    tested = ps.compare_solvers(MODEL, SOLVERS, runs=2, seed=7, test=(Y[:3], X[:3]))
    assert dict(tested.summary().right)["Held-out rows:"] == "3"
    assert "test error %" in tested.summary().params.columns


def cell(mean, sd, digits):
    return f"{mean:.{digits}g} ({sd:.2g})"


def test_cells_are_means_and_deviations_in_percent_and_milliseconds(study):
    cells, last = study.summary().params, study.glance().set_index("solver")
    assert cells.index.tolist() == ["P", "S", "all"]
    for name, line in last.iterrows():
        low, high = line["epochs_min"], line["epochs_max"]
        assert cells.loc[name].to_dict() == {
            "epochs": f"{low}" if low == high else f"{low}-{high}",
            "objective": cell(line["objective_mean"], line["objective_sd"], 5),
            "gap": f"{line['gap_mean']:.3g}",
            "training error %": cell(
                100 * line["training_error_mean"], 100 * line["training_error_sd"], 3
            ),
            "CPU ms": cell(
                1000 * line["cpu_seconds_mean"], 1000 * line["cpu_seconds_sd"], 3
            ),
        }


def test_notes_say_what_the_numbers_are(study):
    low, high = f"{study.lower_bound:.8g}", f"{study.least_objective:.8g}"
    notes = [
        "Means over the runs, each at its last epoch; standard deviations in brackets.",
        f"Certified by duality: the optimum lies between {low} and {high}.",
        "S stops at a relative gap of 0.001 or a gap of 0.01: 3 runs of 3 reached it.",
        "CPU time of the updates alone, in one thread.",
        "Seeds: sample.int(2147483647, 3) after set.seed(7) in R, the same for every "
        "solver.",
    ]
    assert study.summary().notes == notes
    two = ps.compare_solvers(MODEL, {"P": SOLVERS["P"]}, runs=2, seed=7, workers=2)
    assert two.summary().notes[2] == (
        "CPU time of the updates alone, in 2 threads side by side."
    )


def test_a_run_is_of_the_study(study):
    for number in (1, 3):
        solver = study.solver("P", number)
        at = (study.runs["solver"] == "P") & (study.runs["run"] == number)
        assert solver.seed == study.runs.loc[at, "seed"].iloc[0]
    for name, words in (("Q", "'Q'"), (3, "3"), (None, "None")):
        with pytest.raises(OptionError) as caught:
            study.solver(name, 1)
        assert str(caught.value) == (
            f"There is no solver {words}; give one of 'P', 'S', 'all'."
        )
    for run in (0, 4, 1.5):
        with pytest.raises(OptionError) as caught:
            study.solver("P", run)
        assert str(caught.value) == (
            f"There is no run {run}; give a number from 1 to 3."
        )
