"""Data for examples: a survey, and handwritten fives and sixes."""

from importlib.resources import files
from pathlib import Path

import pandas as pd

from pegasos_stats.foreign_names import missing_in_module

__all__ = ["DIGITS56_CITATION", "digits56_path", "load_affairs", "load_digits56"]

DIGITS56_CITATION = (
    "E. Alpaydin and C. Kaynak (1998). Optical Recognition of Handwritten Digits. "
    "UCI Machine Learning Repository. https://doi.org/10.24432/C50P49. CC BY 4.0."
)

_TRAIN_ROWS = 200

# Occupations with the codes 1 to 6; the most frequent one becomes the first category.
_OCCUPATIONS = (
    "student",
    "manual",
    "white-collar",
    "skilled",
    "managerial",
    "professional",
)
_MOST_FREQUENT = "white-collar"


def __getattr__(name: str) -> object:
    raise missing_in_module(__name__, name, __all__)


def digits56_path() -> Path:
    """Path of the CSV file with all 363 fives and sixes.

    Returns
    -------
    Path
        A file with a header line: ``digit``, then ``p00`` to ``p77``. Source and
        licence are in ``digits56.txt`` in the same folder.
    """
    return Path(str(files(__name__) / "digits56.csv"))


def load_affairs() -> pd.DataFrame:
    """Survey of 6,366 married women: whether they had had an affair.

    Readers of the magazine *Redbook* answered in 1974. The two occupations are factors
    with the reference level *white-collar*, the women's most frequent occupation.

    Returns
    -------
    DataFrame, shape (6366, 9)
        * ``rate_marriage``: rating of the marriage, from 1 (very poor) to 5 (very
          good);
        * ``age`` and ``yrs_married`` in years, as midpoints of intervals;
        * ``children``: number of children;
        * ``religious``: from 1 (not religious) to 4 (strongly religious);
        * ``educ``: years of education, from 9 (grade school) to 20 (advanced degree);
        * ``occupation``, ``occupation_husb``: of the woman and of her husband;
        * ``affair``: the outcome, *no* (4,313 women) or *yes* (2,053).

    Notes
    -----
    The data are part of statsmodels, as ``statsmodels.datasets.fair``, by permission of
    their author. Here occupations have names instead of codes, and ``affair`` is *yes*
    if the time spent in affairs is above 0.

    References
    ----------
    R. C. Fair (1978). A theory of extramarital affairs. Journal of Political Economy
    86, 45-61.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> data = ps.load_affairs()
    >>> data["affair"].value_counts().to_dict()
    {'no': 4313, 'yes': 2053}
    >>> ps.logit("affair ~ rate_marriage + yrs_married", data).fit().coef.round(3)
    rate_marriage   -0.724
    yrs_married      0.053
    Name: coef, dtype: float64
    """
    from statsmodels.datasets import fair

    data: pd.DataFrame = fair.load_pandas().data
    levels = sorted(_OCCUPATIONS, key=lambda name: name != _MOST_FREQUENT)
    for name in ("occupation", "occupation_husb"):
        codes = data[name].astype(int)
        data[name] = pd.Categorical([_OCCUPATIONS[c - 1] for c in codes], levels)
    data["affair"] = (data.pop("affairs") > 0).map({False: "no", True: "yes"})
    return data


def load_digits56() -> tuple[pd.DataFrame, pd.DataFrame]:
    """Handwritten fives and sixes, with a fixed training and test split.

    The training data are the first 200 rows of the file, 100 of each digit; the test
    data are the other 163 (82 fives, 81 sixes). The index is the row number in the
    file, counted from 0.

    Returns
    -------
    train : DataFrame, shape (200, 65)
        ``digit`` (the integers 5 and 6), then the pixels ``p00`` to ``p77``, named
        by row and column from the top left, with integer ink values from 0 to 16.
    test : DataFrame, shape (163, 65)
        The same columns; index 200 to 362.

    Notes
    -----
    These are the fives and sixes of the test part of the original data, which
    scikit-learn includes as ``sklearn.datasets.load_digits``. Licence: Creative Commons
    Attribution 4.0 International (CC BY 4.0). Ten pixels at the left and right borders
    are 0 in every row.

    References
    ----------
    E. Alpaydin and C. Kaynak (1998). Optical Recognition of Handwritten Digits.
    UCI Machine Learning Repository. https://doi.org/10.24432/C50P49

    Examples
    --------
    >>> from pegasos_stats.datasets import load_digits56
    >>> train, test = load_digits56()
    >>> train["digit"].value_counts().sort_index().to_dict()
    {5: 100, 6: 100}
    >>> test.iloc[:2, :7]
         digit  p00  p01  p02  p03  p04  p05
    200      6    0    0    0    5   12   12
    201      5    0    3   10   11   12   12
    """
    data = pd.read_csv(digits56_path())
    return data.iloc[:_TRAIN_ROWS].copy(), data.iloc[_TRAIN_ROWS:].copy()
