"""Quantiles of the normal distribution, to the last bit as R has them."""

from typing import Any

from numpy.typing import ArrayLike

from pegasos_stats.compiled import random
from pegasos_stats.rng.arguments import floats, require


def qnorm(p: ArrayLike) -> Any:
    """Quantiles of the standard normal distribution, to the last bit as R's ``qnorm``.

    By algorithm AS 241 (Wichura 1988), relative error about 1e-16. Minus infinity at
    0, infinity at 1, NaN for NaN.

    Parameters
    ----------
    p : float or array of any shape

    Returns
    -------
    float, or float64 array of the shape of ``p``

    Raises
    ------
    OptionError
        If a ``p`` lies outside [0, 1].

    Examples
    --------
    >>> qnorm(0.975)
    1.9599639845400536
    """
    chances = floats(p, "p")
    require(~((chances < 0.0) | (chances > 1.0)), "p", p, "a probability from 0 to 1")
    z = random.variates.normal_quantiles(chances.ravel()).reshape(chances.shape)
    return float(z) if z.ndim == 0 else z
