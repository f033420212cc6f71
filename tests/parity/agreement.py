"""A drawn configuration in R and in Python, in words where they part."""

from pegasos_stats.studies.parity import R, compared, first_difference, in_python, in_r
from tests.parity.configurations import Configuration


def words_if_apart(r: R, c: Configuration) -> str | None:
    """The configuration and where it parts, in lines; None if nothing differs."""
    try:
        setup = c.setup()
        ours, theirs = in_python(r, setup), in_r(r, setup)
        found = [each for each in compared(setup, ours, theirs) if not each.equal]
        if not found:
            return None
        first = f"{found[0].name}: {found[0].words}"
        return f"{c}\n    {first}\n    {first_difference(r, setup, ours, theirs)}"
    except Exception as error:  # one of the sides refuses what the other one may take
        return f"{c}\n    {type(error).__name__}: {error}"
