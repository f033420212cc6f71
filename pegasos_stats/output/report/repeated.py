"""How to repeat a fit: the command line, Python, R."""

from pegasos_stats.output.report.document import (
    Block,
    Listing,
    Paragraph,
    Section,
    Text,
    prose,
)
from pegasos_stats.output.report.python_lines import python_lines
from pegasos_stats.output.report.r_lines import RLines, r_lines
from pegasos_stats.output.report.subject import Subject

ROOT = (
    "They call the functions of the folder `r_reference` of the package's sources, "
    "from the folder above it."
)


def repeating(subject: Subject) -> Section:
    """Lines that repeat the fit; where R cannot, lines that check it."""
    blocks: list[Block] = []
    if subject.origin.command:
        blocks += [
            Paragraph("On the command line:"),
            Listing(subject.origin.command, "sh"),
        ]
    blocks += [
        Paragraph("In Python, the same fit with the same numbers:"),
        Listing(python_lines(subject), "python"),
        *_in_r(subject),
    ]
    return Section("To repeat it", "repeat", blocks)


def _in_r(subject: Subject) -> list[Block]:
    lines = r_lines(subject)
    blocks: list[Block] = [Paragraph(_introduction(subject, lines))]
    if lines.python:
        blocks += [
            Paragraph("First Python writes the numbers of the fit, every bit of them:"),
            Listing(lines.python, "python"),
            Paragraph("Then, in R:"),
        ]
    return [*blocks, *([Listing(lines.r, "r")] if lines.r else [])]


def _introduction(subject: Subject, lines: RLines) -> Text:
    """What the lines of R do, and how near they come."""
    digits = "to 12 digits" if subject.is_logistic else "bit for bit"
    if lines.kind == "loop":
        return f"In R, without any package: it prints the same coefficients, {digits}."
    if lines.kind == "reference":
        what = "counts" if subject.is_kernel else "coefficients"
        return prose("In R: it prints the same {}, {}. " + ROOT, what, digits)
    if lines.kind == "check":
        return prose(
            "R has no counterpart of this solver, but it can check the fit: these "
            "lines compute objective, dual objective and duality gap from the data. "
            + ROOT
        )
    if not subject.has_rows:
        return (
            "The fit was loaded from a file, which holds no training rows: there are "
            "no lines of R that repeat it."
        )
    return "The data are too large to be passed to R as text."
