"""Which columns of a design belong to a term of its formula."""

from pegasos_stats.data.design import Design
from pegasos_stats.data.formula_design import FormulaDesign
from pegasos_stats.data.scaling import ScaledDesign


def terms_of(design: Design) -> dict[str, list[str]]:
    """Names of the columns of every term, the intercept left out.

    A factor is one term, an interaction another; of data without a formula every
    column is one.

    Examples
    --------
    >>> from pegasos_stats.data.design import FrameDesign
    >>> terms_of(FrameDesign(("age", "dose"), named=True))
    {'age': ['age'], 'dose': ['dose']}
    """
    if isinstance(design, ScaledDesign):
        return terms_of(design.design)
    if not isinstance(design, FormulaDesign):
        return {name: [name] for name in design.names}
    columns = [str(name) for name in design.spec.column_names]
    found = {str(t): columns[where] for t, where in design.spec.term_slices.items()}
    kept = {t: [n for n in names if n != "Intercept"] for t, names in found.items()}
    return {term: names for term, names in kept.items() if names}
