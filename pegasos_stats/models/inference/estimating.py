"""Estimation of standard errors: the default method, the estimate, its omission."""

import os
from dataclasses import replace
from typing import Literal

import numpy as np

from pegasos_stats.advice import InPython, Setting, said
from pegasos_stats.arrays import Matrix
from pegasos_stats.data.columns import is_sparse
from pegasos_stats.data.groups import Groups
from pegasos_stats.data.scaling import Scaling
from pegasos_stats.data.scan.elsewhere import Elsewhere
from pegasos_stats.errors import DataError, OptionError, counted, shown
from pegasos_stats.models.inference.bootstrap import bootstrap
from pegasos_stats.models.inference.bootstrap_options import Bootstrap
from pegasos_stats.models.inference.choosing import (
    CLUSTER,
    MOST_COEFFICIENTS,
    Reasons,
    can_resample,
    default_options,
)
from pegasos_stats.models.inference.covariance import Covariance
from pegasos_stats.models.inference.options import (
    FOR_FEW_ROWS,
    OF_LEVERAGES,
    SANDWICH,
    Cluster,
    CovType,
    Sandwich,
    checked_cov_type,
)
from pegasos_stats.models.inference.read_sandwich import read_sandwich
from pegasos_stats.models.inference.resamples import BootstrapResult
from pegasos_stats.models.inference.sandwich import NEAR, sandwich
from pegasos_stats.models.inference.separation import IdentifiedPart, separated_rows
from pegasos_stats.models.notes.note import Note
from pegasos_stats.models.notes.standard_errors import FEW
from pegasos_stats.solvers.centring import centre_of
from pegasos_stats.solvers.problem import Problem, Solution

Estimate = Covariance | BootstrapResult

MOST_PRODUCTS = 1e10  # some two seconds
SPARSE_COST = 10.0  # times a product of dense rows
PRODUCTS_OF_A_REFIT = 60.0  # to each number in the rows
MATRICES = 4  # of shape (k, k) at the same time

NO_COVARIANCE = said(
    "There are no standard errors: ",
    Setting("cov_type", "none"),
    "; ",
    Setting("cov_type", "sandwich", call="result.with_covariance({})"),
    " gives the same fit with them.",
)


def chosen_options(
    cov_type: object,
    problem: Problem,
    found: Solution | None,
    scaling: Scaling | None = None,
    groups: Groups | None = None,
) -> CovType:
    """What `checked_choice` returns; for the default the options that cover.

    The fit may be missing where rows are in files, where it makes no difference.
    """
    options = checked_choice(cov_type, problem, groups)
    if options != "default":
        return options
    if found is None or not has_rows(problem):
        return SANDWICH if groups is None else CLUSTER
    return default_options(problem, found, scaling, groups)


def checked_choice(
    cov_type: object, problem: Problem, groups: Groups | None = None
) -> CovType | Literal["default"]:
    """The options of a covariance, or ``"default"``, which is looked for later.

    Raises
    ------
    OptionError
        If it is neither a name nor options, or does not go with groups or the model.
    """
    if isinstance(cov_type, str) and cov_type == "default":
        return "default"
    options = checked_cov_type(cov_type)
    if isinstance(problem.X, Elsewhere):
        _check_for_files(options, problem.X.title)
    if groups is None and isinstance(options, Cluster):
        raise OptionError(
            said(
                "needs ",
                Setting("groups"),
                ": the name of a column",
                InPython(", or one label for each row"),
                ", which says what rows belong together.",
            ),
            "cov_type",
            cov_type,
        )
    if groups is not None and not isinstance(options, Cluster | Bootstrap):
        text = f"cov_type={shown(cov_type)}"
        raise OptionError(
            said(
                Setting("groups"),
                " do not go with ",
                Setting("cov_type", cov_type) if isinstance(cov_type, str) else text,
                "; give 'cluster' or 'bootstrap', or leave one of the two out.",
            )
        )
    if isinstance(options, Bootstrap) and not can_resample(groups):
        raise OptionError(
            said(
                Setting("groups"),
                " are of two kinds, and resamples draw groups of one; give one, or ",
                Setting("cov_type", "cluster"),
                ".",
            )
        )
    of_log = options.correction if isinstance(options, Sandwich) else ""
    if of_log in FOR_FEW_ROWS and problem.loss == "hinge":
        raise OptionError(
            said(
                Setting("cov_type", of_log),
                " does not go with the hinge loss: its bias is known for the log loss "
                "alone; give 'HC3'.",
            )
        )
    if of_log == "nonrobust":
        why: str | Setting = "the hinge loss" if problem.loss == "hinge" else ""
        if problem.loss == "log" and problem.weights is not None:
            why = Setting("weights")
        if why:
            raise OptionError(
                said(
                    Setting("cov_type", "nonrobust"),
                    " does not go with ",
                    why,
                    ": it takes the probabilities of the model for those of the data; "
                    "give 'sandwich'.",
                )
            )
    return options


def _check_for_files(options: CovType, title: str) -> None:
    """Raise `OptionError` for options that need all rows in memory."""
    why = ""
    if isinstance(options, Bootstrap):
        why = "cov_type='bootstrap' fits again and again"
    elif isinstance(options, Sandwich) and options.correction in OF_LEVERAGES:
        why = f"cov_type={options.correction!r} asks for the leverage of every row"
    if why:
        raise OptionError(
            f"{why}, which needs the rows in memory, and does not go with {title}; "
            "give 'sandwich', 'HC1' or 'none'."
        )


def estimated_covariance(
    problem: Problem,
    found: Solution,
    options: Sandwich | Bootstrap,
    scaling: Scaling | None = None,
    groups: Groups | None = None,
    relative_gap: float | None = None,
) -> Estimate:
    """Estimate the covariance of the coefficients.

    The relative gap is that of the fit, where it is known; else it is computed.

    Raises
    ------
    DataError
        If it is larger than the machine's memory, or rows in files cannot be read.
    """
    check_memory(problem)
    if isinstance(problem.X, Elsewhere):
        assert isinstance(options, Sandwich)  # or it was refused
        assert relative_gap is not None
        measured = problem.X.measured
        means, spread = measured.means, measured.spread
        centre = None if scaling or not problem.intercept else centre_of(means, spread)
        if scaling is not None:
            means, spread = scaling.apply(means[None])[0], spread / scaling.scale
        near = problem.loss == "hinge" and relative_gap <= NEAR
        return read_sandwich(
            *(problem, problem.X.home, found, options),
            *(found.dual if near else None, scaling, centre, (means, spread**2)),
        )
    why = Reasons(problem, found, scaling, groups)
    if isinstance(options, Sandwich):
        given = problem, found.beta, found.alpha, options, found.dual, scaling, groups
        return replace(sandwich(*given), why=why.words)
    plain = why.plain
    apart, free = plain.separated, plain.unbounded
    if always := not apart:
        apart, free = certain_in_resamples(problem)
    return replace(
        bootstrap(problem, found, options, scaling=scaling, groups=groups),
        pull=plain.pull,
        why=why.words,
        hardly=why.gain is not None,
        nearer=why.is_nearer_to_zero,
        separated=apart,
        unbounded=free,
        always=always and apart > 0,
        proportional=why.rough_coefficients,
    )


def certain_in_resamples(problem: Problem) -> tuple[int, Matrix | None]:
    """How many rows have an outcome that no resample can doubt; what hangs on them.

    They are the separated rows of the log loss with hardly any penalty, as where all
    rows of a level of a factor have one outcome: they have it in every resample too.
    None of the hinge without weights, which asks what outcome most of such rows have;
    and none where the levels are told apart altogether.

    Examples
    --------
    >>> X = np.repeat([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]], 8, axis=0)
    >>> y = np.where(np.arange(24) % 3 > 0, 1.0, -1.0)
    >>> y[:8] = 1.0
    >>> certain_in_resamples(Problem(X, y, lam=0.1, loss="log"))[0]
    8
    """
    plain = problem.loss == "hinge" and problem.weights is None
    if plain or problem.n < FEW * (problem.p + 1):
        return 0, None
    any_order = np.random.default_rng(0).random(problem.n)
    known = separated_rows(problem, any_order, least=0.0)
    if known is None or known.number == problem.n:
        return 0, None
    return known.number, IdentifiedPart.without(problem, known).unbounded


def check_memory(problem: Problem) -> None:
    """Raise `DataError` if some matrices of shape (k, k) are more than there is."""
    needed = MATRICES * 8 * (problem.p + 1) ** 2
    try:
        there = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):  # not known on this system
        return
    if needed > there:
        raise DataError(
            said(
                f"The covariance of {counted(problem.p, 'coefficient')} takes "
                f"{needed / 2**30:,.0f} GiB and there are {there / 2**30:,.0f}; fit "
                "fewer predictors, or do without: ",
                Setting("cov_type", "none", call="result.with_covariance({})"),
                ".",
            )
        )


def has_rows(problem: Problem) -> bool:
    """Whether the training rows are there; those of a loaded model are not."""
    return isinstance(problem.X, np.ndarray) or hasattr(type(problem.X), "tocsr")


def is_quick(problem: Problem, options: CovType = SANDWICH) -> bool:
    """Whether the sandwich, or the default bootstrap, takes a second or two.

    The sandwich costs ``n p^2 + p^3`` products, for sparse rows ``nnz^2 / n + p^3``.
    """
    n, p = problem.n, problem.p
    if not isinstance(problem.X, Elsewhere) and is_sparse(problem.X):
        size, products = problem.X.nnz, SPARSE_COST * float(problem.X.nnz) ** 2 / n
    else:
        size, products = n * p, float(n) * p * p
    if isinstance(options, Bootstrap) and options.interval == "symmetric":
        products = max(products, PRODUCTS_OF_A_REFIT * float(size) * options.replicates)
    return p <= MOST_COEFFICIENTS and products <= MOST_PRODUCTS


def why_left_out(problem: Problem, cov_type: CovType) -> list[Note]:
    """Why a summary has no standard errors, and how to get them; empty if it has.

    Examples
    --------
    >>> wide = Problem(np.zeros((3, 2000)), np.array([-1.0, 1.0, 1.0]), lam=1.0)
    >>> why_left_out(wide, Sandwich())[0].text
    'Standard errors were not computed, because they would be slow for 3 rows and ...'
    """
    if why := why_none(problem, cov_type):
        return why
    if is_quick(problem, cov_type):
        return []
    words = said(
        "Standard errors were not computed, because they would be slow for "
        f"{counted(problem.n, 'row')} and {counted(problem.p, 'coefficient')}: ",
        InPython(
            "result.conf_int() computes them, and the summary then shows them.",
            "in Python result.conf_int() computes them.",
        ),
    )
    return [Note("standard errors", "note", words.written(), said=words)]


def why_none(problem: Problem, cov_type: CovType) -> list[Note]:
    """Why standard errors cannot be computed; empty if they can.

    Examples
    --------
    >>> small = Problem(np.zeros((3, 2)), np.array([-1.0, 1.0, 1.0]), lam=1.0)
    >>> why_none(small, Sandwich()), why_none(small, None)[0].text[:28]
    ([], 'There are no standard errors')
    """
    if cov_type is None:
        words = NO_COVARIANCE
    elif not (has_rows(problem) or isinstance(problem.X, Elsewhere)):
        words = said(
            "There are no standard errors: they need the training rows, which a saved "
            "model does not hold; ask for them, as by result.bse, before saving."
        )
    else:
        return []
    return [Note("standard errors", "note", words.written(), said=words)]
