"""Proofs: what the checker accepts is true in exact arithmetic."""

import csv
import hashlib
import json
import random
import subprocess
import sys
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.output.cli.program import main
from pegasos_stats.proofs import check_proof
from pegasos_stats.proofs.proof import write

CHECKER = Path(check_proof.__file__)
MUTANTS = 500  # of each proof
ENDLESS = Decimal("1e-45")


def simulated(n, p, seed=0):
    """Rows on very different scales, with weights of which some are 0, and offsets."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, p)) * 10.0 ** rng.integers(-3, 4, p)
    score = (X / X.std(axis=0)).sum(axis=1) / np.sqrt(p)
    data = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
    data["w"], data["o"] = rng.integers(0, 4, n) / 3.0, rng.standard_normal(n)
    return data.assign(y=np.where(score + rng.logistic(size=n) > 0.3, "b", "a"))


PYTHON = [sys.executable, "-I", "-S", CHECKER]  # which cannot import the package
R = ["Rscript", "--vanilla", CHECKER.with_suffix(".R")]


def status(path, program=PYTHON):
    """Exit status of a checker."""
    done = subprocess.run([*program, path], capture_output=True, check=False)
    return done.returncode


OPTIONS = {
    "plain": {},
    "intercept": {"intercept": False},
    "standardize": {"standardize": True},
    "weights and offset": {"weights": "w", "offset": "o"},
}


@pytest.mark.slow
@pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)
@pytest.mark.parametrize("loss", ["log", "hinge", "squared_hinge", "likelihood"])
def test_the_checker_accepts_the_proof_of_a_fit(loss, options, tmp_path):
    data, formula = simulated(150, 4), "y ~ x0 + x1 + x2 + x3"
    lam = 0.0 if loss == "likelihood" else 0.05
    kind = {} if loss in ("log", "likelihood") else {"loss": loss}
    build = ps.svm if kind else ps.logit
    result = build(formula, data, lam=lam, **kind, **options).fit()
    path = tmp_path / "fit.proof.json"
    result.write_proof(path)
    upper, lower, gap = check_proof.check(path)
    assert 0 <= upper - lower <= gap
    # The polished dual weights bound the distance at least as well as the fit's own.
    assert upper - lower <= Fraction(result.gap) + Fraction(1e-15)
    assert float(upper) == pytest.approx(result.objective, rel=1e-14)
    assert status(path) == 0
    proof = json.loads(path.read_text())
    proof["gap"] = float(upper - lower) * 0.99
    path.write_text(json.dumps(proof))
    assert status(path) == 1


@pytest.mark.r
@pytest.mark.parametrize(
    ("loss", "lam", "options"),
    [
        ("log", 0.0, {"weights": "w", "offset": "o"}),
        ("log", 0.05, {}),
        ("hinge", 0.05, {"weights": "w", "offset": "o"}),
        ("squared_hinge", 0.05, {"intercept": False}),
    ],
)
def test_both_checkers_accept_a_proof(loss, lam, options, tmp_path):
    data, path = simulated(60, 4), tmp_path / "fit.json"
    kind = {} if loss == "log" else {"loss": loss}
    build = ps.Logit if loss == "log" else ps.SVM
    rows = {k: data[v] if isinstance(v, str) else v for k, v in options.items()}
    X = (data.filter(like="x") > 0.0).astype(float)  # whose equations need pivots
    build(data["y"], X, lam=lam, **kind, **rows).fit().write_proof(path)
    assert status(path, R) == status(path) == 0


@pytest.mark.r
def test_both_checkers_refuse_forged_proofs(tmp_path):
    data, path = simulated(20, 2), tmp_path / "fit.json"
    X = data[["x0", "x1"]].set_axis(['a "b",\u00e9', "x1"], axis=1)
    ps.Logit(data["y"], X, lam=0.05, offset=data["o"]).fit().write_proof(path)
    assert status(path, R) == status(path) == 0
    text = path.read_text(encoding="utf-8")
    proof = json.loads(text)
    for key, value in {
        "gap": proof["gap"] * 0.9,
        "coefficients": [1.0, *proof["coefficients"][1:]],
        "dual": [-1, *proof["dual"][1:]],
        "dual ": [2**61, *proof["dual"][1:]],
        "solved": [*proof["solved"], {1, 2}.difference(proof["solved"]).pop()],
        "names": proof["names"][::-1],
        "sha256": proof["sha256"][::-1],
        "rows": 21,
        "lam": -1.0,
    }.items():
        forged = proof | {key.strip(): value}
        path.write_text(json.dumps(forged, ensure_ascii=False), encoding="utf-8")
        assert status(path, R) == status(path) == 1, key
    for old, new in (('"rows": ', '"rows": 20, "rows": '), ('"lam": ', '"lam": NaN')):
        path.write_text(text.replace(old, new), encoding="utf-8")
        assert status(path, R) == status(path) == 1


def test_a_fit_far_from_the_minimum_has_a_proof_of_its_distance(tmp_path):
    data = simulated(150, 2)
    model = ps.svm("y ~ x0 + x1", data, lam=0.05)
    far, near = model.fit(ps.Pegasos(epochs=1, seed=1)), model.fit(ps.Optimum(1e-10))
    far.write_proof(tmp_path / "far.json")
    upper, lower, gap = check_proof.check(tmp_path / "far.json")
    distance = far.objective - near.objective
    assert distance <= upper - lower <= distance + 1e-8
    assert upper - lower <= gap <= 1.01 * distance  # three digits, rounded up


def test_there_is_no_proof_by_weights_that_miss_the_constraint(tmp_path):
    # No three of these weights, 11 units at most, balance the sums of all 150.
    model = ps.logit("y ~ x0 + x1", simulated(150, 2), lam=0.0)
    problem, path = model.problem, tmp_path / "fit.json"
    dual = 1e-17 * np.random.default_rng(1).random(150)
    with pytest.raises(ps.errors.DataError, match="no proof"):
        write(problem, ["x0", "x1"], np.zeros(2), 0.0, dual, path, False)
    assert not list(tmp_path.iterdir())


def test_columns_without_an_estimate_are_not_in_the_design(tmp_path):
    data = simulated(150, 2).assign(twice=lambda d: 2.0 * d["x0"], one=1.0)
    result = ps.logit("y ~ x0 + twice + one + x1", data).fit()
    result.write_proof(tmp_path / "fit.json")
    assert json.loads((tmp_path / "fit.json").read_text())["names"] == ["x0", "x1"]
    assert status(tmp_path / "fit.json") == 0


def test_there_is_no_proof_with_firths_penalty_or_without_rows(tmp_path):
    data = simulated(60, 2)
    firth = ps.logit("y ~ x0 + x1", data, penalty="firth").fit()
    with pytest.raises(ps.errors.DataError, match="A proof needs"):
        firth.write_proof(tmp_path / "fit.json")
    ps.save(ps.logit("y ~ x0", data).fit(), tmp_path / "fit.model")
    with pytest.raises(ps.errors.DataError, match="A proof needs"):
        ps.load(tmp_path / "fit.model").write_proof(tmp_path / "fit.json")
    assert not (tmp_path / "fit.json").exists()


def test_the_command_line_writes_prints_and_checks(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    simulated(60, 2).to_csv("rows.csv", index=False)
    words = ["fit", "rows.csv", "--formula", "y ~ x0 + x1", "--loss", "log"]
    assert main([*words, "--proof", "fit.json"]) == 0
    assert "Proof written to fit.json" in capsys.readouterr().out
    assert main(["proof", "--print"]) == 0
    assert capsys.readouterr().out == CHECKER.read_text()
    assert main(["proof", "fit.json"]) == 0
    # The design would be written over the training data.
    assert main([*words, "--proof", "rows.json", "--overwrite"]) == 2


# ---- mutations


def exact_minimum(proof, rows):
    """Minimum of a penalised logistic regression: Newton's method, with 60 digits."""
    p = 1 + len(proof["names"])
    with localcontext(prec=60):
        lam, theta = Decimal(repr(proof["lam"])), [Decimal(0)] * p
        for _ in range(200):
            value, gradient, hessian = logistic_terms(lam, theta, rows)
            step = solved(hessian, gradient)
            size = sum(a * b for a, b in zip(step, gradient, strict=True))
            if size < ENDLESS:
                return value - size
            scale = Decimal(1)
            while True:
                trial = [t - scale * s for t, s in zip(theta, step, strict=True)]
                if logistic_terms(lam, trial, rows)[0] <= value - scale * size / 4:
                    break
                scale /= 2
            theta = trial
    raise AssertionError("Newton's method has not converged")


def logistic_terms(lam, theta, rows):
    """Objective, gradient and Hessian."""
    p, n = len(theta), len(rows)
    slopes = theta[1:]
    value = lam / 2 * sum(b * b for b in slopes)
    gradient = [Decimal(0), *(lam * b for b in slopes)]
    hessian = [[lam * (i == j) * (i > 0) for j in range(p)] for i in range(p)]
    for y, w, o, *x in rows:
        z = [Decimal(1), *x]
        m = y * (sum(a * b for a, b in zip(theta, z, strict=True)) + o)
        tail = (-abs(m)).exp()
        value += w * (max(Decimal(0), -m) + (1 + tail).ln()) / n
        s = (tail if m > 0 else 1) / (1 + tail)
        for i in range(p):
            gradient[i] -= w * s * y * z[i] / n
            for j in range(p):
                hessian[i][j] += w * s * (1 - s) * z[i] * z[j] / n
    return value, gradient, hessian


def solved(A, b):
    """The solution of a system, by elimination with pivots."""
    rows = [[*row, v] for row, v in zip(A, b, strict=True)]
    for i in range(len(rows)):
        j = max(range(i, len(rows)), key=lambda r: abs(rows[r][i]))
        rows[i], rows[j] = rows[j], rows[i]
        for k in range(len(rows)):
            if k != i:
                factor = rows[k][i] / rows[i][i]
                pairs = zip(rows[k], rows[i], strict=True)
                rows[k] = [u - factor * v for u, v in pairs]
    return [row[-1] / row[i] for i, row in enumerate(rows)]


def mutated_number(draw, value):
    """Another number: a digit more or less, the sign, a factor, or something wild."""
    moves = [
        lambda: value + draw.choice([-1, 1]) * 10.0 ** draw.randint(-18, 1),
        lambda: -value,
        lambda: value * draw.choice([0, 0.5, 0.999999, 1.000001, 2]),
        lambda: draw.choice([0, 1, -1, 1e-300, 1e30, 12345678901234567890]),
    ]
    found = draw.choice(moves)()
    return int(found) if isinstance(value, int) else float(found)


def mutate(draw, proof, table):
    """Change the proof, the design or both in one place."""
    key = draw.choice(
        [*("gap", "lam", "rows", "decimals", "loss", "intercept", "names")]
        + [*("coefficients", "solved", "dual", "sha256")] * 2
        + [*("cell", "rows of the table", "columns", "header")] * 2
    )
    if key in ("coefficients", "solved", "dual"):
        place = draw.randrange(len(proof[key]))
        proof[key][place] = mutated_number(draw, proof[key][place])
        if draw.random() < 0.1:
            proof[key].pop()
    elif key in ("gap", "lam", "rows", "decimals"):
        proof[key] = mutated_number(draw, proof[key])
    elif key == "loss":
        proof[key] = draw.choice(["hinge", "squared_hinge", "probit"])
    elif key == "intercept":
        proof[key] = not proof[key]
    elif key in ("names", "sha256"):
        proof[key] = proof[key][::-1]
    elif key == "cell":
        row = table[draw.randrange(1, len(table))]
        place = draw.randrange(len(row))
        row[place] = repr(mutated_number(draw, float(row[place])))
    elif key == "rows of the table":
        i, j = draw.sample(range(1, len(table)), 2)
        table[i], table[j] = table[j], table[i]
        if draw.random() < 0.2:
            table.pop()
    elif key == "columns":
        i, j = draw.sample(range(len(table[0])), 2)
        for row in table:
            row[i], row[j] = row[j], row[i]
    else:
        i, j = draw.sample(range(len(table[0])), 2)
        table[0][i], table[0][j] = table[0][j], table[0][i]


@pytest.mark.slow
@pytest.mark.parametrize("lam", [0.05, 0.0])
def test_no_mutated_proof_is_accepted_whose_claim_is_false(lam, tmp_path):
    data, path = simulated(14, 2, seed=3), tmp_path / "fit.json"
    table_path = tmp_path / "fit.csv"
    ps.logit("y ~ x0 + x1", data, lam=lam, offset="o").fit().write_proof(path)
    proof_text, table_text = path.read_text(), table_path.read_text()
    draw, accepted = random.Random(5), 0
    for _ in range(MUTANTS):
        proof, table = json.loads(proof_text), [*csv.reader(table_text.splitlines())]
        for _ in range(draw.choice([1, 1, 2])):
            mutate(draw, proof, table)
        with open(table_path, "w", newline="") as handle:
            csv.writer(handle, lineterminator="\n").writerows(table)
        if draw.random() < 0.7:  # a forger computes the digest anew
            proof["sha256"] = hashlib.sha256(table_path.read_bytes()).hexdigest()
        path.write_text(json.dumps(proof))
        try:
            upper, lower, gap = check_proof.check(path)
        except Exception:
            continue
        if upper - lower > gap:
            continue
        accepted += 1
        if upper <= gap:  # a claim without content: no objective is below 0
            continue
        assert proof["loss"] == "log"
        assert proof["intercept"] is True
        rows = [[Decimal(cell) for cell in row] for row in table[1:]]
        theta = [Decimal(repr(value)) for value in proof["coefficients"]]
        with localcontext(prec=60):
            value = logistic_terms(Decimal(repr(proof["lam"])), theta, rows)[0]
            minimum = exact_minimum(proof, rows)
            assert value - minimum <= Decimal(repr(proof["gap"])) + ENDLESS
    assert 0 < accepted < MUTANTS // 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"gap": ', '"gap": NaN, "x": '),
        ('"gap": ', '"gap": 1, "gap": '),
        ('"lam": 0.05', '"lam": Infinity'),
        ('"lam": 0.05', '"lam": -0.05'),
        ('"lam": 0.05', '"lam": "1_0"'),
        ('"intercept": true', '"intercept": 1'),
        ('"claim": "The', '"claim": "the'),
    ],
)
def test_the_checker_refuses_texts_that_are_no_proof(old, new, tmp_path):
    path = tmp_path / "fit.json"
    ps.logit("y ~ x0 + x1", simulated(14, 2), lam=0.05).fit().write_proof(path)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    with pytest.raises((ValueError, TypeError)):
        check_proof.check(path)
