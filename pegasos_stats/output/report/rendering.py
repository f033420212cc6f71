"""The template of reports as a file of Markdown, or as one HTML page by markdown-it.

Whatever is put into a template is escaped, but for what a template wrote or calls
``safe``.
"""

import base64
import math
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
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
from pegasos_stats.models.results import score_at
from pegasos_stats.output.cli.options import as_options
from pegasos_stats.output.plotting.curves import Fitted, draw_margins, draw_roc
from pegasos_stats.output.plotting.style import Axes, dress, pyplot
from pegasos_stats.output.report.facts import WRITERS, ReportFacts
from pegasos_stats.session import session_info
from pegasos_stats.solvers.kernel_problem import KernelProblem
from pegasos_stats.solvers.optimum import Optimum
from pegasos_stats.solvers.options import given
from pegasos_stats.studies.cross_validation import end_of_path
from pegasos_stats.tables import markdown

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token


Escape = Callable[[str], str]

SIGN = 'content="pegasos_stats"'  # in the head of each HTML page
MARK = "<!-- written by pegasos_stats -->"  # what each Markdown file begins with
FIGURE = (
    '<figure><img src="{uri}" alt="{caption}">'
    "<figcaption>{caption}</figcaption></figure>"
)
TABLE = '<div class="scroll" role="group" tabindex="0" aria-label="Table"><table>'


@cache
def templates(escape: Escape) -> "Environment":
    """The templates of the reports, loaded when first needed.

    Parameters
    ----------
    escape : callable
        Writes a string so that no character of it is a mark of the format. It is
        applied to every value, except what a template wrote or calls ``safe``.

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

    made = Environment(
        loader=PackageLoader("pegasos_stats.output.report"),
        autoescape=True,
        finalize=escaped,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters |= {
        **{write.__name__: write for write in WRITERS},
        "whole": "{:,}".format,
        "is_finite": math.isfinite,
    }
    made.globals |= {
        "above": summaries.above,
        "factor_levels": summaries.factor_levels,
        "counted": counted,
        "end_of_path": end_of_path,
        "method_lines": summaries.method_lines,
        "fenced": lambda *text: Markup(_fenced(*text)),
        "python_lines": python_lines,
        "title_of": summaries.title_of,
        "uncertified": summaries.UNCERTIFIED,
        "not_concave": summaries.NOT_CONCAVE,
        "zip": zip,
    }
    return made


@dataclass(frozen=True)
class Page:
    """What is written: the facts of a report with their figures.

    Attributes
    ----------
    title : str
    facts : ReportFacts
    figures : dict of str
        SVG by name, whose text is drawn as outlines; no font is needed.
    command : str
        The command line, if that is where the fit was made.
    csv : str
        Name of the CSV file beside the page, if there is one.
    """

    title: str
    facts: ReportFacts
    figures: Mapping[str, str]
    command: str = ""
    csv: str = ""

    def as_markdown(self) -> str:
        """Write Markdown as pandoc reads it, with its figures as data."""
        text = self._rendered("![{caption}]({uri})", markdown, lambda tag: "")
        return re.sub(r"\n{3,}", "\n\n", f"{MARK}\n\n{text}").rstrip() + "\n"

    def as_html(self) -> str:
        """Write a page that loads nothing."""
        text = self._rendered(FIGURE, escape, lambda tag: f"\n{tag}\n")
        return page(self.title, _parser().render(text))

    def _rendered(self, form: str, escape: Escape, tag: Escape) -> str:
        """Fill the template, which calls for pictures and for tags of HTML."""
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
            worded=as_options if self.command else str,
            versions=session_info().versions,
            date=date.today().isoformat(),
        )


def _fenced(text: str, language: str = "") -> str:
    r"""Code between more backticks than it holds, in a line or in lines of a language.

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
    """Markdown with tables that scroll, and code that the keyboard reaches."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.push("heads", _heads)
    parser.add_render_rule("table_open", lambda *_: TABLE)
    parser.add_render_rule("table_close", lambda *_: "</table></div>\n")
    parser.add_render_rule("fence", _fence)
    return parser


def _heads(state: "StateCore") -> None:
    """Make the first cell of each row a head; take out heads that are empty."""
    tokens, kept = state.tokens, list["Token"]()
    for at, token in enumerate(tokens):
        if token.type == "th_open":
            token.attrSet("scope", "col")
        elif token.type == "tr_open" and tokens[at + 1].type == "td_open":
            tokens[at + 1].tag = tokens[at + 3].tag = "th"
            tokens[at + 1].attrSet("scope", "row")
        kept.append(token)
        if token.type == "thead_close":
            start = max(j for j, one in enumerate(kept) if one.type == "thead_open")
            if not any(one.content for one in kept[start:]):
                del kept[start:]
    state.tokens = kept


def _fence(_: object, tokens: "Sequence[Token]", at: int, *__: object) -> str:
    token = tokens[at]
    code = escape(token.content.removesuffix("\n"))
    return f'<pre class="{escape(token.info)}" tabindex="0"><code>{code}</code></pre>\n'


def page(title: str, body: str, more_style: str = "") -> str:
    """Put a body of HTML into a page of its own, in the look of the reports.

    Parameters
    ----------
    title : str
    body : str
        HTML.
    more_style : str
        CSS beside that of the reports.
    """
    whole = templates(escape).get_template("page.html")
    return whole.render(title=title, body=body, more_style=more_style)


def beginning() -> str:
    """What every page begins with, up to the name of the package.

    Examples
    --------
    >>> beginning()[:15], beginning()[-23:]
    ('<!DOCTYPE html>', 'content="pegasos_stats"')
    """
    page = files("pegasos_stats.output.report") / "templates" / "page.html"
    before, sign, _ = page.read_text(encoding="utf-8").partition(SIGN)
    return before + sign


class Name(str):
    """A name of Python code, which its repr has without quotes."""

    __repr__ = str.__str__


CLASSES = {"svm": "SVM", "logit": "Logit", "kernel_svm": "KernelSVM"}


def python_lines(facts: ReportFacts) -> str:
    """Lines that fit the model again, from data that are in memory."""
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
    values = (*rows, *of_model.values(), *solver_options(result).values())
    named = [
        value
        for value in (*values, *of_fit.values())
        if isinstance(value, Name) and value.isidentifier()
    ]
    return "\n".join(
        [
            "import pegasos_stats as ps",
            "",
            f"# {', '.join(dict.fromkeys(named))}: as they were given to the fit",
            f"model = ps.{model}({', '.join([*map(repr, rows), written(of_model)])})",
            f"result = model.fit({', '.join([*solver, written(of_fit)])})",
            "print(result.summary())",
        ]
    ).replace(", )", ")")


def written(arguments: Mapping[str, object]) -> str:
    """Arguments by name, as Python code."""
    return ", ".join(f"{name}={plain(value)!r}" for name, value in arguments.items())


def model_arguments(facts: ReportFacts) -> dict[str, object]:
    """Arguments of the model by name; defaults are left out."""
    result, problem, found = facts.result, facts.result.problem, dict[str, object]()
    coding, counts = facts.coding or result.coding, result.counted
    offset = result.offsets
    is_usual = problem.lam_rule == "1/n" and problem.lam == 1.0 / problem.n_weighed
    if problem.has_firth:
        found["penalty"] = problem.penalty
    elif not is_usual and problem.lam_rule not in ("ml", "no ml"):
        found["lam"] = problem.lam if result.lambda_path is None else "cv"
    if problem.loss not in ("hinge", "log"):
        found["loss"] = problem.loss
    if not problem.intercept:
        found["intercept"] = False
    if isinstance(problem, KernelProblem):
        found |= {"kernel": problem.kernel.name, **problem.kernel.parameters}
    if coding.rule != "factor":
        levels = tuple(map(plain, coding.levels))
        found["coding"] = levels if coding.rule == "explicit" else coding.rule
    if problem.weights is not None:
        found["weights"] = "balanced" if problem.balanced else Name("weights")
    if counts is not None:
        found["freq_weights"] = counts.column or Name("freq_weights")
    if offset is not None and (offset.column or offset.given):
        found["offset"] = offset.column or Name("offset")
    by_default = (
        isinstance(problem, KernelProblem) and problem.kernel.name != "precomputed"
    )
    if by_default != (standardize := result.scaling is not None):
        found["standardize"] = standardize
    if result.design.functions:
        found["functions"] = {name: Name(name) for name in result.design.functions}
    return found


def fit_arguments(result: Fitted) -> dict[str, object]:
    """Arguments of ``fit`` but for the solver: the refinement, groups and errors."""
    found = dict[str, object]()
    if result.refinement is not None:
        found["refine"] = result.refinement.tol
    if not isinstance(result, LinearResults):
        return found
    if result.groups is not None:
        names = result.groups.names if result.groups.by_name else [Name("groups")]
        found["groups"] = names[0] if len(names) == 1 else list(names)
    if result.problem.penalty == "flic":
        return found
    if result.cov_type is None:
        found["cov_type"] = "none"
    elif result.cov_type != chosen_options("default", result.problem, result.groups):
        found["cov_type"] = Name(f"ps.{result.cov_type!r}")
    return found


def solver_options(result: Fitted) -> dict[str, object]:
    """Options of the solver that are not the default, with the seed of the run."""
    options = given(result.solver.with_seed(result.seed))
    return {k: Name(k) if isinstance(v, np.ndarray) else v for k, v in options.items()}


def solver_call(result: Fitted) -> str:
    """The solver as a call, with the seed of the run and what is not the default.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> solver_call(ps.svm("digit ~ .", train, lam=1.0).fit(ps.Pegasos(seed=443)))
    'ps.Pegasos(epochs=20, seed=443)'
    """
    return f"ps.{result.solver.name}({written(solver_options(result))})"


WIDTH, HEIGHT = 5.2, 3.7  # inches; small, so that letters are large on a phone
SQUARE = 4.2  # inches of the ROC curve
MOST = 20  # coefficients
LINE = 0.22  # inches of a coefficient

# Without a date and with fixed names the same figure is the same text.
SETTINGS = {"svg.hashsalt": "pegasos_stats", "svg.fonttype": "path"}
NO_DATE = {"Date": None, "Creator": None}


def drawn(
    draw: Callable[["Axes"], object], width: float = WIDTH, height: float = HEIGHT
) -> str:
    """Draw on empty axes of matplotlib of this size in inches; the figure as SVG.

    Raises
    ------
    DependencyError
        If matplotlib is not installed.

    Examples
    --------
    >>> drawn(lambda ax: ax.plot([1, 2]))[:4]
    '<svg'
    """
    with pyplot().rc_context(SETTINGS):
        from matplotlib.figure import Figure  # one that no window knows of

        figure = Figure(figsize=(width, height), layout="constrained")
        text = StringIO()
        draw(dress(figure.subplots()))
        figure.savefig(text, format="svg", metadata=NO_DATE)
    svg = text.getvalue()
    return svg[svg.index("<svg") :]


def figures_of(facts: ReportFacts) -> dict[str, str]:
    """Draw the figures of a report, by name; those that are not defined are left out.

    Raises
    ------
    DependencyError
        If matplotlib is not installed.
    """
    rows, result, cut = facts.rows, facts.result, facts.threshold
    table, found, square = rows.table, dict[str, str](), (SQUARE, SQUARE)
    if isinstance(result, LinearResults) and (n := min(len(result.coef), MOST)):
        size, plot = (WIDTH, max(2.2, LINE * n + 1.2)), result.plot
        found["coefficients"] = drawn(lambda ax: plot.coefficients(n, ax=ax), *size)
        if shape := facts.image_shape:
            found["image"] = drawn(
                lambda ax: plot.coefficient_image(shape, ax=ax), WIDTH, WIDTH
            )
    if (folds := facts.validation) and rows.name == "out-of-fold" and rows.auc:
        found["roc"] = drawn(lambda ax: folds.plot_roc(ax=ax), *square)
    elif rows.scores is not None and rows.auc is not None:
        found["roc"] = drawn(lambda ax: draw_roc(table, result, ax, {}, cut), *square)
    start = 0.0 if cut is None else score_at(cut, result.problem)
    if rows.scores is not None and table.n_classified and math.isfinite(start):
        found["margins"] = drawn(lambda ax: draw_margins(table, result, ax, {}, cut))
    if (curve := facts.precision_recall) is not None:
        found["precision_recall"] = drawn(lambda ax: curve.plot(ax=ax), *square)
    if (calibration := facts.calibration) is not None:
        found["calibration"] = drawn(lambda ax: calibration.plot(ax=ax))
    return found
