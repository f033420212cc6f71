"""Effects of the predictors of a linear fit on its predictions."""

from dataclasses import dataclass

import pandas as pd

from pegasos_stats.models.effects import averages, changes
from pegasos_stats.models.effects.margins import Margins
from pegasos_stats.models.linear_inference import LinearInference
from pegasos_stats.other_names import answering


@dataclass(frozen=True, repr=False, eq=False)
class LinearEffects(LinearInference):
    """What `LinearResults` says of predictors in terms of probabilities.

    Attributes
    ----------
    unread : DataFrame or None
        Predictors of the rows of the fit that the matrix does not hold as they were.
    """

    unread: pd.DataFrame | None = None

    @answering
    def margins(
        self,
        variables: object = None,
        data: object = None,
        *,
        at: object = None,
        contrasts: changes.Contrasts = "reference",
        change: object = None,
        scale: averages.Scale = "response",
        dummy: bool = False,
        weights: object = None,
        offset: object = None,
    ) -> Margins:
        """Average marginal effects of the predictors on the probability.

        For a numeric ``x`` this is the mean over the rows of ``dP/dx = P (1 - P)
        df/dx``; the derivative of the score ``f`` includes every term with ``x``, such
        as ``log(x)`` or ``x:g``. For factors and booleans it is the mean change of
        ``P`` from the reference level to each other level. For a hinge fit, which has
        no probabilities, it is the change in the share of rows predicted positive.

        Parameters
        ----------
        variables : str or list of str, optional
            Predictors by their names in the data; all if omitted.
        data : DataFrame or array, optional
            Rows to average over; those of the fit if omitted.
        at : "mean" or mapping of name to values, optional
            ``"mean"``: effects at the means of the predictors, and for factors at the
            shares of their levels. A mapping sets predictors to these values in all
            rows, in every combination.
        contrasts : "reference" or "pairwise"
            Each level against the reference level, or all pairs of levels.
        change : "sd", float or mapping of name to these, optional
            For numeric predictors, the effect of an increase by one standard deviation
            or by this amount, instead of the derivative. Default ``"sd"`` for the hinge
            and for predictors in step functions such as ``I(x > 3)``, which have no
            derivative. Where a term has no value for the increased predictor, as beyond
            the range of a spline, the change is from the value that is smaller by this
            amount.
        scale : "response" or "link"
            ``"link"``: effects on the score, which for the log loss is the log odds.
        dummy : bool, default False
            Whether to treat numeric predictors with only the values 0 and 1 as factors,
            as booleans are.
        weights : array, Series or a column's name, optional
            Weights of the rows of `data` in the means. For the rows of the fit its own
            row weights (not class weights) and ``freq_weights=`` are used.
        offset : array, Series or a column's name, optional
            Offset of the rows of `data`, if that of the fit was given as numbers; or
            instead of the column that the fit used.

        Returns
        -------
        Margins
            With ``tidy()``. Standard errors are by the delta method from the covariance
            of the fit, or from its bootstrap resamples; for hinge shares always from
            resamples, 399 if the fit has none.

        Raises
        ------
        OptionError
            If a name or an option is not known.
        DataError
            If there are no rows, as for a loaded fit without `data`.

        Notes
        -----
        Each row keeps its offset, even if a predictor in the offset is changed.
        Standard errors are conditional on the rows, as in ``get_margeff`` of
        statsmodels and the packages margins and marginaleffects; the Python version of
        the latter accepts its own model classes only. ``result.plot.margins`` is
        something else: it draws the margins ``y f(x)`` of rows.

        References
        ----------
        Bartus, *Estimation of marginal effects using margeff*, Stata Journal 5 (2005).

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> data = pd.DataFrame({"y": list("aabab" * 6), "g": list("uvw" * 10)})
        >>> data["x"] = [float(i % 7) for i in range(30)]
        >>> result = ps.logit("y ~ g + x", data, lam=1e-6).fit(ps.SDCA(seed=1))
        >>> result.margins().tidy()[["term", "contrast", "estimate"]].round(3)
          term contrast  estimate
        0    g    v - u    -0.006
        1    g    w - u    -0.002
        2    x    dY/dX    -0.016
        """
        options = at, contrasts, change, scale, dummy, weights, offset
        return averages.margins_of(self, variables, data, *options)

    @answering
    def predictions(
        self,
        variables: object = None,
        data: object = None,
        *,
        at: object = None,
        scale: averages.Scale = "response",
        weights: object = None,
        offset: object = None,
    ) -> Margins:
        """Average adjusted predictions: mean probabilities by levels of predictors.

        The mean over the rows of the probability of the second level, with the named
        predictors set to the same values in all rows and the others as observed. For a
        hinge fit, the share of rows predicted positive.

        Parameters
        ----------
        variables : str or list of str, optional
            Predictors to set: a factor to each of its levels, a numeric predictor to
            its minimum, quartiles and maximum; several in every combination. Without
            any, the mean prediction. Give other values by ``at=``.
        data, at, scale, weights, offset
            As for `margins`.

        Returns
        -------
        Margins
            With ``tidy()``, as for `margins`, but without tests.

        Examples
        --------
        >>> import pegasos_stats as ps
        >>> data = pd.DataFrame({"y": list("aabab" * 6), "g": list("uvw" * 10)})
        >>> result = ps.logit("y ~ g", data, lam=1e-9).fit(ps.SDCA(seed=1))
        >>> result.predictions("g").tidy()[["term", "value", "estimate"]].round(3)
          term value  estimate
        0    g     u       0.4
        1    g     v       0.4
        2    g     w       0.4
        """
        options = at, scale, weights, offset
        return averages.predictions_of(self, variables, data, *options)
