"""The data that come with the package."""

import runpy
from pathlib import Path

import pytest
from statsmodels.datasets import fair

import pegasos_stats as ps
from pegasos_stats.datasets import DIGITS56_CITATION, digits56_path, load_digits56

SCRIPT = Path(__file__).parents[2] / "scripts" / "make_digits56.py"


def test_the_split_is_fixed_and_balanced():
    train, test = load_digits56()
    assert train.index.tolist() == list(range(200))
    assert test.index.tolist() == list(range(200, 363))
    assert train["digit"].value_counts().to_dict() == {5: 100, 6: 100}
    assert test["digit"].value_counts().to_dict() == {5: 82, 6: 81}


def test_the_file_is_what_its_script_makes():
    pytest.importorskip("sklearn")
    assert runpy.run_path(str(SCRIPT))["render"]() == digits56_path().read_bytes()


def test_source_and_licence_lie_beside_the_data():
    text = digits56_path().with_suffix(".txt").read_text(encoding="utf-8")
    for fact in ("Alpaydin", "Kaynak", "10.24432/C50P49", "CC BY 4.0"):
        assert fact in text
        assert fact in DIGITS56_CITATION


def test_the_survey_is_that_of_statsmodels_with_names_for_its_codes():
    data, source = ps.load_affairs(), fair.load_pandas().data
    same = [name for name in source if name in data and "occupation" not in name]
    assert len(same) == 6
    assert data[same].equals(source[same])
    assert (data["affair"] == "yes").equals(source["affairs"] > 0)
    for name in ("occupation", "occupation_husb"):
        pairs = set(zip(source[name], data[name], strict=True))
        assert sorted(pairs) == [
            (1, "student"),
            (2, "manual"),
            (3, "white-collar"),
            (4, "skilled"),
            (5, "managerial"),
            (6, "professional"),
        ]
        assert data[name].cat.categories[0] == "white-collar"
