"""Members of the classes of the reference, in the order of use."""

import re
from functools import cached_property
from importlib import import_module
from inspect import getattr_static, isclass
from pathlib import Path
from typing import Any

# What is not named here stands under "Fields", in the order of the alphabet.
PURPOSES = {
    "Fit": ["from_formula", "fit", "best_model", "refit"],
    "Make": ["paper", "r_script", "homework", "minibatch", "stratified", "with_seed"],
    "Look": [
        *[
            "summary",
            "params",
            "coef",
            "intercept",
            "params_original",
            "dual_coef",
            "tidy",
            "glance",
        ],
        *["augment", "table", "overall", "by_class", "training_table", "plot"],
        *["plot_coefficients", "notes", "report", "trace"],
        *["apparent", "estimate", "mean", "std_error", "best", "gamma", "lam"],
        *["lambda_path", "lambda_min", "lambda_1se", "by", "marks", "nobs"],
    ],
    "How near to the minimum": [
        *["objective", "dual_objective", "gap", "relative_gap", "converged"],
        *["shortfall", "n_epochs", "n_iter", "n_violations", "n_support", "n_reads"],
        *["block_sizes", "solver_name", "seed"],
    ],
    "Infer": [
        *["bse", "conf_int", "tvalues", "pvalues", "cov_params", "t_test", "wald_test"],
        *["wald_test_terms", "margins", "predictions", "with_covariance", "cov_type"],
        *["covariance", "llf", "llnull", "prsquared", "aic", "bic", "df_model"],
        *["df_resid", "df_effective"],
    ],
    "Predict": [
        *["predict", "predict_proba", "decision_function", "confusion", "thresholds"],
        *["probabilities", "scores", "actual", "reliability", "error_rate"],
        *["error_interval", "n_errors", "errors", "n_classified", "n_undecided"],
        *["n_unlabelled", "positive", "source"],
    ],
    "Save": ["to_sql", "to_json", "write", "as_html", "as_markdown"],
}
# Public for other rooms of the package, not for those who use it.
HIDDEN = {
    *["certificate", "coefficient_cells", "coefficient_table", "counted"],
    *["constants", "displayed", "estimated", "groups", "has_covariance", "lines"],
    *["notes_on_errors", "refinement"],
    *["scaling", "unread", "design", "coding", "held_out", "in_columns", "names"],
    *["of_sample", "offsets", "recorder", "solve", "dropped", "loss", "columns"],
    *["generator", "goals", "has_own_steps", "may_end_early", "name", "options"],
    *["order_name", "reached", "stops", "sums", "to_optimum", "uses_random_numbers"],
    *["words", "averages", "for_columns", "passes", "choices", "scored", "choosing"],
    *["get_metadata_routing", "without_scores", "counts", "visits_rows"],
    "at_chosen_lambda",
}
REFERENCE = Path(__file__).parents[1] / "reference.rst"
Grouped = dict[str, list[tuple[str, str]]]


def listed() -> list[str]:
    """Names of the reference, without that of the package."""
    text = REFERENCE.read_text(encoding="utf-8")
    return re.findall(r"^   ([A-Za-z_][\w.]*)$", text, flags=re.MULTILINE)


def members_of_classes() -> dict[str, Grouped]:
    """By the full name of each class: directives and names of members, by purpose."""
    found = {f"pegasos_stats.{name}": _named(name) for name in listed()}
    return {name: _grouped(thing) for name, thing in found.items() if isclass(thing)}


def _named(name: str) -> Any:
    *module, last = f"pegasos_stats.{name}".split(".")
    return getattr(import_module(".".join(module)), last)


def _grouped(cls: type) -> Grouped:
    left = {name: kind for name in _public(cls) if (kind := _directive(cls, name))}
    grouped: Grouped = {}
    for purpose, names in PURPOSES.items():
        here = [(left.pop(name), name) for name in names if name in left]
        grouped.update({purpose: here} if here else {})
    if left:
        purpose = "Members" if not grouped else "Further"
        grouped[purpose] = [(kind, name) for name, kind in sorted(left.items())]
    return grouped


def _public(cls: type) -> set[str]:
    found = {name for name in dir(cls) if not name.startswith("_")} - HIDDEN
    return {name for name in found if not name.endswith("_request")}


def _directive(cls: type, name: str) -> str:
    """The directive for a member; none for the default of a field."""
    if _owner(cls, name).split(".")[0] in {"builtins", "sklearn"}:
        return ""
    member = getattr_static(cls, name)
    if isinstance(member, (property, cached_property)):
        return "autoattribute"
    return "automethod" if callable(getattr(cls, name)) else ""


def _owner(cls: type, name: str) -> str:
    return next(base.__module__ for base in cls.__mro__ if name in vars(base))
