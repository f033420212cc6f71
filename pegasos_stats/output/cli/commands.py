"""The commands: ``fit``, ``report``, ``predict``, ``parity``, ``demo``, ``compile``."""

import json
import shlex
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from pegasos_stats.data import datasets
from pegasos_stats.data.columns import in_a_piece
from pegasos_stats.data.files import warn_unmatched
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
from pegasos_stats.models.results import Results
from pegasos_stats.output.cli import printed
from pegasos_stats.output.cli.files import (
    PREDICTIONS,
    Rows,
    check_alike,
    check_places,
    formula_for,
    read_alike,
    read_data,
    read_rows,
    style_of,
)
from pegasos_stats.output.cli.foreign_words import check_test
from pegasos_stats.output.cli.options import Options
from pegasos_stats.output.cli.printed import Evaluated, Predicted, Printed
from pegasos_stats.output.cli.streams import PROGRAM, no_part_left, write_output
from pegasos_stats.output.report import report as reports
from pegasos_stats.persist import Saved, load_saved, save
from pegasos_stats.solvers.options import declared
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.parity.check import check_against_r
from pegasos_stats.studies.selection.cross_validation import cross_validate
from pegasos_stats.writing import checked_place, outputs

NO_LEVEL = "levels that the fit did not see have no prediction"
SEED = 443  # of the reference run, which demo repeats
WIDTH = 76  # of a line of a command

# ---------------------------------------------------------- solver and model

OF_MODEL = "lam coding weights freq_weights offset standardize kernel degree gamma"
OF_RUNS = ("rows", "profile", "refine")  # options of a run beside fields of Pegasos


def given_among(names: Iterable[str], options: Options) -> dict[str, Any]:
    """Options of these names that were given."""
    found = {name: getattr(options, name, None) for name in names}
    return {name: value for name, value in found.items() if value is not None}


def solver_of(options: Options) -> Pegasos | SDCA:
    """Build the solver that the options describe: a named profile with changes, or new.

    Raises
    ------
    CallError, OptionError
        If options do not go together.
    """
    pegasos, sdca = ({*declared(kind)} - {"intercept"} for kind in (Pegasos, SDCA))
    given, of_runs = given_among(pegasos | sdca, options), given_among(OF_RUNS, options)
    name = options.solver
    if name is None:
        is_run = of_runs or given.keys() & (pegasos - sdca | {"epochs"})
        usual = options.command in ("demo", "parity") or options.start == "random"
        name = "pegasos" if usual or is_run else "sdca"
    if name == "sdca":
        return SDCA(**given, **of_runs)
    if options.rows is not None:
        if options.order is not None:
            raise OptionError("rows= and order= exclude each other; give one.")
        given["order"] = read_rows(options.rows)
    if options.profile is None:
        return Pegasos(**given)
    steps = [given.get("steps")] if options.profile == "paper" else []
    profile: Pegasos = getattr(Pegasos, options.profile)(*steps)
    return replace(profile, **given)


def model_of(
    formula: str | None, train: Rows, solver: Pegasos | SDCA, options: Options
) -> Any:
    """The model of the training data, not yet fitted.

    Raises
    ------
    CallError, OptionError
        If options do not go together.
    """
    arguments = given_among(OF_MODEL.split(), options)
    if options.profile == "homework":
        arguments.setdefault("lam", 1e-4)  # as set in courses
    arguments["intercept"] = options.intercept and solver.intercept is not False
    kind: type[Any] = Logit if options.loss == "log" else SVM
    if options.kernel is not None:
        if options.loss == "log":
            raise OptionError("A kernel model has the loss hinge only; leave one out.")
        kind = KernelSVM
    if formula is None:
        y, X = train.labelled
        return kind(y, X, **arguments)
    return kind.from_formula(formula, train.X, **arguments)


# ----------------------------------------------------------- fit and report


def fit(options: Options) -> Printed:
    """Fit a file, and test on another."""
    check_places(options)
    train, test = _read(options)
    formula = formula_for(options, train)
    if train.scan is not None and options.solver is None:
        in_order = options.order or options.rows or options.profile
        options = replace(options, solver="pegasos" if in_order else "sdca")
    found = _evaluated(formula, train, test, options)
    return _shown(found, train, options)


def report(options: Options) -> Printed:
    """Fit a file, test on another, and write a report."""
    output = "report.html" if options.output is None else options.output
    loss = options.loss or ("log" if options.kernel is None else "hinge")
    options = replace(options, output=output, loss=loss)
    check_places(options)
    train, test = _read(options)
    formula = formula_for(options, train)
    _check_in_memory("report", train)
    found = _evaluated(formula, train, test, options)
    page = _page(found, test, options)
    with no_part_left():
        made = page.write(output, overwrite=options.overwrite)
    return Printed(printed.report_text(found, made.path))


def demo(options: Options) -> Printed:
    """Fit the data that come with the package."""
    check_places(options)
    options = replace(
        options,
        seed=SEED if options.seed is None else options.seed,
        title="Handwritten fives and sixes",
        image_shape=(8, 8),
    )
    if options.lam is None and options.profile != "homework":
        options = replace(options, lam=1.0)
    options = replace(options, train="handwritten fives and sixes, 8 x 8 pixels")
    train, test = (Rows("digits56", frame) for frame in datasets.load_digits56())
    found = _evaluated("digit ~ .", train, test, options)
    if options.report is None:
        return _shown(found, train, options)
    page = _page(found, test, options)
    text = _shown(found, train, options).out
    with no_part_left():
        made = page.write(options.report, overwrite=options.overwrite)
    return Printed(f"{text}{printed.report_line(made.path)}\n")


def _read(options: Options) -> tuple[Rows, Rows | None]:
    """The training data and the test data that the options name."""
    style = style_of(options)
    check_test(options.test)
    dense = options.kernel is not None
    train = read_data(
        options.train, options.format, dense=dense, style=style, memory=options.memory
    ).named_by(options.id)
    if options.na_values and train.frame is not None:
        warn_unmatched(options.train, style)
    if dense:
        _check_in_memory("--kernel", train)
    if options.test is None:
        return train, None
    test = read_alike(options.test, options.format, train)
    return train, test.named_by(options.id, needed=False)


def _check_in_memory(what: str, train: Rows) -> None:
    """Raise `OptionError` for files that are read block by block."""
    if train.scan is not None:
        raise OptionError(
            f"{what} needs all rows in memory, and {train.path} is read block by "
            "block; give a file that is read at once."
        )


def _evaluated(
    formula: str | None, train: Rows, test: Rows | None, options: Options
) -> Evaluated:
    """The fit that the options describe, and its tables."""
    solver = solver_of(options)
    model = model_of(formula, train, solver, options)
    validation = None
    if options.cv is not None:
        validation = cross_validate(
            model,
            None if solver.to_optimum else solver,  # that of studies is enough
            folds=options.cv,
            groups=options.groups,
            seed=1 if options.seed is None else options.seed,
        )
    test = None if test is None else test.known_to(model.design, options.unseen)
    fitting = given_among(("cov_type", "groups", "refine"), options)
    if options.kernel is not None and options.cv is not None:
        fitting.pop("groups", None)  # they are those of the folds
    result = model.fit(
        solver,
        trace=options.trace,
        progress=options.progress,
        test=test.labelled if options.trace and test is not None else None,
        **fitting,
    )
    choices = _choices(result, options)
    tables = {"training": result.confusion(**choices)}
    if test is not None:
        tables["test"] = result.confusion(test.X, test.labels, **choices)
    if validation is not None:
        table = validation.confusion(threshold=options.threshold)
        asked = tables["training"].choices
        tables["out-of-fold"] = replace(table, choices=asked)
    return Evaluated(
        title=f"{PROGRAM}: {options.train}",
        result=result,
        tables=tables,
        validation=validation,
        threshold=options.threshold,
        notes=[] if test is None else [n for n in (test.note, test.unseen) if n],
    )


def _choices(result: Results, options: Options) -> dict[str, Any]:
    """What is asked of confusion tables: statistics of a class, a threshold."""
    found = given_among(["threshold"], options)
    if options.positive is not None:
        text, levels = options.positive, result.coding.levels
        level = next((each for each in levels if str(each) == text), text)
        found |= {"positive": level, "mode": "sens_spec"}
    return found


def _shown(found: Evaluated, train: Rows, options: Options) -> Printed:
    """Save a fit, and print it."""
    if options.save is not None:
        about = {"format": train.format, "zero_based": train.zero_based}
        about |= asdict(train.style) | {"id": options.id}
        with no_part_left():
            save(found.result, options.save, about=about, overwrite=options.overwrite)
    if options.json:
        return Printed(printed.fit_json(found, options.coefficients))
    return Printed(printed.fit_text(found, options.save, options.coefficients))


def _page(found: Evaluated, test: Rows | None, options: Options) -> reports.Report:
    """The report of a fit."""
    result = found.result
    made = reports.report(
        result,
        None if test is None else test.known_to(result.design, options.unseen).labelled,
        title=options.title,
        image_shape=options.image_shape,
        positive=_choices(result, options).get("positive"),
        path_of_lambda=result.lambda_path,
        validation=found.validation,
        threshold=options.threshold,
    )
    return replace(made, page=replace(made.page, command=command_line(options)))


def command_line(options: Options) -> str:
    """The command as it was typed, on as many lines as it takes."""
    lines = [PROGRAM]
    for word in map(shlex.quote, options.words):
        if len(lines[-1]) + len(word) > WIDTH:
            lines[-1] += " \\"
            lines.append("   ")
        lines[-1] += f" {word}"
    return "\n".join(lines)


# ------------------------------------------------------------------ predict


def predict(options: Options) -> Printed:
    """Predict the rows of files with a saved model, and write them as they come."""
    if options.output in ("-", "/dev/stdout"):
        options = replace(options, output=None)
    check_places(options)
    saved = load_saved(options.model, fits_only=True)
    result = saved.result
    rows, options = _rows_for(saved, options)
    table, why = _table(result, rows, options)
    in_json = options.json and options.output is None
    collected: list[pd.DataFrame] = []
    unseen, n, counts = "", 0, dict.fromkeys(map(str, result.coding.levels), 0)
    with _written(options) as write:
        for predictions, without in _predictions(result, rows, options):
            if in_json:
                collected.append(predictions)
            else:
                write(printed.csv_of(predictions, header=n == 0))
            n += len(predictions)
            unseen = unseen or without
            for level in result.coding.levels:
                counts[str(level)] += int((predictions["predicted"] == level).sum())
    found = Predicted(
        title=f"{PROGRAM}: {options.model} on {options.data}",
        result=result,
        table=table,
        n_rows=n,
        counts=counts,
        notes=[note for note in (rows.note, unseen, why) if note],
        written=options.output,
    )
    if options.json:
        return Printed(found.as_json(pd.concat(collected) if in_json else None))
    text = found.as_text()
    return Printed("", text) if options.output is None else Printed(text)


def _rows_for(saved: Saved, options: Options) -> tuple[Rows, Options]:
    """Read data in the format and style of those that the model was fitted on."""
    result, about, memory = saved.result, saved.about, options.memory
    if about.get("format") == "files" and ending_of(options.data) in SVMLIGHT:
        memory = memory or MEMORY
    rows = read_data(
        options.data,
        options.format,
        len(result.design.names),
        about.get("zero_based"),
        dense=isinstance(result, KernelResults),
        style=style_of(options, {} if memory else about),
        memory=memory,
    )
    if options.na_values and rows.frame is not None:
        warn_unmatched(options.data, rows.style)
    if options.id is None and about.get("id") in rows.columns:
        options = replace(options, id=about["id"])
    fitted_on = about.get("format", rows.format)
    check_alike(options.data, rows.format, "the model was fitted on", fitted_on)
    return rows.named_by(options.id), options


def _table(
    result: Results, rows: Rows, options: Options
) -> tuple[ConfusionMatrix | None, str]:
    """The confusion table, if the rows have labels; or why there is none."""
    if options.unlabelled:
        return None, ""
    choices = _choices(result, options)
    choices |= {"ties": options.ties, "unseen": options.unseen}
    try:
        table = result.confusion(rows.X, rows.labels, **choices)
    except LabelError:
        known = listing(result.coding.levels)
        return None, (
            f"the labels in {rows.path} are not all among the model's levels, {known}: "
            "predictions only"
        )
    except (DataError, FormulaError):  # of other columns the predictions tell
        table = None
    if table is None or not table.counts.sum():
        return None, "no labels among the data"
    return table, ""


def _predictions(
    result: Results, rows: Rows, options: Options
) -> Iterator[tuple[pd.DataFrame, str]]:
    """Predictions of rows, some at a time, and which levels have none, in words."""
    if rows.scan is None:
        known = rows.known_to(result.design, options.unseen)
        yield predictions_of(result, known, options), known.unseen
        return
    offsets, n = result.offsets, 0
    also = [] if offsets is None else offsets.columns([*rows.scan.kinds])
    also = also if options.id is None else [*also, options.id]
    for frame in scanned_frames(rows.scan, result.design, also):
        piece = Rows(rows.path, frame=frame).named_by(options.id)
        known = piece.known_to(result.design, options.unseen)
        with in_a_piece():
            found = predictions_of(result, known, options)
        if options.id is None:  # numbered over all files
            found = found.set_axis(pd.RangeIndex(n, n + len(frame)))
        yield found, known.unseen and NO_LEVEL
        n += len(frame)


def predictions_of(result: Results, rows: Rows, options: Options) -> pd.DataFrame:
    """Labels, scores and probabilities."""
    scores = result.decision_function(rows.X)
    labels = result.predict(rows.X, ties=options.ties, threshold=options.threshold)
    frame = pd.DataFrame({"predicted": labels, "score": scores})
    if result.problem.loss == "log":
        found = result.predict_proba(rows.X)
        for level in found.columns:
            frame[f"probability_{level}"] = found[level]
    return frame


@contextmanager
def _written(options: Options) -> Iterator[Callable[[str], object]]:
    """Where texts are written to: standard output, or a file once all are there."""
    if options.output is None:
        yield lambda text: write_output(text, exact=True)
        return
    with no_part_left(), outputs() as files:
        place = checked_place(options.output, PREDICTIONS, options.overwrite)
        handle = files.open(place)
        yield lambda text: handle.write(text.encode())


# ------------------------------------------------------- parity and compile


def parity(options: Options) -> Printed:
    """Run a fit in Python and by the reference in R; 1 if something differs."""
    if options.refine is not None:
        raise OptionError(
            "--refine goes on with SDCA, which has no counterpart in the R reference; "
            "leave it out."
        )
    train, _ = _read(options)
    formula = formula_for(options, train)
    _check_in_memory("parity", train)
    solver = solver_of(options)
    model = model_of(formula, train, solver, options)
    found = check_against_r(model, solver, via=options.via)
    text = f"{PROGRAM}: {options.train}\n\n{found}"
    if options.json:
        text = json.dumps(found.to_json_dict(), indent=2)
    return Printed(f"{text}\n", code=0 if found.equal else 1)


RUNS = [
    Pegasos(epochs=2, seed=1),
    Pegasos(epochs=2, seed=1, arithmetic="fast"),
    Pegasos(epochs=2, seed=1, batch_size=10),
    Pegasos(order="replace", steps=20, seed=1),
]
PERM = [SDCA(algorithm="perm", start=start, seed=1) for start in ("zero", "sgd")]


def compile_all(options: Options) -> Printed:
    """Fill the cache of compiled kernels; tell how many there are, and where."""
    from pegasos_stats.compiled.cache import folder, sources  # loads numba

    began = time.perf_counter()
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as place:
        warnings.simplefilter("ignore")
        fit_all(Path(place) / "rows.csv")
    cache = folder()
    count = 0 if cache is None else len(list(cache.glob(f"*.{sources()}-*.nbc")))
    seconds = time.perf_counter() - began
    return Printed(f"{count} compiled kernels in {cache} ({seconds:.0f} s)\n")


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


COMMANDS: dict[str, Callable[[Options], Printed]] = {
    "fit": fit,
    "report": report,
    "predict": predict,
    "parity": parity,
    "demo": demo,
    "compile": compile_all,
}
