"""What there is to say of a fit: which facts are noted, and who is told of them."""

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.errors import ConvergenceWarning, UndefinedMetricWarning

X = np.array([[0.0, 1.0, 3.0, 2.0, 5.0, 4.0, 9.0], [2, -1, 0.5, -2, 1, 0.25, -3]]).T
Y = np.array(["no", "no", "yes", "no", "yes", "yes", "no"])


def test_resamples_that_are_left_out_are_noted_and_told_to_whoever_asks():
    labels, x = ["a"] * 2 + ["b"] * 18, np.linspace(-1.0, 1.0, 20) ** 3
    model = ps.SVM(labels, pd.DataFrame({"x": x}), lam=0.1)
    boot = ps.Bootstrap(replicates=40, seed=443)
    result = model.fit(ps.SDCA(tol=1e-8, seed=1), cov_type=boot)
    (note,) = result.estimated.notes
    assert note in result.notes_on_errors()
    with pytest.warns(UndefinedMetricWarning) as told:
        result.bse  # noqa: B018
    assert [str(one.message) for one in told] == [note.text]
    assert told[0].filename == __file__


def test_the_warning_and_the_summary_have_one_text():
    result = ps.Logit(Y, X, lam=0.1).fit(ps.Pegasos(epochs=20, seed=1))
    far = result.notes_on_errors()[0]
    assert (far.topic, far.severity) == ("run", "warning")
    with pytest.warns(ConvergenceWarning) as told:
        result.bse  # noqa: B018
    assert [str(one.message) for one in told] == [far.sentence]
    assert far.sentence in result.summary(details=True).notes
