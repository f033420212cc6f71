"""Where two runs part."""

import numpy as np
import pytest
from scipy.sparse import csr_array

import pegasos_stats as ps
from pegasos_stats.errors import DataError, OptionError

P = ps.Pegasos


@pytest.fixture(scope="module")
def digits():
    return ps.datasets.load_digits56()[0]


@pytest.fixture(scope="module")
def model(digits):
    return ps.svm("digit ~ .", digits, lam=1.0)


@pytest.mark.parametrize(
    ("first", "second", "step", "words"),
    [
        (P(seed=1), P(seed=2), 1, "the rows differ, 67 and 84"),
        (P(seed=1), P.minibatch(seed=1), 1, "1 row and 100 rows"),
        (P(seed=1), P(seed=1, epochs=21), 4001, "first run ends after 4,000 steps"),
        (P(seed=1, project=True), P(seed=1), 1, "projection shortened"),
        (P(seed=1, sample_kind="rounding"), P(seed=1), 1, "by rounding"),
        (P(seed=1, average="all"), P(seed=1), 4001, "what is returned differs"),
        (P(seed=1, refit_intercept=True), P(seed=1), 4001, "refit_intercept=True"),
        (P.paper(400, seed=443), P.r_script(seed=443), 2, "the rows differ"),
    ],
)
def test_the_first_step_and_the_reason(model, first, second, step, words):
    found = ps.first_difference(model.fit(first), model.fit(second))
    assert found.step == step
    assert words in str(found)


def test_the_reason_may_lie_in_the_model(digits, model):
    run = model.fit(P(seed=1))
    others = {
        "lambda differs (1.0 and 2.0)": ps.svm("digit ~ .", digits, lam=2.0),
        "the losses differ": ps.logit("digit ~ .", digits, lam=1.0),
        "the intercept is free in one run only": ps.svm(
            "digit ~ . - 1", digits, lam=1.0
        ),
        "the labels are coded differently": ps.svm(
            "digit ~ .", digits, coding=(6, 5), lam=1.0
        ),
        "the predictors differ": ps.svm(
            "digit ~ .", digits + (digits > 6) * 0, lam=1.0
        ),
    }
    shifted = digits.copy()
    shifted.loc[:, "p34"] += 1
    others["the predictors differ"] = ps.svm("digit ~ .", shifted, lam=1.0)
    for words, other in others.items():
        found = ps.first_difference(run, other.fit(P(seed=1)))
        assert found.step == 1
        assert words in found.reason


@pytest.mark.parametrize(("n", "p"), [(399, 5), (400, 4)])
def test_runs_on_other_rows_or_columns_are_refused(n, p):
    X = np.random.default_rng(3).normal(size=(400, 5))
    runs = [
        ps.SVM(np.arange(len(part)) % 2, part, lam=1.0).fit(P(epochs=1, seed=1))
        for part in (X, X[:n, :p])
    ]
    with pytest.raises(DataError) as caught:
        ps.first_difference(*runs)
    assert str(caught.value) == (
        f"The runs have (400, 5) and ({n}, {p}) rows and columns; give two fits on the "
        "same data."
    )


def test_the_same_run_has_no_difference(model):
    run = model.fit(P(seed=1, epochs=3))
    rng = ps.RRandom(1)
    rows = np.array([rng.permutation(200) for _ in range(3)])
    assert ps.first_difference(run, model.fit(P(seed=1, epochs=3))) is None
    assert ps.first_difference(run, model.fit(P(order=rows))) is None


def test_a_late_difference_is_found_at_its_step(model):
    rows = np.random.default_rng(0).permutation(200)
    other = rows.copy()
    other[[150, 160]] = other[[160, 150]]
    found = ps.first_difference(model.fit(P(order=rows)), model.fit(P(order=other)))
    assert found.step == 151
    assert (found.rows_a[0], found.rows_b[0]) == (rows[150], rows[160])


def test_other_data_or_other_things_are_refused(digits, model):
    run = model.fit(P(seed=1))
    fewer = ps.svm("digit ~ .", digits.iloc[1:], lam=1.0).fit(P(seed=1))
    with pytest.raises(DataError, match=r"\(200, 64\) and \(199, 64\)"):
        ps.first_difference(run, fewer)
    with pytest.raises(OptionError, match="results of two"):
        ps.first_difference(run, model)


def test_epochs_are_no_boundaries(model):
    rng = ps.RRandom(3)
    rows = np.concatenate([rng.permutation(200) for _ in range(2)])
    drawn = model.fit(P(epochs=2, seed=3))
    assert ps.first_difference(drawn, model.fit(P(order=rows))) is None
    assert ps.first_difference(drawn, model.fit(P(order=rows.reshape(8, 50)))) is None
    draws = ps.RRandom(3).sample_int(200, 500, replace=True) - 1
    paper = model.fit(P.paper(500, seed=3))
    assert ps.first_difference(paper, model.fit(P(order=draws))) is None


def test_the_reason_is_what_acted(digits, model):
    run = model.fit(P(seed=1))
    X, y = digits.drop(columns="digit"), digits["digit"]
    shifted = X.assign(p34=X["p34"] + 1.0)
    cases = {
        "the predictors differ": (
            ps.SVM(y, shifted, lam=1.0),
            P(seed=1, arithmetic="fast"),
        ),
        "labels are coded": (
            ps.SVM(y, X, coding=(6, 5), lam=1.0),
            P(seed=1, project=True),
        ),
        "sparse float64": (
            ps.SVM(y.to_numpy(), csr_array(X.to_numpy()), lam=1.0),
            P(seed=1),
        ),
    }
    for words, (other, solver) in cases.items():
        assert words in ps.first_difference(run, other.fit(solver)).reason


def test_a_projection_that_never_binds_is_no_reason(digits):
    X, y = digits.drop(columns="digit") * 0.001, digits["digit"]
    run = ps.SVM(y, X, lam=1.0).fit(P(seed=3, project=True))
    other = ps.SVM(y, X + 1e-9 * (X > 0), lam=1.0).fit(P(seed=3))
    assert "predictors differ" in ps.first_difference(run, other).reason
    assert ps.first_difference(run, ps.SVM(y, X, lam=1.0).fit(P(seed=3))) is None


def test_weights_and_refinement_are_named():
    train, _ = ps.datasets.load_digits56()
    solver = ps.Pegasos(2, seed=1)
    plain = ps.svm("digit ~ .", train, lam=1.0).fit(solver)
    weighted = ps.svm("digit ~ .", train, weights={5: 1, 6: 2}, lam=1.0).fit(solver)
    found = ps.first_difference(plain, weighted)
    assert found.step == 1
    assert "weights" in found.reason
    refined = ps.svm("digit ~ .", train, lam=1.0).fit(solver, refine=1e-3)
    found = ps.first_difference(plain, refined)
    assert found.step == 401
    assert "refine=0.001" in found.reason
