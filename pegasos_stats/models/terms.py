"""Tables with a row for each term: which of them are shown."""

import pandas as pd

INTERCEPT = "Intercept"


def largest_terms(table: pd.DataFrame, limit: int | None) -> pd.DataFrame:
    """The intercept and so many terms, the largest by absolute value.

    Parameters
    ----------
    table : DataFrame
        With columns ``term`` and ``estimate``; of equal ones the first is larger.
    limit : int or None
        ``None`` keeps all.

    Returns
    -------
    DataFrame
        In the order of `table`.

    Examples
    --------
    >>> table = pd.DataFrame({"term": ["Intercept", "a", "b"], "estimate": [0, 1, -2]})
    >>> largest_terms(table, 1)["term"].tolist()
    ['Intercept', 'b']
    """
    slopes = table.loc[table["term"] != INTERCEPT, "estimate"]
    by_size = slopes.abs().sort_values(ascending=False, kind="stable")
    kept = slice(len(slopes)) if limit is None else slice(limit)
    return table.drop(index=by_size.index.difference(by_size.index[kept]))
