"""What stands in the place of a matrix whose rows are in files."""

from typing import NoReturn

from pegasos_stats.data.scan.measuring import Measured
from pegasos_stats.errors import DataError, OptionError


class Elsewhere:
    """The rows of a fit from files: their shape, and where they are.

    Parameters
    ----------
    measured : Measured
    """

    def __init__(self, measured: Measured) -> None:
        self.measured = measured
        self.shape = measured.y.size, len(measured.agreed.design.names)
        self.digest: str | None = None  # of all rows, which would take a read

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise not_here()

    def __getitem__(self, rows: object) -> NoReturn:
        raise not_here()

    def __array__(self, *args: object, **options: object) -> NoReturn:
        raise not_here()


def not_here() -> DataError:
    """The error for what needs the rows of the fit in memory."""
    return DataError(
        "The training rows are in files and not in memory; give data= in memory, or "
        "ps.scan(...) to predict()."
    )


def in_memory_only(option: str) -> OptionError:
    """The error for an option that needs the rows of the fit in memory."""
    return OptionError(
        f"{option}= needs the rows in memory and does not go with ps.scan(); leave it "
        "out."
    )
