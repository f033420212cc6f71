"""The commands: ``fit``, ``report``, ``predict``, ``parity``, ``demo``, ``compile``."""

import argparse
import json
import shlex
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from pegasos_stats.data import datasets
from pegasos_stats.data.files import warn_unmatched
from pegasos_stats.data.row_names import in_a_piece
from pegasos_stats.data.scan.files import MEMORY, scan
from pegasos_stats.data.scan.formats import ending_of
from pegasos_stats.data.scan.formats_svmlight import SVMLIGHT
from pegasos_stats.data.scan.frames import scanned_frames
from pegasos_stats.errors import (
    DataError,
    FormulaError,
    LabelError,
    OptionError,
    listing,
)
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.kernel import KernelSVM
from pegasos_stats.models.kernel_results import KernelResults
from pegasos_stats.models.linear import SVM, Logit
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.persist import Saved, load_saved, save
from pegasos_stats.models.results import Results
from pegasos_stats.output.cli import cross_validation, printed
from pegasos_stats.output.cli.cross_validation import level_of
from pegasos_stats.output.cli.facts import cautions
from pegasos_stats.output.cli.foreign_words import check_test
from pegasos_stats.output.cli.input import (
    Rows,
    are_alike,
    formula_for,
    read_alike,
    read_data,
    style_of,
)
from pegasos_stats.output.cli.options import PENALTIES, model_of, solver_of
from pegasos_stats.output.cli.output_paths import (
    PREDICTIONS,
    check_places,
    predictions_path,
)
from pegasos_stats.output.cli.printed import Printed
from pegasos_stats.output.cli.process import PROGRAM, no_part_left, write_output
from pegasos_stats.output.option_names import flag
from pegasos_stats.output.report.report import Report, report_of
from pegasos_stats.output.report.subject import Fitted, checked_threshold_of
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.keeping.saving import KEPT
from pegasos_stats.studies.parity.check import check_against_r
from pegasos_stats.studies.selection.cross_validation import (
    CrossValidation,
    cross_validate,
)
from pegasos_stats.writing import checked_place, outputs

WIDTH = 76  # of a line of the command


def page_of_files(
    result: Fitted,
    tests: dict[str, Rows],
    validation: CrossValidation | None,
    options: argparse.Namespace,
) -> Report:
    """Report a fit of files, and write the report to its file."""
    test = tests.get("test")
    threshold, _ = checked_threshold_of(options.threshold, result)
    made = report_of(
        result,
        None if test is None else test.labelled(),
        title=options.title,
        image_shape=options.image_shape,
        positive=level_of(result, options.positive),
        path=result.lambda_path,
        validation=validation,
        threshold=threshold,
        command=command_line(options),
    )
    with no_part_left():
        return made.write(options.output, overwrite=options.overwrite)


def page_of_digits(result: Fitted, test: Rows, options: argparse.Namespace) -> Report:
    """Report a fit of the data that come with the package."""
    return report_of(
        result,
        test.frame,
        title="Handwritten fives and sixes",
        image_shape=(8, 8),
        command=command_line(options),
    )


def written(made: Report, options: argparse.Namespace) -> Report:
    """Write a report to the file that ``--report`` names."""
    with no_part_left():
        return made.write(options.report, overwrite=options.overwrite)


def command_line(options: argparse.Namespace) -> str:
    """The command as it was typed, on as many lines as it takes."""
    lines = [PROGRAM]
    for word in map(shlex.quote, options.arguments):
        if len(lines[-1]) + len(word) > WIDTH:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {word}"
    return "\n".join(lines)


def predicted_files(
    result: Results, rows: Rows, options: argparse.Namespace
) -> printed.Printed:
    """Predict the rows of files with a saved model, and write them as they come."""
    assert rows.scan is not None
    if options.json and options.output is None:
        raise OptionError(
            "--json without --output would hold the predictions of all rows in memory; "
            "give --output too."
        )
    deciding = {"ties": options.ties, "threshold": options.threshold}
    table, notes = _table(result, rows, options, deciding)
    offsets = result.offsets
    also = [] if offsets is None else offsets.columns([*rows.scan.kinds])
    also = also if options.id is None else [*also, options.id]
    n, counts = 0, dict.fromkeys(map(str, result.coding.levels), 0)
    with _written(options) as write:
        for frame in scanned_frames(rows.scan, result.design, also):
            piece = Rows(rows.path, frame=frame).named_by(options.id)
            known = piece.known_to(result.design, options.unseen)
            with in_a_piece():
                predictions = predictions_of(result, known, deciding)
            if options.id is None:  # numbered over all files
                predictions = predictions.set_axis(pd.RangeIndex(n, n + len(frame)))
            write(printed.csv_of(predictions, header=n == 0))
            n += len(frame)
            for level, count in printed.level_counts(result, predictions).items():
                counts[level] += count
            if known.unseen and len(notes) == 0:
                notes = ["levels that the fit did not see have no prediction"]
    found = printed.PrintedPredictions(
        title=f"{PROGRAM}: {options.model} on {options.data}",
        result=result,
        rows=n,
        counts=counts,
        table=table,
        notes=notes,
        written=options.output,
    )
    shown = found.as_json(None) if options.json else found.as_text()
    if options.output is None:
        return printed.Printed("", shown, exact=True)
    return printed.Printed(shown)


def predictions_of(
    result: Results, rows: Rows, deciding: dict[str, Any]
) -> pd.DataFrame:
    """Labels, scores and probabilities; `deciding` are ties and threshold."""
    scores = result.decision_function(rows.X)
    labels = result.predict(rows.X, **deciding)
    frame = pd.DataFrame({"predicted": labels, "score": scores})
    if result.problem.loss == "log":
        found = result.predict_proba(rows.X)
        for level in found.columns:
            frame[f"probability_{level}"] = found[level]
    return frame


@contextmanager
def _written(options: argparse.Namespace) -> Iterator[Callable[[str], object]]:
    """Where texts are written to: standard output, or a file once all are there."""
    if options.output is None:
        yield lambda text: write_output(text, exact=True)
        return
    with no_part_left(), outputs() as files:
        place = checked_place(options.output, PREDICTIONS, options.overwrite)
        handle = files.open(place)
        yield lambda text: handle.write(text.encode())


def _table(
    result: Results, rows: Rows, options: argparse.Namespace, deciding: dict[str, Any]
) -> tuple[ConfusionMatrix | None, list[str]]:
    """The confusion table, for which the rows are read once; or why there is none."""
    if options.unlabelled:
        return None, []
    positive = cross_validation.level_of(result, options.positive)
    choices: dict[str, Any] = {"unseen": options.unseen} | deciding
    if positive is not None:
        choices |= {"positive": positive, "mode": "sens_spec"}
    try:
        found = result.confusion(rows.scan, **choices)
    except LabelError:
        known = ", ".join(map(str, result.coding.levels))
        return None, [
            f"the labels in {rows.path} are not all among the model's levels, {known}: "
            "predictions only"
        ]
    except (DataError, FormulaError):  # of other columns the predictions tell
        return None, ["no labels among the data"]
    return found, []


RUNS = [
    Pegasos(epochs=2, seed=1),
    Pegasos(epochs=2, seed=1, arithmetic="fast"),
    Pegasos(epochs=2, seed=1, batch_size=10),
    Pegasos(order="replace", steps=20, seed=1),
]
PERM = [SDCA(algorithm="perm", start=start, seed=1) for start in ("zero", "sgd")]


def compile_all(options: argparse.Namespace) -> Printed:
    """Fill the cache of compiled kernels; tell how many there are, and where."""
    from pegasos_stats.compiled.cache import folder, sources  # loads numba

    began = time.perf_counter()
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as place:
        warnings.simplefilter("ignore")
        fit_all(Path(place) / "rows.csv")
    kept = folder()
    count = 0 if kept is None else len(list(kept.glob(f"*.{sources()}-*.nbc")))
    seconds = time.perf_counter() - began
    return Printed(f"{count} compiled kernels in {kept} ({seconds:.0f} s)\n")


def fit_all(file: Path) -> None:
    """Fit all kinds of rows by all solvers; rows of a file are written there."""
    rng = np.random.default_rng(1)
    y = np.tile([-1, 1], 200)
    few, many = rng.normal(size=(80, 4)), rng.normal(size=(400, 70))
    wide = rng.normal(size=(40, 60))
    sparse = csr_array((rng.random((80, 30)) < 0.3).astype(np.float64))
    frame = pd.DataFrame(np.tile(few, (20, 1)), columns=list("abcd"))
    frame.assign(y=np.tile(y, 4)).to_csv(file, index=False)
    for kind in (SVM, Logit):
        for X in (few, sparse):
            model = kind(y[:80], X, lam=0.1)
            for run in RUNS:
                model.fit(run)
            model.fit().summary()
            cross_validate(model, folds=3)
            free = kind(y[:80], X, lam=0.1, intercept=False)
            for solver in PERM:
                free.fit(solver)
        for X in (wide, many):
            for intercept in (True, False):
                kind(y[: len(X)], X, lam=0.1, intercept=intercept).fit()
        kind.from_formula("y ~ .", scan(file), lam=0.1).fit()
    kernel = KernelSVM(y[:80], few, lam=0.1)
    kernel.fit().summary()
    kernel.fit(RUNS[0])


Solver = Pegasos | SDCA


def fit(options: argparse.Namespace) -> Printed:
    """Fit a file, and test on another."""
    check_places(options)
    if options.coefficients and options.kernel is not None:
        raise OptionError(
            "--coefficients does not go with --kernel, whose fit has none; leave one "
            "of them out."
        )
    title = f"{PROGRAM}: {options.train}"
    return _fitted(title, *_files(options), options)


def report(options: argparse.Namespace) -> Printed:
    """Fit a file, test on another, and write a report."""
    check_places(options)
    if options.loss is None:
        options.loss = "log" if options.kernel is None else "hinge"
    formula, train, tests = _files(options)
    if train.scan is not None:
        raise OptionError(
            f"report shows single rows, and those of {train.path} are read block by "
            "block; give fit, or a file that is read at once."
        )
    result, tests, validation = _studied_fit(formula, train, tests, options)
    made = page_of_files(result, tests, validation, options)
    tables = _tables(result, tests, _choices(result, options))
    if validation is not None:
        tables["out-of-fold"] = cross_validation.out_of_fold(
            validation, result, options
        )
    threshold = options.threshold
    noted = cautions(result, threshold, tables["training"])
    warned = [*noted, *_unseen_in(tests)]
    title = f"{PROGRAM}: {options.train}"
    given = title, result, tables, warned, made, threshold
    return Printed(printed.printed_report(*given))


def _files(
    options: argparse.Namespace,
) -> tuple[str | None, Rows, dict[str, Rows]]:
    """The formula, the training data and the test data that the options name."""
    style = style_of(options)
    check_test(options.test)
    dense = options.kernel is not None
    train = read_data(
        options.train, options.format, dense=dense, style=style, memory=options.memory
    ).named_by(options.id)
    if options.na_values and train.frame is not None:
        warn_unmatched(options.train, style)
    if train.scan is not None:
        if dense:
            raise OptionError(
                f"--kernel needs all rows in memory, and {train.path} is read block by "
                "block; leave it out."
            )
        if "solver" not in options.given:
            in_order = options.order or options.rows or options.profile
            options.solver = "pegasos" if in_order else "sdca"
    offset = None if dense else options.offset  # of a kernel it is a number
    apart = options.weights, options.freq_weights, offset, options.groups, options.id
    named = options.outcome, train, apart, options.formula
    formula = formula_for(*named)
    tests = {}
    if options.test:
        test = read_alike(options.test, options.format, train)
        tests["test"] = test.named_by(options.id, needed=False)
    return formula, train, tests


def demo(options: argparse.Namespace) -> Printed:
    """Fit the data that come with the package."""
    check_places(options)
    train, test = (Rows("digits56", frame) for frame in datasets.load_digits56())
    if options.lam is None and options.profile not in PENALTIES:
        options.lam = 1.0
    title = f"{PROGRAM}: handwritten fives and sixes, 8 x 8 pixels"
    given = "digit ~ .", train, {"test": test}
    if options.report is None:
        return _fitted(title, *given, options)
    result, _, _ = _studied_fit(*given, options)
    page = page_of_digits(result, test, options)
    shown = _fitted(title, *given, options)
    return Printed(f"{shown.out}{printed.where(written(page, options))}\n", shown.err)


def predict(options: argparse.Namespace) -> Printed:
    """Predict the rows of a file with a saved model."""
    options.output = predictions_path(options.output)
    check_places(options)
    saved = load_saved(options.model, others=KEPT)
    result = saved.result
    rows = _rows_for(saved, options)
    if rows.scan is not None:
        return predicted_files(result, rows, options)
    rows = rows.known_to(result.design, options.unseen)
    deciding = {"ties": options.ties, "threshold": options.threshold}
    predictions = predictions_of(result, rows, deciding)
    actual, why = _known_labels(result, rows, options.unlabelled)
    table, choices = None, _choices(result, options)
    if actual is not None:
        table = result.confusion(rows.X, actual, **choices | deciding)
    found = printed.PrintedPredictions(
        title=f"{PROGRAM}: {options.model} on {options.data}",
        result=result,
        rows=len(predictions),
        counts=printed.level_counts(result, predictions),
        table=table,
        notes=[note for note in (rows.note, rows.unseen, why) if note],
        written=options.output,
    )
    text = printed.csv_of(predictions)
    shown = found.as_json(predictions) if options.json else found.as_text()
    if options.output is None and not options.json:
        return Printed(text, shown, exact=True)
    if options.output is not None:
        with no_part_left(), outputs() as files:
            place = checked_place(options.output, PREDICTIONS, options.overwrite)
            files.write(place, text)
    return Printed(shown)


def parity(options: argparse.Namespace) -> Printed:
    """Run a fit in Python and by the reference in R; 1 if something differs."""
    if options.refine is not None:
        raise OptionError(
            "--refine goes on with SDCA, which has no counterpart in the R reference; "
            "leave it out."
        )
    formula, train, _ = _files(options)
    if train.scan is not None:
        raise OptionError(
            f"parity runs R on all rows, and those of {train.path} are read block by "
            "block; give a file that is read at once."
        )
    solver = solver_of(options)
    found = check_against_r(
        _model(formula, train, solver, options), solver, via=options.via
    )
    if options.json:
        text = json.dumps(found.to_json_dict(), indent=2)
    else:
        text = f"{PROGRAM}: {options.train}\n\n{found}"
    return Printed(f"{text}\n", code=0 if found.equal else 1)


COMMANDS: dict[str, Callable[[argparse.Namespace], Printed]] = {
    "fit": fit,
    "report": report,
    "predict": predict,
    "parity": parity,
    "demo": demo,
    "compile": compile_all,
}


def _fitted(
    title: str,
    formula: str | None,
    train: Rows,
    tests: dict[str, Rows],
    options: argparse.Namespace,
) -> Printed:
    result, tests, validation = _studied_fit(formula, train, tests, options)
    tables = _tables(result, tests, _choices(result, options))
    if validation is not None:
        tables["out-of-fold"] = cross_validation.out_of_fold(
            validation, result, options
        )
    if options.save is not None:
        about = {"format": train.format, "zero_based": train.zero_based}
        about |= asdict(train.style) | {"id": getattr(options, "id", None)}
        with no_part_left():
            save(result, options.save, about=about, overwrite=options.overwrite)
    notes = [rows.note for rows in tests.values() if rows.note]
    threshold = getattr(options, "threshold", None)  # demo has none
    noted = cautions(result, threshold, tables["training"])
    warned = [*noted, *_unseen_in(tests)]
    chosen = cross_validation.choice_of_lambda(result)
    given = title, result, tables, notes, warned, options.save, chosen
    shown, asked = None, getattr(options, "coefficients", False)  # demo has none
    if asked and isinstance(result, LinearResults):
        shown = printed.PrintedCoefficients.of(result)
    found = printed.PrintedFit(*given, threshold, shown)
    return Printed(found.as_json() if options.json else found.as_text())


def _choices(result: Results, options: argparse.Namespace) -> dict[str, Any]:
    """What is asked of confusion tables: ``--positive`` statistics of a class."""
    positive = cross_validation.level_of(result, getattr(options, "positive", None))
    found = {} if positive is None else {"positive": positive, "mode": "sens_spec"}
    threshold = getattr(options, "threshold", None)  # demo has none
    return found if threshold is None else found | {"threshold": threshold}


def _tables(
    result: Fitted, tests: dict[str, Rows], choices: dict[str, Any] | None = None
) -> dict[str, ConfusionMatrix]:
    """Confusion tables of the training data and of the test data."""
    choices = choices or {}
    tables = {"training": result.training_table}
    if choices:
        tables["training"] = result.confusion(**choices)
    for name, rows in tests.items():
        labels = None if rows.sparse is None else rows.sparse.y
        tables[name] = result.confusion(rows.X, labels, **choices)
    return tables


def _studied_fit(
    formula: str | None,
    train: Rows,
    tests: dict[str, Rows],
    options: argparse.Namespace,
) -> tuple[Fitted, dict[str, Rows], CrossValidation | None]:
    """The fit, the test data as its model takes them, and what ``--cv`` asks for."""
    solver = solver_of(options)
    model = _model(formula, train, solver, options)
    validation = cross_validation.validated(model, solver, options)
    return *_fit(model, solver, tests, options), validation


def _model(
    formula: str | None, train: Rows, solver: Solver, options: argparse.Namespace
) -> Any:
    """The model of the training data, not yet fitted."""
    model_class, arguments = model_of(options, solver)
    if formula is None:
        y, X = train.labelled()
        return model_class(y, X, **arguments)
    return model_class.from_formula(formula, train.X, **arguments)


def _fit(
    model: Any, solver: Solver, tests: dict[str, Rows], options: argparse.Namespace
) -> tuple[Fitted, dict[str, Rows]]:
    """The fit of a model, and the test data as it takes them."""
    unseen = getattr(options, "unseen", None)
    tests = {name: rows.known_to(model.design, unseen) for name, rows in tests.items()}
    held_out = tests["test"].labelled() if options.trace and tests else None
    fitting = {"trace": options.trace, "test": held_out, "progress": options.progress}
    if getattr(options, "refine", None) is not None:
        fitting["refine"] = options.refine
    for name in ("cov_type", "groups"):
        value = getattr(options, name, None)  # demo has none
        if name == "groups" and options.kernel and getattr(options, "cv", None):
            continue  # they are those of the folds
        if value is not None and options.kernel is not None:
            raise OptionError(
                f"{flag(name)} does not go with --kernel, which has no standard errors."
            )
        if value is not None:
            fitting[name] = value
    return model.fit(solver, **fitting), tests


def _unseen_in(tests: dict[str, Rows]) -> list[str]:
    """What was not seen at fit in the test data."""
    return [f"{name} data: {r.unseen}" for name, r in tests.items() if r.unseen]


def _rows_for(saved: Saved, options: argparse.Namespace) -> Rows:
    """Read data in the format and style of those that the model was fitted on."""
    result, format_, memory = saved.result, options.format, options.memory
    if saved.about.get("format") == "files" and ending_of(options.data) in SVMLIGHT:
        memory = memory or MEMORY
    rows = read_data(
        options.data,
        format_,
        len(result.design.names),
        saved.about.get("zero_based"),
        dense=isinstance(result, KernelResults),
        style=style_of(options, {} if memory else saved.about),
        memory=memory,
    )
    if options.na_values and rows.frame is not None:
        warn_unmatched(options.data, rows.style)
    by = saved.about.get("id")
    if options.id is None and by in rows.columns:
        options.id = by
    rows = rows.named_by(options.id)
    fitted_on = saved.about.get("format", rows.format)
    if not are_alike(rows.format, fitted_on):
        by_block = memory and rows.scan is not None and rows.scan.is_svmlight
        cure = "leave out --memory" if by_block else "give data in that format"
        raise DataError(
            f"The file {options.data} is {rows.format} and the model was fitted on "
            f"{fitted_on}; {cure}."
        )
    return rows


def _known_labels(
    result: Results, rows: Rows, unlabelled: bool
) -> tuple["pd.Series[Any] | None", str]:
    """Labels to compare with, or why there are none."""
    labels = None if unlabelled else rows.labels(result)
    if labels is None or not labels.notna().any():
        return None, "" if unlabelled else "no labels among the data"
    try:
        result.coding.encode(labels)
    except LabelError:
        found = listing(labels.dropna().unique(), 3)
        known = listing(result.coding.levels)
        return None, (
            f"the labels in {rows.path}, {found}, are not all among the model's "
            f"levels, {known}: predictions only"
        )
    return labels, ""
