"""Every error and warning of the package, in one tree."""


class PegasosStatsError(Exception):
    """Base of all errors that the package raises on purpose."""


class DataError(PegasosStatsError, ValueError):
    """The data cannot be used as they are: a value, a shape, a type."""


class ColumnError(DataError):
    """A column is missing, is not numeric, or holds a value that is not allowed."""


class LabelError(DataError):
    """The outcome does not have the two levels that are needed."""


class FormulaError(PegasosStatsError, ValueError):
    """A formula cannot be read, or does not describe a two-level outcome."""


class OptionError(PegasosStatsError, ValueError):
    """An option has a value, or a combination of values, that makes no sense."""


class SeedError(OptionError):
    """A seed that R's ``set.seed`` would refuse."""


class PegasosStatsWarning(UserWarning):
    """Base of all warnings of the package."""


class ConvergenceWarning(PegasosStatsWarning):
    """A solver stopped before it reached its tolerance."""


class UndefinedMetricWarning(PegasosStatsWarning):
    """A statistic is not defined for these data and is given as NA."""
