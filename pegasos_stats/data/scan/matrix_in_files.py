"""What stands in the place of a matrix whose rows are in files."""

from typing import NoReturn

from pegasos_stats.data.scan.row_summary import RowSummary
from pegasos_stats.errors import DataError, OptionError


class Elsewhere:
    """The rows of a fit from files: their shape, and where they are.

    `StreamedRows` of `pegasos_stats.solvers.reads.rows` reads them.
    """

    def __init__(self, measured: RowSummary) -> None:
        self.measured = measured
        self.shape = measured.y.size, len(measured.agreed.design.names)
        self.digest: str | None = None  # of all rows, which would take a read

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise self._not_here()

    def __getitem__(self, rows: object) -> NoReturn:
        raise self._not_here()

    def __array__(self, *args: object, **options: object) -> NoReturn:
        raise self._not_here()

    @property
    def title(self) -> str:
        """What the rows were given as."""
        return self.measured.scan.title

    @property
    def noun(self) -> str:
        """Where the rows are."""
        return self.measured.scan.noun

    def _not_here(self) -> DataError:
        data = "ps.scan(...)" if self.noun == "files" else self.title
        return DataError(
            f"The training rows are in {self.noun} and not in memory; "
            f"give data= in memory, or {data} to predict()."
        )


def in_memory_only(option: str, title: str) -> OptionError:
    """The error for an option that needs the rows of the fit in memory."""
    return OptionError(
        f"{option}= needs the rows in memory and does not go with {title}; leave it "
        "out."
    )
