"""The template of reports as a file of Markdown, or as one HTML page by markdown-it.

Whatever is put into a template is escaped, but for what a template wrote or calls
``safe``.
"""

import base64
import json
import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache, partial
from html import escape
from importlib.resources import files
from io import StringIO
from typing import TYPE_CHECKING

import numpy as np

from pegasos_stats.errors import DependencyError, counted, plain
from pegasos_stats.models.inference.options import chosen_options
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.results import score_at
from pegasos_stats.models.summaries import UNCERTIFIED, above
from pegasos_stats.output.cli.options import as_options
from pegasos_stats.output.plotting.scores import draw_margins, draw_roc
from pegasos_stats.output.plotting.style import Axes, dress, pyplot
from pegasos_stats.output.report.facts import WRITERS, Fitted, ReportFacts, decimals
from pegasos_stats.session import session_info
from pegasos_stats.solvers.options import given
from pegasos_stats.studies.cross_validation import end_of_path
from pegasos_stats.tables import markdown

if TYPE_CHECKING:
    from jinja2 import Environment
    from markdown_it import MarkdownIt
    from markdown_it.rules_core import StateCore
    from markdown_it.token import Token
    from markupsafe import Markup


@dataclass(frozen=True)
class Figure:
    """A drawn figure.

    Attributes
    ----------
    svg : str
        Text is drawn as outlines; no font is needed.
    caption : str
        What the figure shows, also for those who do not see it.
    """

    svg: str
    caption: str

    @property
    def uri(self) -> str:
        """The figure as the address of an image that holds all of it."""
        coded = base64.b64encode(self.svg.encode("utf-8")).decode("ascii")
        return f"data:image/svg+xml;base64,{coded}"


Escape = Callable[[str], str]
Picture = Callable[[Figure], str]

SIGN = 'content="pegasos_stats"'  # in the head of each HTML page
MARK = "<!-- written by pegasos_stats -->"  # what each Markdown file begins with
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
    except ImportError:
        raise DependencyError(
            "Reports need jinja2 and markdown-it-py, which are not both installed; run "
            "pip install 'pegasos_stats[report]'."
        ) from None
    made = Environment(
        loader=PackageLoader("pegasos_stats.output.report"),
        autoescape=True,
        finalize=partial(_escaped, escape),
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
        "above": above,
        "counted": counted,
        "end_of_path": end_of_path,
        "fenced": _fenced,
        "python_lines": python_lines,
        "uncertified": UNCERTIFIED,
        "zip": zip,
    }
    return made


def _escaped(escape: Escape, value: object) -> "Markup":
    from markupsafe import Markup

    return value if isinstance(value, Markup) else Markup(escape(str(value)))


@dataclass(frozen=True)
class Page:
    """What is written: the facts of a report with their figures.

    Attributes
    ----------
    title : str
    facts : ReportFacts
    figures : dict of Figure
    command : str
        The command line, if that is where the fit was made.
    csv : str
        Name of the CSV file beside the page, if there is one.
    """

    title: str
    facts: ReportFacts
    figures: Mapping[str, Figure]
    command: str = ""
    csv: str = ""

    def as_markdown(self) -> str:
        """Write Markdown as pandoc reads it, with its figures as data."""
        text = self._rendered(_linked, lambda tag: "")
        return re.sub(r"\n{3,}", "\n\n", f"{MARK}\n\n{text}").rstrip() + "\n"

    def as_html(self) -> str:
        """Write a page that loads nothing."""
        text = self._rendered(_embedded, lambda tag: f"\n{tag}\n")
        return page(self.title, _parser().render(text))

    def _rendered(self, picture: Picture, tag: Escape) -> str:
        """Fill the template, which calls for pictures and for tags of HTML."""
        template = templates(markdown).get_template("report.md")
        return template.render(
            vars(self),
            picture=lambda figure: _safe(picture(figure)),
            tag=lambda text: _safe(tag(text)),
            worded=as_options if self.command else str,
            versions=session_info().versions,
            date=date.today().isoformat(),
        )


def _safe(text: str) -> "Markup":
    from markupsafe import Markup

    return Markup(text)


def _fenced(text: str, language: str = "") -> "Markup":
    """Code between backticks: in a line, or with a language as lines."""
    if language:
        ticks = longer_ticks(text, 3)
        return _safe(f"{ticks}{language}\n{text}\n{ticks}")
    line = " ".join(text.splitlines())
    ticks, room = longer_ticks(line, 1), " " * ("`" in line)
    return _safe(f"{ticks}{room}{line}{room}{ticks}")


def longer_ticks(text: str, least: int) -> str:
    """Backticks that enclose a text, more of them than it holds in a row.

    Examples
    --------
    >>> longer_ticks("a `b` c", 1), longer_ticks("a", 3)
    ('``', '```')
    """
    longest = max(map(len, re.findall("`+", text)), default=0)
    return "`" * max(least, longest + 1)


def _linked(figure: Figure) -> str:
    return f"![{figure.caption}]({figure.uri})"


def _embedded(figure: Figure) -> str:
    caption = escape(figure.caption)
    image = f'<img src="{figure.uri}" alt="{caption}">'
    return f"<figure>{image}<figcaption>{caption}</figcaption></figure>"


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


LONGEST = 88  # characters of a line
GIVEN = "weights", "freq_weights", "offset", "groups", "order", "start", "step"
CLASSES = {"svm": "SVM", "logit": "Logit", "kernel_svm": "KernelSVM"}


def python_lines(facts: ReportFacts) -> str:
    """Lines that fit the model again, from data that are in memory."""
    result, by_formula = facts.result, facts.result.design.formula is not None
    name = "svm" if facts.kernel is None else "kernel_svm"
    name = "logit" if facts.is_logistic else name
    model = name if by_formula else CLASSES[name]
    of_model, of_fit = model_arguments(facts), fit_arguments(result)
    written = re.split(r"[(), ]", " ".join(of_model + of_fit))
    named = [name for name in GIVEN if f"{name}={name}" in written]
    first = "train" if by_formula else "y, X"
    return "\n".join(
        [
            "import pegasos_stats as ps",
            "",
            f"# {', '.join([first, *named])}: as they were given to the fit",
            call(f"model = ps.{model}", of_model),
            call("result = model.fit", of_fit),
            "print(result.summary())",
        ]
    )


def call(function: str, arguments: list[str]) -> str:
    """Write a call on one line, or, where that is too long, an argument a line.

    Examples
    --------
    >>> print(call("x = f", ["a", "b=1"]))
    x = f(a, b=1)
    """
    line = f"{function}({', '.join(arguments)})"
    if len(line) <= LONGEST:
        return line
    inner = "".join(f"    {argument},\n" for argument in arguments)
    return f"{function}(\n{inner})"


def model_arguments(facts: ReportFacts) -> list[str]:
    """Arguments of the model, as they are written; defaults are left out."""
    result, kernel = facts.result, facts.kernel
    problem, coding, formula = result.problem, result.coding, result.design.formula
    counts, offset = result.counted, result.offsets
    found = ["y", "X"] if formula is None else [literal(formula), "train"]
    if problem.lam_rule != "1/n" or problem.lam != 1.0 / problem.n_weighed:
        by_cv = result.lambda_path is not None
        found.append('lam="cv"' if by_cv else f"lam={problem.lam!r}")
    if problem.loss not in ("hinge", "log"):
        found.append(f'loss="{problem.loss}"')
    if not problem.intercept:
        found.append("intercept=False")
    if kernel is not None:
        found.append(f'kernel="{kernel.name}"')
        found += [f"{name}={value!r}" for name, value in kernel.parameters.items()]
    if coding.rule != "factor":
        rule = coding.levels if coding.rule == "explicit" else coding.rule
        found.append(f"coding={literal(rule)}")
    if problem.weights is not None:
        name = literal("balanced") if problem.balanced else "weights"
        found.append(f"weights={name}")
    if counts is not None:
        name = literal(counts.column) if counts.column else "freq_weights"
        found.append(f"freq_weights={name}")
    if offset is not None and (offset.column or offset.given):
        found.append(f"offset={literal(offset.column) if offset.column else 'offset'}")
    if result.scaling is not None:
        found.append("standardize=True")
    if result.design.functions:
        pairs = ", ".join(
            f"{literal(name)}: {name}" for name in result.design.functions
        )
        found.append(f"functions={{{pairs}}}")
    return found


def fit_arguments(result: Fitted) -> list[str]:
    """Arguments of ``fit``: the solver with its seed, and the refinement."""
    found = [solver_call(result)]
    if result.refinement is not None:
        found.append(f"refine={result.refinement.tol!r}")
    if not isinstance(result, LinearResults):
        return found
    if result.groups is not None and not result.groups.by_name:
        found.append("groups=groups")
    elif result.groups is not None:
        names = list(result.groups.names)
        found.append(f"groups={literal(names[0] if len(names) == 1 else names)}")
    if result.cov_type is None:
        found.append('cov_type="none"')
    elif result.cov_type != chosen_options("default", result.problem, result.groups):
        found.append(f"cov_type=ps.{result.cov_type!r}")
    return found


def solver_call(result: Fitted) -> str:
    """The solver as a call, with the seed of the run and what is not the default.

    Examples
    --------
    >>> import pegasos_stats as ps
    >>> train, test = ps.datasets.load_digits56()
    >>> solver_call(ps.svm("digit ~ .", train, lam=1.0).fit(ps.Pegasos(seed=443)))
    'ps.Pegasos(epochs=20, seed=443)'
    """
    options = given(result.solver.with_seed(result.seed))
    written = [
        f"{name}={name if isinstance(value, np.ndarray) else literal(plain(value))}"
        for name, value in options.items()
    ]
    return f"ps.{result.solver.name}({', '.join(written)})"


def literal(value: object) -> str:
    """Write a label or a name as Python does, text in double quotes.

    Examples
    --------
    >>> literal("a b"), literal(5), literal(("no", "yes"))
    ('"a b"', '5', '("no", "yes")')
    """
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, tuple):
        return f"({', '.join(map(literal, value))})"
    return repr(plain(value))


WIDTH, HEIGHT = 5.2, 3.7  # inches; small, so that letters are large on a phone
SQUARE = 4.2  # inches of the ROC curve
MOST = 20  # coefficients
LINE = 0.22  # inches of a coefficient

# Without a date and with fixed names the same figure is the same text.
SETTINGS = {"svg.hashsalt": "pegasos_stats", "svg.fonttype": "path"}
NO_DATE = {"Date": None, "Creator": None}


def drawn(
    draw: Callable[["Axes"], object],
    caption: str,
    width: float = WIDTH,
    height: float = HEIGHT,
) -> Figure:
    """Draw on empty axes of matplotlib, and keep the figure as SVG.

    Parameters
    ----------
    draw : callable
        Draws on the axes that it is given.
    caption : str
    width, height : float
        In inches.

    Raises
    ------
    DependencyError
        If matplotlib is not installed.

    Examples
    --------
    >>> drawn(lambda ax: ax.plot([1, 2]), "A line").svg[:4]
    '<svg'
    """
    with pyplot().rc_context(SETTINGS):
        from matplotlib.figure import Figure as Canvas  # one that no window knows of

        figure = Canvas(figsize=(width, height), layout="constrained")
        text = StringIO()
        draw(dress(figure.subplots()))
        figure.savefig(text, format="svg", metadata=NO_DATE)
    svg = text.getvalue()
    return Figure(svg[svg.index("<svg") :], caption)


def figures_of(facts: ReportFacts) -> dict[str, Figure]:
    """Draw the figures of a report, by name; those that are not defined are left out.

    Raises
    ------
    DependencyError
        If matplotlib is not installed.
    """
    rows, result, found = facts.rows, facts.result, dict[str, Figure]()
    name, cut = rows.name, rows.threshold
    if rows.is_scored and rows.auc is not None:
        found["roc"] = drawn(
            lambda ax: draw_roc(rows.table, result, ax, {}, cut),
            f"ROC curve of the {name} rows, area {decimals(rows.auc)}.",
            SQUARE,
            SQUARE,
        )
    if isinstance(result, LinearResults) and len(result.coef):
        n = min(len(result.coef), MOST)
        found["coefficients"] = drawn(
            lambda ax: result.plot.coefficients(n, ax=ax),
            f"The {n} largest coefficients, without the intercept.",
            height=max(2.2, LINE * n + 1.2),
        )
    if isinstance(result, LinearResults) and (shape := facts.image_shape) is not None:
        found["image"] = drawn(
            lambda ax: result.plot.coefficient_image(shape, ax=ax),
            f"Coefficients as an image of {shape[0]} by {shape[1]} pixels.",
            height=WIDTH,
        )
    start = 0.0 if cut is None else score_at(cut, result.problem)
    if rows.is_scored and rows.table.n_classified and math.isfinite(start):
        found["margins"] = drawn(
            lambda ax: draw_margins(rows.table, result, ax, {}, cut),
            f"Margins of the {name} rows: below 0 a row is on the wrong side"
            f"{' of the threshold' * (cut is not None)}.",
        )
    if (curve := facts.precision_recall) is not None:
        found["precision_recall"] = drawn(
            lambda ax: curve.plot(ax=ax),
            f"Precision against recall of '{curve.positive}', {name} rows; the dotted "
            "line is guessing.",
            SQUARE,
            SQUARE,
        )
    if (calibration := facts.calibration) is not None:
        found["calibration"] = drawn(
            lambda ax: calibration.plot(ax=ax),
            f"Calibration: observed shares of the {name} rows against mean "
            "probabilities; on the dashed line both are the same.",
        )
    return found
