"""What a formula may compute where its rows are read block by block."""

from pegasos_stats.data.language.expressions import Call, Constant, Node, walked
from pegasos_stats.data.language.syntax import refused

NEIGHBOURS = ("lag",)  # functions without state that look at other rows
CURES = {
    "bs": "give bs() its knots, lower_bound and upper_bound, or ",
    "cut": "give cut() its breaks as a list, or ",
    "poly": "give poly() raw=True, or ",
    **dict.fromkeys(
        ("center", "scale", "standardize"), "give standardize=True for scales, or "
    ),
}


def check_by_row(tree: Node, formula: str, noun: str) -> None:
    """Raise `FormulaError` for functions that look at more than one row.

    Parameters
    ----------
    tree : Node
    formula : str
    noun : str
        Where the rows are.
    """
    for part in walked(tree):
        if isinstance(part, Call) and (part.name in NEIGHBOURS or learns(part)):
            raise refused(
                formula,
                f"calls {part.name}(), which looks at other rows, and {noun} are read "
                f"block by block; {CURES.get(part.name, '')}compute the column in the "
                f"{noun}.",
            )


def learns(call: Call) -> bool:
    """Whether a call keeps what it finds in the rows.

    Breaks, or knots between bounds, that are stated are all that it keeps, and raw
    powers need nothing.

    Examples
    --------
    >>> from pegasos_stats.data.language.reading import read_expression
    >>> calls = "cut(x, 3)", "cut(x, c(0, 1))", "poly(x, 2)", "poly(x, 2, raw=True)"
    >>> [learns(read_expression(text, ["x"], "y ~ x")) for text in calls]
    [True, False, True, False]
    """
    named = zip(call.function.parameters, call.arguments, strict=False)
    nodes = dict(named) | dict(call.keywords)
    given = {k: v.value for k, v in nodes.items() if isinstance(v, Constant)}
    stated = {
        "bs": all(given.get(k) is not None for k in ("lower_bound", "upper_bound"))
        and isinstance(given.get("knots"), list),
        "cut": isinstance(given.get("breaks"), list),
        "poly": given.get("raw") is True,
    }
    return bool(call.function.state) and not stated.get(call.name, False)
