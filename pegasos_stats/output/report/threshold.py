"""The threshold by which the labels of a report are predicted, and its origin."""

from dataclasses import dataclass

from pegasos_stats.errors import OptionError
from pegasos_stats.models.predicting import checked_threshold
from pegasos_stats.output.report.document import Strong, Text, prose
from pegasos_stats.output.report.formatting import number
from pegasos_stats.output.report.origin import Fitted
from pegasos_stats.studies.threshold_results import Scale, Thresholds, scale_of


@dataclass(frozen=True, eq=False)
class Deciding:
    """A threshold other than the usual one.

    Attributes
    ----------
    value : float
    scale : Scale
        What it is compared with.
    levels : pair of labels
        Predicted below and above it.
    chosen : Thresholds or None
        How it was chosen; None where it was given as a number.
    """

    value: float
    scale: Scale
    levels: tuple[object, object]
    chosen: Thresholds | None

    def told(self, judged: str) -> Text:
        """What is predicted, and where the threshold came from, in words.

        Parameters
        ----------
        judged : str
            Name of the rows that errors are quoted for.
        """
        below, above = (Strong(str(level)) for level in self.levels)
        of = prose("probability of {}", above)
        usual, found = number(self.scale.usual), self.chosen
        rule = (
            "Rows with a ",
            *(of if self.scale.name == "probability" else ("score",)),
            f" above {number(self.value)} are predicted as ",
            *prose("{}, those below as {}. ", above, below),
        )
        if found is None:
            return (
                *rule,
                f"This threshold was given, {usual} being the usual one; errors hold "
                "only if the rows had no part in choosing it.",
            )
        target, by = found.target, "rows that the fit had not seen"
        best = "largest" if target.larger_is_better else "smallest"
        best += f" {target.name}".replace("_", " ")
        if target.name == "cost":
            costs = number(target.false_positive), number(target.false_negative)
            best += " ({} for a false positive, {} for a false negative)".format(*costs)
        caution = "If the test rows are among those that have chosen it, their"
        if found.out_of_fold:
            by, caution = "scores out of fold", ""
            if judged == "out-of-fold":
                caution = "The out-of-fold rows have chosen it, so that their"
        at, usually = found.tidy()["estimate"]
        return (
            *rule,
            f"This threshold was chosen for the {best} by {by} "
            f"({found.folds.description}), with ",
            Strong(str(found.positive)),
            " as the positive class. Chosen in this way, "
            f"{number(at, 3)} is to be expected on new rows (standard error "
            f"{number(found.std_error, 2)}), and {number(usually, 3)} at the usual "
            f"threshold, {usual}.",
            f" {caution} errors at it are rather too small." if caution else "",
        )


def checked_deciding(threshold: object, result: Fitted) -> Deciding | None:
    """Read the threshold of a report: a number, or one that was chosen.

    Raises
    ------
    OptionError
        If it is no threshold of the fit.
    """
    if threshold is None:
        return None
    scale, levels = scale_of(result.problem), result.coding.levels
    if not isinstance(threshold, Thresholds):
        value = checked_threshold(threshold, result.problem)
        return Deciding(value, scale, levels, None)
    if (threshold.scale, threshold.levels) != (scale.name, levels):
        first, second = threshold.levels
        raise OptionError(
            f"threshold is of the {threshold.scale} of a fit of {first!r} and "
            f"{second!r}, and this fit has a {scale.name} of {levels[0]!r} and "
            f"{levels[1]!r}; give what its thresholds() returns, or a number."
        )
    return Deciding(threshold.threshold, scale, levels, threshold)
