"""What a saved cure may be: a sentence, and settings of simple values."""

import json
import re

import pytest

from pegasos_stats.advice import Cure, Setting
from pegasos_stats.models.persist.judged import packed_cure, unpacked_cure

SENTENCE = "Fit with {}."


def test_a_cure_comes_back_as_it_was():
    first = (Setting("epochs", 500), Setting("tol", 1e-6, call="tol={}"))
    cure = Cure((first, (Setting("standardize", True),)), SENTENCE)
    stored = json.loads(json.dumps(packed_cure(cure)))
    assert packed_cure(unpacked_cure(stored)) == stored
    assert unpacked_cure(packed_cure(None)) is None


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
