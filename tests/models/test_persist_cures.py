"""What a saved cure may be: a sentence, and settings of simple values."""

import json
import re

import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats.advice import Cure, Setting
from pegasos_stats.models.persist.judged import (
    packed_cure,
    unpacked_cure,
)

SENTENCE = "Fit with {}."


def test_a_cure_comes_back_as_it_was():
    first = (Setting("epochs", 500), Setting("tol", 1e-6, call="tol={}"))
    cure = Cure((first, (Setting("standardize", True),)), SENTENCE)
    stored = json.loads(json.dumps(packed_cure(cure)))
    assert packed_cure(unpacked_cure(stored)) == stored
    assert unpacked_cure(packed_cure(None)) is None


def test_notes_on_standard_errors_keep_their_cure(tmp_path):
    apart = pd.DataFrame({"a": [-3, -2, 2, 3] * 10, "y": list("uuvv") * 10})
    result = ps.svm("y ~ a", apart, lam=1e-4).fit(cov_type="sandwich")
    assert any(note.cure for note in result.estimated.notes), result.estimated.notes
    ps.save(result, tmp_path / "fit")
    assert ps.load(tmp_path / "fit").estimated.notes == result.estimated.notes


@pytest.mark.parametrize("value", [[], [1], {}, {"a": 1}])
def test_values_that_are_not_simple_are_refused(value):
    with pytest.raises(ValueError, match=r"^a setting is [\[{]"):
        unpacked_cure([SENTENCE, [[["epochs", value, "{}"]]]])


@pytest.mark.parametrize(
    ("stored", "said"),
    [
        (["no place", [[["epochs", 1, "{}"]]]], "a cure says 'no place'"),
        (["{} {}", [[["epochs", 1, "{}"]]]], "a cure says '{} {}'"),
        ([SENTENCE, []], "a cure is empty"),
        ([SENTENCE, [[]]], "a cure is empty"),
    ],
)
def test_cures_that_say_nothing_are_refused(stored, said):
    with pytest.raises(ValueError, match=f"^{re.escape(said)}$"):
        unpacked_cure(stored)
