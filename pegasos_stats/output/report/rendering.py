"""Render reports from the template as Markdown, or as HTML with markdown-it.

All values are escaped, except the output of other templates and values marked ``safe``.
"""

import base64
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, partial
from html import escape
from importlib.resources import files
from io import StringIO
from typing import TYPE_CHECKING
from urllib.parse import quote

import numpy as np

from pegasos_stats.errors import DependencyError, counted, plain
from pegasos_stats.models import summaries
from pegasos_stats.models.inference.options import chosen_options
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.notes import NOT_CONCAVE, UNCERTIFIED, above, factor_levels
from pegasos_stats.models.results import score_at
from pegasos_stats.output.plotting.curves import Fitted, draw_roc, draw_scores
from pegasos_stats.output.plotting.style import dress, pyplot
from pegasos_stats.output.report.facts import WRITERS, ReportFacts
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.options import changed_values
from pegasos_stats.studies.cross_validation import end_of_path
from pegasos_stats.tables import markdown, session_info

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token
    from markupsafe import Markup

Escape = Callable[[str], str]

PAGE_MARK = 'content="pegasos_stats"'  # in the head of HTML pages
MARKDOWN_MARK = "<!-- written by pegasos_stats -->"  # first line of Markdown files
FIGURE_HTML = (
    '<figure><img src="{uri}" alt="{caption}">'
    "<figcaption>{caption}</figcaption></figure>"
)
TABLE_HTML = '<div class="scroll" role="group" tabindex="0" aria-label="Table"><table>'
CLASSES = {"svm": "SVM", "logit": "Logit", "kernel_svm": "KernelSVM"}
PICTURE_WIDTH, PICTURE_HEIGHT = 5.2, 3.7  # inches; small, for legible text on phones
ROC_SIDE = 4.2  # inches
MAX_BARS_SHOWN = 20  # coefficients in a figure
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*(?:=\w+(?:\.\w+)*)?")
# Fixed names and no date make the SVG reproducible.
SVG_SETTINGS = {"svg.hashsalt": "pegasos_stats", "svg.fonttype": "path"}
NO_DATE = {"Date": None, "Creator": None}


@cache
def templates(escape: Escape) -> "Environment":
    """Load the templates of the reports.

    Parameters
    ----------
    escape : callable
        Function that escapes the markup characters of a text. It is applied to every
        value, except output of templates and values marked ``safe``.

    Raises
    ------
    DependencyError
        If jinja2 or markdown-it-py is not installed.

    Examples
    --------
    >>> from html import escape
    >>> templates(escape).from_string("<b>{{ name }}</b>").render(name="a < b")
    '<b>a &lt; b</b>'
    """
    try:
        import markdown_it  # noqa: F401
        from jinja2 import Environment, PackageLoader, StrictUndefined
        from markupsafe import Markup
    except ImportError:
        raise DependencyError(
            "Reports need jinja2 and markdown-it-py, which are not both installed; run "
            "pip install 'pegasos_stats[report]'."
        ) from None

    def escaped(value: object) -> Markup:
        return value if isinstance(value, Markup) else Markup(escape(str(value)))

    environment = Environment(
        loader=PackageLoader("pegasos_stats.output.report"),
        autoescape=True,
        finalize=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        **{write.__name__: write for write in WRITERS},
        "whole": "{:,}".format,
        "is_finite": math.isfinite,
    }
    environment.globals |= {
        "above": above,
        "factor_levels": factor_levels,
        "counted": counted,
        "end_of_path": end_of_path,
        "max_bars": MAX_BARS_SHOWN,
        "method_lines": summaries.method_lines,
        "fenced": lambda *text: Markup(_fenced(*text)),
        "python_lines": python_lines,
        "uncertified": UNCERTIFIED,
        "not_concave": NOT_CONCAVE,
        "zip": zip,
    }
    return environment


@dataclass(frozen=True)
class Page:
    """Title, contents and figures of a report.

    Attributes
    ----------
    title : str
    facts : ReportFacts
    figures : dict of str
        SVG by name, with text as outlines, so that no font is needed.
    command : str
        The command line, if it created the fit.
    csv : str
        Name of the accompanying CSV file, if there is one.
    """

    title: str
    facts: ReportFacts
    figures: Mapping[str, str]
    command: str = ""
    csv: str = ""

    def to_markdown(self) -> str:
        """Return the report as Markdown with embedded figures."""
        text = self._rendered("![{caption}]({uri})", markdown, lambda tag: "")
        return re.sub(r"\n{3,}", "\n\n", f"{MARKDOWN_MARK}\n\n{text}").rstrip() + "\n"

    def to_html(self) -> str:
        """Return the report as a self-contained HTML page."""
        text = self._rendered(FIGURE_HTML, escape, lambda tag: f"\n{tag}\n")
        return page(self.title, _parser().render(text))

    def _worded(self, message: str) -> str:
        """Return a message in the notation of Python; subclasses may change it."""
        return message

    def _rendered(self, form: str, escape: Escape, tag: Escape) -> str:
        """Render the template, with functions for pictures and HTML tags."""
        template = templates(markdown).get_template("report.md")

        def picture(name: str, caption: str) -> str:
            svg = base64.b64encode(self.figures[name].encode("utf-8")).decode("ascii")
            uri = f"data:image/svg+xml;base64,{svg}"
            return form.format(uri=uri, caption=escape(caption))

        return template.render(
            vars(self),
            link=quote(os.fsencode(self.csv)),
            picture=picture,
            tag=tag,
            wording=lambda message: _options_as_code(self._worded(message)),
            versions=session_info().versions,
            date=date.today().isoformat(),
        )


def _options_as_code(message: str) -> "Markup":
    r"""Write a message as Markdown, with the options of a command as code.

    Examples
    --------
    >>> print(_options_as_code("a < b: use --lam=0.1, or --weights=balanced."))
    a \< b: use `--lam=0.1`, or `--weights=balanced`.
    """
    from markupsafe import Markup

    return Markup(OPTION.sub(r"`\g<0>`", markdown(message)))


def _fenced(text: str, language: str = "") -> str:
    r"""Enclose code in more backticks than it contains, inline or as a block.

    Examples
    --------
    >>> _fenced("a `b`"), _fenced("a = 1", "python")
    ('`` a `b` ``', '```python\na = 1\n```')
    """
    longest = max(map(len, re.findall("`+", text)), default=0)
    if language:
        ticks = "`" * max(3, longest + 1)
        return f"{ticks}{language}\n{text}\n{ticks}"
    ticks, room = "`" * (longest + 1), " " * (longest > 0)
    return f"{ticks}{room}{' '.join(text.splitlines())}{room}{ticks}"


@cache
def _parser() -> "MarkdownIt":
    """Return a Markdown parser with scrollable tables and focusable code."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.push("heads", _heads)
    parser.add_render_rule("table_open", lambda *_: TABLE_HTML)
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    parser.add_render_rule("fence", _fence)
    return parser


def _heads(state: "StateCore") -> None:
    """Turn the first cell of each row into a header; remove empty header rows."""
    tokens, output = state.tokens, list["Token"]()
    for at, token in enumerate(tokens):
        if token.type == "th_open":
            token.attrSet("scope", "col")
        elif token.type == "tr_open" and tokens[at + 1].type == "td_open":
            tokens[at + 1].tag = tokens[at + 3].tag = "th"
            tokens[at + 1].attrSet("scope", "row")
        output.append(token)
        if token.type == "thead_close":
            start = max(j for j, one in enumerate(output) if one.type == "thead_open")
            if not any(one.content for one in output[start:]):
                del output[start:]
    state.tokens = output


def _fence(_: object, tokens: "Sequence[Token]", at: int, *__: object) -> str:
    token = tokens[at]
    code = escape(token.content.removesuffix("\n"))
    return f'<pre class="{escape(token.info)}" tabindex="0"><code>{code}</code></pre>\n'


def page(title: str, body: str, more_style: str = "") -> str:
    """Embed an HTML body in a page with the style of the reports.

    Parameters
    ----------
    title : str
    body : str
        HTML.
    more_style : str
        Additional CSS.
    """
    whole = templates(escape).get_template("page.html")
    return whole.render(title=title, body=body, more_style=more_style)


def beginning() -> str:
    """Return the first characters of every page, up to the name of the package.

    Examples
    --------
    >>> beginning()[:15], beginning()[-23:]
    ('<!DOCTYPE html>', 'content="pegasos_stats"')
    """
    page = files("pegasos_stats.output.report") / "templates" / "page.html"
    before, sign, _ = page.read_text(encoding="utf-8").partition(PAGE_MARK)
    return before + sign


class Name(str):
    """A name in Python code; its repr omits the quotes."""

    __repr__ = str.__str__


def python_lines(facts: ReportFacts) -> str:
    """Return Python code that repeats the fit, for data in memory."""
    result = facts.result
    function = "logit" if facts.result.problem.loss == "log" else "svm"
    if not isinstance(result, LinearResults):
        function = "kernel_svm"
    rows: list[object] = [Name("y"), Name("X")]
    model = CLASSES[function]
    if result.design.formula is not None:
        model, rows = function, [result.design.formula, Name("train")]
    of_model, of_fit = model_arguments(facts), fit_arguments(result)
    usual = isinstance(result.solver, Optimum) and not solver_options(result)
    solver = [] if usual else [solver_call(result)]
    validation, of_report = validation_lines(facts, solver), report_arguments(facts)
    validation = [*validation, *optimism_lines(facts)]
    return "\n".join(
        [
            "import pegasos_stats as ps",
            "",
            "# First load the data of this report under the names used below.",
            f"model = ps.{model}({', '.join([*map(repr, rows), as_code(of_model)])})",
            f"result = model.fit({', '.join([*solver, as_code(of_fit)])})",
            "print(result.summary())",
            *validation,
            f'result.report(path="report.html", {as_code(of_report)})',
        ]
    ).replace(", )", ")")


def validation_lines(facts: ReportFacts, solver: Sequence[str]) -> list[str]:
    """Return Python code that repeats the cross-validation, if there is one."""
    if (study := facts.validation) is None:
        return []
    folds = study.folds
    options: dict[str, object] = {"folds": folds.k, "seed": folds.seed}
    if folds.seed is None:
        options = {"folds": Name("folds"), "seed": study.seed}
    if folds.seed is not None and folds.groups is not None:
        options["groups"] = facts.name_of_groups or Name("groups")
    if folds.seed is not None and folds.repeats > 1:
        options["repeats"] = folds.repeats
    call = ", ".join(["model", *solver, as_code(options)])
    return [f"validation = ps.cross_validate({call})"]


def optimism_lines(facts: ReportFacts) -> list[str]:
    """Return Python code that repeats the optimism bootstrap, if there is one."""
    if (study := facts.optimism) is None:
        return []
    options: dict[str, object] = {"seed": study.seed}
    if cuts := [n.split("net_benefit_")[1] for n in study.names if "net_benefit_" in n]:
        options["thresholds"] = [*map(float, cuts)]
    if study.model.problem.loss != "log":
        options["calibrate"] = True
    if not math.isnan(study.threshold):
        target = study.names[-1]
        options |= {"cost": Name("cost")} if target == "cost" else {"metric": target}
    if (groups := study.groups) is not None:
        options["groups"] = groups.names[0] if groups.by_name else Name("groups")
    call = f"model, {study.n_resamples}, {as_code(options)}"
    return [f"validation = ps.validate({call})"]


def report_arguments(facts: ReportFacts) -> dict[str, object]:
    """Return the arguments of ``result.report()`` that repeat the report."""
    table, cost = facts.rows.table, None
    if (target := facts.cost) is not None:
        negative = table.levels[facts.is_first]
        cost = {plain(table.positive): target.false_negative}
        cost[plain(negative)] = target.false_positive
    arguments = {
        "test": Name("test") if facts.rows.name == "test" else None,
        "validation": Name("validation")
        if facts.validation or facts.optimism
        else None,
        "threshold": facts.threshold,
        "cost": cost,
        "positive": table.positive if facts.is_first else None,
        "title": facts.title,
        "image_shape": facts.image_shape,
        "row_names": facts.row_names or None,
    }
    return {name: value for name, value in arguments.items() if value is not None}


def as_code(arguments: Mapping[str, object]) -> str:
    """Write keyword arguments as Python code."""
    return ", ".join(f"{name}={plain(value)!r}" for name, value in arguments.items())


def model_arguments(facts: ReportFacts) -> dict[str, object]:
    """Return the keyword arguments of the model that differ from their defaults."""
    result, problem, arguments = facts.result, facts.result.problem, dict[str, object]()
    coding, counts = facts.coding or result.coding, result.counted
    offset = result.offsets
    is_usual = problem.lam_rule == "1/n" and problem.lam == 1.0 / problem.n_weighed
    if problem.has_firth:
        arguments["penalty"] = problem.penalty
    elif not is_usual and problem.lam_rule not in ("ml", "no ml"):
        arguments["lam"] = problem.lam if result.lambda_path is None else "cv"
    if problem.loss not in ("hinge", "log"):
        arguments["loss"] = problem.loss
    if not problem.intercept:
        arguments["intercept"] = False
    if isinstance(problem, KernelProblem):
        arguments |= {"kernel": problem.kernel.name, **problem.kernel.parameters}
    if coding.rule != "factor":
        levels = tuple(map(plain, coding.levels))
        arguments["coding"] = levels if coding.rule == "explicit" else coding.rule
    if problem.weights is not None:
        arguments["weights"] = "balanced" if problem.balanced else Name("weights")
    if counts is not None:
        arguments["freq_weights"] = counts.column or Name("freq_weights")
    if offset is not None and (offset.column or offset.given):
        arguments["offset"] = offset.column or Name("offset")
    by_default = (
        isinstance(problem, KernelProblem) and problem.kernel.name != "precomputed"
    )
    if by_default != (standardize := result.scaling is not None):
        arguments["standardize"] = standardize
    if result.design.functions:
        arguments["functions"] = {name: Name(name) for name in result.design.functions}
    return arguments


def fit_arguments(result: Fitted) -> dict[str, object]:
    """Return the arguments of ``fit`` for refinement, groups and covariance."""
    arguments = dict[str, object]()
    if result.refinement is not None:
        arguments["refine"] = result.refinement.tol
    if not isinstance(result, LinearResults):
        return arguments
    groups = result.groups
    if groups is not None:
        names = groups.names if groups.by_name else [Name("groups")]
        arguments["groups"] = names[0] if len(names) == 1 else list(names)
        if groups.strata_number:
            arguments["strata"] = groups.strata_name or Name("strata")
            if groups.numbers == (result.problem.n,):  # each row is a group
                del arguments["groups"]
    if result.problem.penalty == "flic":
        return arguments
    if result.cov_type is None:
        arguments["cov_type"] = "none"
    elif result.cov_type != chosen_options("default", result.problem, result.groups):
        arguments["cov_type"] = Name(f"ps.{result.cov_type!r}")
    return arguments


def solver_options(result: Fitted) -> dict[str, object]:
    """Return the solver options that differ from their defaults, and the seed."""
    options = changed_values(result.solver.with_seed(result.seed))
    return {k: Name(k) if isinstance(v, np.ndarray) else v for k, v in options.items()}


def solver_call(result: Fitted) -> str:
    """Write the call of the solver, with the seed and the non-default options.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> solver_call(ps.svm("digit ~ .", train, lam=1.0).fit(ps.Pegasos(seed=443)))
    'ps.Pegasos(epochs=20, seed=443)'
    """
    return f"ps.{result.solver.name}({as_code(solver_options(result))})"


def draw_svg(
    draw: Callable[..., object],
    width: float = PICTURE_WIDTH,
    height: float = PICTURE_HEIGHT,
) -> str:
    """Draw on new axes of this size in inches and return the SVG.

    Raises
    ------
    DependencyError
        If matplotlib is not installed.

    Examples
    --------
    >>> draw_svg(lambda ax: ax.plot([1, 2]))[:4]
    '<svg'
    """
    with pyplot().rc_context(SVG_SETTINGS):
        from matplotlib.figure import Figure  # not registered with pyplot

        figure = Figure(figsize=(width, height), layout="constrained")
        text = StringIO()
        draw(ax=dress(figure.subplots()))
        figure.savefig(text, format="svg", metadata=NO_DATE)
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


def figures_of(facts: ReportFacts) -> dict[str, str]:
    """Draw the figures of a report, by name; undefined figures are omitted.

    Raises
    ------
    DependencyError
        If matplotlib is not installed.
    """
    rows, result, cut = facts.rows, facts.result, facts.threshold
    table, figures, square = rows.table, dict[str, str](), (ROC_SIDE, ROC_SIDE)
    n = min(len(getattr(result, "coef", ())), MAX_BARS_SHOWN)
    if isinstance(result, LinearResults) and n:
        lines = n + 2 * len(result.reference_levels)  # a heading and a reference each
        size, plot = (PICTURE_WIDTH, max(2.2, 0.22 * lines + 1.2)), result.plot
        figures["coefficients"] = draw_svg(partial(plot.coefficients, n), *size)
        if shape := facts.image_shape:
            side, image = (PICTURE_WIDTH,) * 2, partial(plot.coefficient_image, shape)
            figures["image"] = draw_svg(image, *side)
    if (folds := facts.validation) and rows.name == "out-of-fold" and rows.auc:
        curves = partial(folds._draw_roc, table.levels, facts.is_first)
        figures["roc"] = draw_svg(curves, *square)
    elif rows.scores is not None and rows.auc is not None:
        curve = partial(draw_roc, table, result, line={}, threshold=cut)
        figures["roc"] = draw_svg(curve, *square)
    start = 0.0 if cut is None else score_at(cut, result.problem)
    if rows.scores is not None and table.n_classified and math.isfinite(start):
        share = result.problem.loss == "log"
        at = 0.5 if cut is None and share else cut
        bars = partial(draw_scores, table, result, threshold=at, are_shares=share)
        figures["scores"] = draw_svg(partial(bars, line={}))
    studies = {"calibration": facts.calibration, "instability": facts.optimism}
    for name, study in {"precision_recall": facts.precision_recall, **studies}.items():
        if study is not None:
            figures[name] = draw_svg(study.plot, *square)
    return figures
