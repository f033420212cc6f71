"""What a notebook shows of models, results and tables: whole, and escaped."""

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps

WICKED = "<script>alert('x')</script> & co"
VOID = {"br", "img", "hr"}
N = 40


class Balanced(HTMLParser):
    """Tags that are open, and text; a tag that closes another one is an error."""

    def __init__(self):
        super().__init__()
        self.open, self.text, self.tags = [], [], set()

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def shown(thing):
    page = Balanced()
    page.feed(thing._repr_html_())
    assert page.open == []
    assert "script" not in page.tags
    return " ".join(" ".join(page.text).split())


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    y = np.where(np.arange(N) % 2, WICKED, "plain <b>")
    x = rng.normal(size=N) + (np.arange(N) % 2)
    return pd.DataFrame({WICKED: y, f"x {WICKED}": x, "z": rng.normal(size=N)})


@pytest.fixture(scope="module")
def logit(data):
    return ps.Logit(data[WICKED], data.drop(columns=WICKED), lam=0.01)


def test_models_say_what_is_minimised(data, logit):
    text = shown(logit)
    assert text.startswith("Logit Outcome: ")
    assert f"{WICKED} (20 rows)" in text
    assert "lambda: 0.01 " in text
    assert "Solver: not fitted yet: see fit()" in text
    kernel = ps.KernelSVM(data[WICKED], data.drop(columns=WICKED), lam=1.0, gamma=0.5)
    assert "Kernel: gaussian, gamma 0.5" in shown(kernel)


def test_a_linear_fit_shows_coefficients_and_then_their_errors(logit):
    result = logit.fit(ps.SDCA(tol=1e-8, seed=1))
    text = shown(result)
    assert f"x {WICKED}" in text
    assert "std err" not in text
    assert "For standard errors" in text
    assert not result.has_covariance
    result.bse  # noqa: B018
    assert "std err" in shown(result)
    assert result._repr_html_() == result.summary().to_html()


def test_a_kernel_fit_shows_its_summary(data):
    model = ps.KernelSVM(data[WICKED], data.drop(columns=WICKED), lam=0.1)
    result = model.fit(ps.Pegasos(epochs=2, seed=1))
    assert result._repr_html_() == result.summary().to_html()
    assert WICKED in shown(result.summary(details=True))


def test_studies_show_their_summaries(logit):
    cv = ps.cross_validate(logit, ps.SDCA(seed=1), folds=3, seed=1)
    path = ps.lambda_path(logit, [0.1, 0.01])
    calibrated = ps.calibrate(logit, ps.SDCA(seed=1), folds=3, seed=1)
    for made in (cv, path, calibrated):
        assert made._repr_html_() == made.summary().to_html()
        shown(made)


def test_tables_are_tables(data, logit):
    result = logit.fit(ps.SDCA(tol=1e-8, seed=1))
    assert WICKED in shown(result.confusion())
    test = result.with_covariance("HC0").wald_test("z = 0")
    assert shown(test).startswith("Wald Test Hypotheses z = 0 chi2 ")
    assert " df 1 p " in shown(test)
    actual = data[WICKED]
    other = ps.compare_predictions(
        actual, actual, result.predict(), names=(WICKED, "B & B")
    )
    text = shown(other)
    assert f"Error rate {WICKED} 0.0000 of 40 rows" in text
    assert " McNemar p " in text


def test_the_statistic_of_resamples_is_shown_with_their_number(data):
    model = ps.SVM(data[WICKED], data.drop(columns=WICKED), lam=0.1)
    boot = ps.Bootstrap(replicates=79, seed=1)
    result = model.fit(ps.SDCA(tol=1e-8, seed=1), cov_type=boot)
    text = shown(result.wald_test("z = 0"))
    assert " W " in text
    assert text.endswith(" Replicates 79")


def test_what_is_public_is_listed():
    assert dir(ps) == sorted(ps.__all__)
    assert "KernelSVM" in dir(ps)
    assert "sys" not in dir(ps)
