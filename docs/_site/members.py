"""The reference: objects of a topic on one page, their members in the order of use.

``.. objects::`` lists names, each of which becomes a section. A member that an earlier
class of the page has too is described there, and named here.
"""

import re
from functools import cached_property
from importlib import import_module
from inspect import getattr_static, isclass
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

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
            "reference_levels",
            "dual_coef",
            "tidy",
            "glance",
        ],
        *["augment", "table", "overall", "by_class", "training_table", "plot"],
        *["plot_coefficients", "plot_roc", "smooth", "notes", "report"],
        *["coefficients", "odds_ratios", "effect", "trace"],
        *["error_rate", "n_errors", "errors", "n_classified", "n_undecided"],
        *["n_unlabelled", "positive", "source"],
        *["apparent", "estimate", "mean", "std_error", "best", "gamma", "lam"],
        *["lambda_path", "lambda_min", "lambda_1se", "by", "marks", "nobs", "model"],
    ],
    "How near to the minimum": [
        *["objective", "dual_objective", "gap", "relative_gap", "relative_gap_"],
        *["converged", "shortfall", "n_epochs", "n_iter", "n_violations", "n_support"],
        *["n_reads", "solver_name", "seed", "least_objective", "lower_bound"],
    ],
    "Infer": [
        *["bse", "conf_int", "tvalues", "pvalues", "cov_params", "t_test", "wald_test"],
        "error_interval",
        *["wald_test_terms", "margins", "predictions", "with_covariance", "cov_type"],
        *["covariance", "llf", "llnull", "prsquared", "aic", "bic", "df_model"],
        *["df_resid", "df_effective", "deviance", "null_deviance", "df_null", "llr"],
        *["llr_pvalue", "f_test", "vif", "get_influence", "resid_deviance"],
        *["resid_pearson", "resid_response", "hat_matrix_diag", "cooks_distance"],
        *["resid_studentized", "penalty_shift"],
    ],
    "Predict": [
        *["predict", "predict_proba", "predict_log_proba", "decision_function"],
        *["get_prediction", "fittedvalues", "predicted", "se", "summary_frame"],
        "pred_table",
        *["confusion", "roc", "plot_roc", "thresholds"],
        *["probabilities", "scores", "actual", "reliability"],
    ],
    "Save": [
        *["to_frame", "to_html", "to_latex", "to_markdown", "to_sql", "to_json"],
        *["write_proof", "write", "to_html", "to_markdown"],
    ],
}
# Public for other modules of the package, not for its users.
HIDDEN = {
    *["certificate", "coefficient_cells", "coefficient_table", "counted"],
    *["constants", "null_space", "estimated", "groups", "has_covariance", "lines"],
    *["notes_on_errors", "refinement", "are_predictions", "profiled"],
    *[
        "scaling",
        "unread",
        "design",
        "coding",
        "held_out",
        "with_start_in_column_order",
        "names",
    ],
    *["of_sample", "offsets", "recorder", "solve", "dropped", "loss", "columns"],
    *["generator", "goals", "has_own_steps", "may_end_early", "name", "options"],
    *["order_name", "reached", "stops", "to_optimum", "uses_random_numbers"],
    *["words", "averages", "passes", "choices", "scored", "choosing"],
    *["get_metadata_routing", "without_scores", "counts", "visits_rows"],
    *["at_chosen_lambda", "as_text", "described", "pairs", "to_json_dict"],
    *["Pegasos.converged", "LabelCoding.probabilities"],
    *["OptimalityBounds.certified", "ContrastTests.estimates", "ContrastTests.frame"],
    *["ContrastTests.headings", "is_pinned", "is_resampled"],
    *["SVMClassifier.model", "LogitClassifier.model", "KernelSVMClassifier.model"],
}
MANY = 15  # members, from which a class has a list of them
BARE = {"Optimum", "Results", "SDCA"}  # their docstrings say it all
SHORT = {  # titles of what users reach by another name
    "output.plotting.result_plots.LinearPlots": "result.plot",
    "tables.Summary": "Summary",
    "solvers.solver_runs.OptimalityBounds": "OptimalityBounds",
    "models.inference.wald.ContrastTests": "ContrastTests",
    "models.inference.wald.JointTest": "JointTest",
    "metrics.caret.ConfusionReport": "ConfusionReport",
    "models.effects.Margins": "Margins",
    "models.effects.RowPredictions": "RowPredictions",
    "models.diagnostics.Influence": "Influence",
    "models.diagnostics.LikelihoodRatioTest": "LikelihoodRatioTest",
    "datasets.load_digits56": "datasets.load_digits56",
}
REFERENCE = Path(__file__).parents[1] / "reference"
Grouped = dict[str, list[tuple[str, str]]]


def setup(app: Sphinx) -> dict[str, bool]:
    """Make known ``objects``."""
    app.add_directive("objects", Objects)
    # Before numpydoc, which reads the sections.
    app.connect("autodoc-process-docstring", _without_object, priority=400)
    return {"parallel_read_safe": True}


def _without_object(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]
) -> None:
    """Remove the argument ``result`` of a function that is shown as a method."""
    starts = [i for i, line in enumerate(lines) if line.startswith("result : ")]
    if what != "method" or not starts:
        return
    end = starts[0] + 1
    while lines[end].startswith(" "):
        end += 1
    del lines[starts[0] : end]


class Objects(SphinxDirective):
    """A section for each object named, with its members in the order of use."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Sections, which autodoc fills."""
        described = self.env.temp_data.setdefault("described members", {})
        parts = [_section(name.strip(), described) for name in self.content]
        text = "\n\n".join(parts)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def _section(name: str, described: dict[int, str]) -> str:
    title, thing = SHORT.get(name, name), _named(name)
    parts = [title, "~" * len(title), ""]
    if not isclass(thing):
        return "\n".join([*parts, f".. autofunction:: pegasos_stats.{name}"])
    parts += [f".. autoclass:: pegasos_stats.{name}", "   :no-members:", ""]
    parts += _overview(name, thing)
    before: dict[str, list[str]] = {}
    for purpose, members in [] if name in BARE else _grouped(thing).items():
        here = []
        for directive, member in members:
            known = described.setdefault(_identity(thing, member), title)
            if known == title:
                here.append(f".. {directive}:: pegasos_stats.{name}.{member}")
            else:
                before.setdefault(known, []).append(f"``{member}``")
        if here:
            parts += [f".. rubric:: {purpose}", "   :heading-level: 4", "", *here, ""]
    for known, names in before.items():
        parts += [f"As for ``{known}``: {', '.join(names)}.", ""]
    return "\n".join(parts)


def _overview(name: str, cls: type) -> list[str]:
    """Links to the members, by purpose, where they are many."""
    grouped = {} if name in BARE else _grouped(cls)
    if sum(map(len, grouped.values())) < MANY:
        return []
    lines = []
    for purpose, members in grouped.items():
        links = (f":obj:`~pegasos_stats.{name}.{member}`" for _, member in members)
        lines.append(f"| *{purpose}*: {', '.join(links)}")
    return [*lines, ""]


def _identity(cls: type, name: str) -> int:
    member = getattr_static(cls, name)
    return id(getattr(member, "__func__", member))


def listed() -> list[str]:
    """Names of the reference, without that of the package."""
    pages = [path.read_text(encoding="utf-8") for path in REFERENCE.glob("*.rst")]
    blocks = re.findall(r"^\.\. objects::\n\n((?:   .*\n)+)", "\n".join(pages), re.M)
    return [line.strip() for block in blocks for line in block.splitlines()]


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
    hidden = {name for name in found if f"{cls.__name__}.{name}" in HIDDEN}
    return {name for name in found - hidden if not name.endswith("_request")}


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
