"""What the coefficients of a linear fit mean for its predictions."""

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

        For a number ``x`` the mean over the rows of ``dP/dx = P (1 - P) df/dx``, the
        derivative of the score ``f`` going through every term that ``x`` is in, such as
        ``log(x)`` or ``x:g``. For factors and booleans the mean change of ``P`` from
        the reference level to each other. Of a hinge fit, which has no probabilities,
        the change of the share of rows that it predicts positive.

        Parameters
        ----------
        variables : str or list of str, optional
            Predictors, as the data have them; all if left out.
        data : DataFrame or array, optional
            Rows to average over; those of the fit if left out.
        at : "mean" or mapping of name to values, optional
            Effects at the means of the predictors, of factors at the shares of their
            levels; or with these values in all rows, in every combination.
        contrasts : "reference" or "pairwise"
            Levels against the reference level, or all pairs.
        change : "sd", float or mapping of name to these, optional
            For numbers the effect of a value that is larger by a standard deviation or
            by so much, in place of the derivative. For the hinge, a step function, and
            for numbers in terms that are steps, such as ``I(x > 3)``, it is ``"sd"``
            if left out. Where a term has no value for what is larger, as beyond the
            range of a spline, the change is that from what is smaller by so much.
        scale : "response" or "link"
            ``"link"``: effects on the score, which for the log loss is the log odds.
        dummy : bool, default False
            Whether numbers that are all 0 or 1 count as levels, as booleans do.
        weights : array, Series or a column's name, optional
            Weights of the rows of `data` in the means. Rows of the fit have those of
            the fit, other than weights of classes, and the counts of
            ``freq_weights=``.
        offset : array, Series or a column's name, optional
            Of the rows of `data`, for a fit whose own was given as numbers; in the
            place of the column that the fit had.

        Returns
        -------
        Margins
            With ``tidy()``; standard errors by the delta method from the covariance of
            the fit, or from its resamples. Those of hinge shares are always from
            resamples, 399 if the fit has none.

        Raises
        ------
        OptionError
            If a name or an option is not known.
        DataError
            If there are no rows: of a loaded fit without `data`.

        Notes
        -----
        An offset stays that of its row, also where a predictor in it is changed.
        Errors are those of the coefficients, the rows taken as given, as by
        ``get_margeff`` of statsmodels and by the packages margins and marginaleffects.
        The latter's Python version takes classes of its own alone, on polars frames, so
        that it cannot be handed a fit. ``result.plot.margins`` is something else: the
        margins ``y f(x)`` of rows.

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

        The mean over the rows of the probability of the second level, all rows having
        this value of the predictors named and their own of the others. Of a hinge fit
        the share predicted.

        Parameters
        ----------
        variables : str or list of str, optional
            Predictors: a factor at each of its levels, a number at its minimum, its
            quartiles and maximum; several in every combination. Without any, the mean
            prediction. Other numbers go into ``at=``.
        data, at, scale, weights, offset
            As for `margins`.

        Returns
        -------
        Margins
            With ``tidy()``, as of `margins`, but without tests.

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
