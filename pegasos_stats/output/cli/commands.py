"""The commands: ``fit``, ``report``, ``predict``, ``parity``, ``demo``, ``compile``.

Each takes its options and the line that was typed, and returns the exit code.
"""

import json
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from pegasos_stats.data import datasets
from pegasos_stats.data.scan.files import MEMORY, Scan, scan, scanned_frames
from pegasos_stats.data.scan.formats import SVMLIGHT, ending_of
from pegasos_stats.errors import (
    DataError,
    FormulaError,
    LabelError,
    OptionError,
    PegasosStatsError,
    listing,
)
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models.kernel import KernelResults, KernelSVM
from pegasos_stats.models.linear import SVM, Logit
from pegasos_stats.models.results import Results
from pegasos_stats.output.cli import options as groups
from pegasos_stats.output.cli import printed
from pegasos_stats.output.cli.files import (
    PREDICTIONS,
    Rows,
    check_places,
    formula_for,
    read_data,
    read_rows,
    style_of,
)
from pegasos_stats.output.cli.options import (
    PROGRAM,
    Compile,
    Demo,
    Fit,
    Labels,
    Output,
    Parity,
    Predict,
    Reading,
    Report,
)
from pegasos_stats.output.cli.printed import Evaluated
from pegasos_stats.output.cli.program import no_part_left, write_output
from pegasos_stats.output.report import report as reports
from pegasos_stats.output.report.output_path import REPORT
from pegasos_stats.persist import Saved, load_saved, save
from pegasos_stats.persist.archive import MODEL
from pegasos_stats.solvers.options import declared
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies.parity import check_against_r
from pegasos_stats.studies.selection.cross_validation import cross_validate
from pegasos_stats.writing import checked_place, outputs, shown_path

SEED = 443  # of the reference run, which demo repeats

# ---------------------------------------------------------- solver and model


def given(group: Any, *left_out: str) -> dict[str, Any]:
    """Options of a group that were given, by name."""
    values = {each.name: getattr(group, each.name) for each in fields(group)}
    return {k: v for k, v in values.items() if v is not None and k not in left_out}


def solver_of(options: groups.Solver) -> Pegasos | SDCA:
    """Build the solver that the options describe: a named profile with changes, or new.

    Raises
    ------
    CallError, OptionError
        If options do not go together.
    """
    values = given(options, "solver")
    of_runs = {*declared(Pegasos)} - {*declared(SDCA)} | {"epochs"}
    of_runs |= {"rows", "profile", "refine"}
    is_run = bool(values.keys() & of_runs) or options.start == "random"
    if (options.solver or ("pegasos" if is_run else "sdca")) == "sdca":
        return SDCA(**values)
    values = given(options, "solver", "rows", "profile", "refine")
    if options.rows is not None:
        if options.order is not None:
            raise OptionError("rows= and order= exclude each other; give one.")
        values["order"] = read_rows(options.rows)
    if options.profile is None:
        return Pegasos(**values)
    steps = [options.steps] if options.profile == "paper" else []
    profile: Pegasos = getattr(Pegasos, options.profile)(*steps)
    return replace(profile, **values)


def model_of(
    train: Rows, solver: Pegasos | SDCA, options: Fit | Report | Parity
) -> Any:
    """The model of the training data, not yet fitted.

    Raises
    ------
    CallError, OptionError
        If options do not go together.
    """
    asked = options.model
    arguments = given(asked, "loss")
    if options.solver.profile == "homework":
        arguments.setdefault("lam", 1e-4)  # as set in courses
    arguments["intercept"] = asked.intercept and solver.intercept is not False
    kind: type[SVM | Logit | KernelSVM] = Logit if asked.loss == "log" else SVM
    if asked.kernel is not None:
        if asked.loss == "log":
            raise OptionError("A kernel model has the loss hinge only; leave one out.")
        kind = KernelSVM
    if (formula := formula_for(options, train)) is None:
        y, X = train.labelled
        return kind(y, X, **arguments)
    return kind.from_formula(formula, train.data, **arguments)


# ----------------------------------------------------------- fit and report


def fit(options: Fit, line: str) -> int:
    """Fit a file, and test on another."""
    _print(_fitted(options, options.output, line), options.output)
    return 0


def report(options: Report, line: str) -> int:
    """Fit a file, test on another, and write a report."""
    if options.model.loss is None and options.model.kernel is None:
        options = replace(options, model=replace(options.model, loss="log"))
    found = _fitted(options, Output(overwrite=options.overwrite), line, options.output)
    write_output(printed.report_text(found) + printed.places_text(None, options.output))
    return 0


def demo(options: Demo, line: str) -> int:
    """Fit the data that come with the package."""
    solver, model = options.solver, options.model
    if solver.seed is None:
        solver = replace(solver, seed=SEED)
    if solver.solver is None:
        solver = replace(solver, solver="pegasos")
    if model.lam is None and solver.profile != "homework":
        model = replace(model, lam=1.0)
    asked = Report(
        train="handwritten fives and sixes, 8 x 8 pixels",
        training=groups.Training(formula="digit ~ ."),
        title="Handwritten fives and sixes",
        image_shape=(8, 8),
        cv=options.cv,
        labels=options.labels,
        errors=options.errors,
        solver=solver,
        model=model,
    )
    found = _fitted(asked, options.output, line, options.report, digits=True)
    _print(found, options.output, options.report)
    return 0


def _fitted(
    options: Fit | Report,
    output: Output,
    line: str,
    page: str | None = None,
    digits: bool = False,
) -> Evaluated:
    """Fit, evaluate, save the fit and write its page, where they are asked for."""
    inputs = [options.train, options.test, options.solver.rows]
    check_places(inputs, output.overwrite, (output.save, MODEL), (page, REPORT))
    train, test = _digits() if digits else _read(options)
    found = _evaluated(train, test, options, output)
    made = None
    if page is not None and isinstance(options, Report):
        made = reports.report(
            found.result,
            None if test is None else test.labelled,
            unseen=options.reading.unseen,
            title=options.title,
            image_shape=options.image_shape,
            positive=_choices(found.result, options.labels).get("positive"),
            path_of_lambda=found.result.lambda_path,
            validation=found.validation,
            threshold=found.threshold,
        )
        made = replace(made, page=replace(made.page, command=line))
    about = {"format": train.format, "zero_based": train.zero_based}
    about |= asdict(train.style) | {"id": options.reading.id}
    with no_part_left():
        if output.save is not None:
            save(found.result, output.save, about=about, overwrite=output.overwrite)
        if made is not None and page is not None:
            made.write(page, overwrite=output.overwrite)
    return found


def _print(found: Evaluated, output: Output, report: str | None = None) -> None:
    """Print a fit, as text or JSON."""
    if output.json:
        text = printed.fit_json(found, output.coefficients)
    else:
        text = printed.fit_text(found, output.coefficients)
        text += printed.places_text(output.save, report)
    write_output(text)


def _digits() -> tuple[Rows, Rows]:
    """The training data and the test data of the demonstration."""
    train, test = datasets.load_digits56()
    return Rows("digits56", train), Rows("digits56", test)


def _read(options: Fit | Report | Parity) -> tuple[Rows, Rows | None]:
    """The training data and the test data that the options name."""
    reading, dense = options.reading, options.model.kernel is not None
    path = None if isinstance(options, Parity) else options.test
    if options.train == path == "-":
        raise OptionError("Standard input is read once; give a file for one of both.")
    style = style_of(reading)
    train = read_data(options.train, reading, style, dense=dense).named_by(reading.id)
    if path is None:
        return train, None
    if train.format == "files":
        reading = replace(reading, memory=reading.memory or MEMORY)
    X, y = train.split
    n_features = None if y is None else X.shape[1]
    test = read_data(path, reading, style, n_features, train.zero_based, dense)
    return train, test.named_by(reading.id if reading.id in test.columns else None)


def _evaluated(
    train: Rows,
    test: Rows | None,
    options: Fit | Report,
    output: Output,
) -> Evaluated:
    """The fit that the options describe, and its tables."""
    labels, seed = options.labels, options.solver.seed
    solver = solver_of(options.solver)
    model = model_of(train, solver, options)
    validation = None
    if options.cv is not None:
        validation = cross_validate(
            model,
            None if solver.to_optimum else solver,  # that of studies is enough
            folds=options.cv,
            groups=options.errors.groups,
            seed=1 if seed is None else seed,
        )
    fitting = given(options.errors)
    if options.solver.refine is not None:
        fitting["refine"] = options.solver.refine
    if options.model.kernel is not None and options.cv is not None:
        fitting.pop("groups", None)  # they are those of the folds
    result = model.fit(
        solver,
        trace=output.trace,
        progress=output.progress,
        test=test.labelled if output.trace and test is not None else None,
        **fitting,
    )
    choices = _choices(result, labels)
    tables = {"training": result.confusion(**choices)}
    if test is not None:
        unseen = options.reading.unseen
        tables["test"] = result.confusion(*test.split, unseen=unseen, **choices)
    if validation is not None:
        table = validation.confusion(threshold=labels.threshold)
        asked = tables["training"].choices
        tables["out-of-fold"] = replace(table, choices=asked)
    title = f"{PROGRAM}: {options.train}"
    return Evaluated(title, result, tables, validation, labels.threshold)


def _choices(result: Results, labels: Labels) -> dict[str, Any]:
    """What is asked of confusion tables: statistics of a class, a threshold."""
    found = given(labels)
    if labels.positive is not None:
        text, levels = labels.positive, result.coding.levels
        level = next((each for each in levels if str(each) == text), text)
        found |= {"positive": level, "mode": "sens_spec"}
    return found


# ------------------------------------------------------------------ predict


def predict(options: Predict, line: str) -> int:
    """Predict the rows of files with a saved model, and write them as they come."""
    if options.output in ("-", "/dev/stdout"):
        options = replace(options, output=None)
    read, written = [options.data, options.model], options.output
    check_places(read, options.overwrite, (written, PREDICTIONS))
    saved = load_saved(options.model)
    result = saved.result
    if not isinstance(result, Results):
        raise DataError(
            f"The file {shown_path(options.model)} holds a result of the type "
            f"{type(result).__name__} and no fit; give a file that fit --save wrote."
        )
    rows, reading = _rows_for(saved, options)
    table, why = _table(result, rows, options)
    in_json = options.json and written is None
    collected: list[pd.DataFrame] = []
    n, counts = 0, dict.fromkeys(map(str, result.coding.levels), 0)
    with _written(options) as write:
        for predictions in _predictions(result, rows, options, reading):
            if in_json:
                collected.append(predictions)
            else:
                write(printed.csv_of(predictions, header=n == 0))
            n += len(predictions)
            for level in result.coding.levels:
                counts[str(level)] += int((predictions["predicted"] == level).sum())
    found = printed.Predicted(result, n, counts, table, why)
    if options.json:
        facts = found.facts
        if in_json:
            facts["predictions"] = printed.records(pd.concat(collected))
        write_output(printed.strict_json(facts))
        return 0
    text = f"{PROGRAM}: {options.model} on {options.data}\n{found}\n"
    if written is None:
        sys.stderr.write(text)
    else:
        write_output(f"{text}\nPredictions written to {shown_path(written)}\n")
    return 0


def _rows_for(saved: Saved, options: Predict) -> tuple[Rows, Reading]:
    """Read data in the format and style of those that the model was fitted on."""
    about, data, reading = saved.about, options.data, options.reading
    if about.get("format") == "files" and ending_of(data) in SVMLIGHT:
        reading = replace(reading, memory=reading.memory or MEMORY)
    style = style_of(reading, {} if reading.memory else about)
    known = len(saved.result.design.names), about.get("zero_based")
    dense = isinstance(saved.result, KernelResults)
    rows = read_data(data, reading, style, *known, dense)
    if reading.id is None and about.get("id") in rows.columns:
        reading = replace(reading, id=about["id"])
    return rows.named_by(reading.id), reading


def _table(
    result: Results, rows: Rows, options: Predict
) -> tuple[ConfusionMatrix | None, str]:
    """The confusion table, if the rows have labels; or why there is none."""
    if options.unlabelled:
        return None, ""
    choices = _choices(result, options.labels) | {"ties": options.ties}
    unseen = options.reading.unseen
    try:
        table = result.confusion(*rows.split, unseen=unseen, **choices)
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
    result: Results, rows: Rows, options: Predict, reading: Reading
) -> Iterator[pd.DataFrame]:
    """Labels, scores and probabilities of rows, some at a time."""
    threshold, unseen = options.labels.threshold, reading.unseen

    def of(X: object) -> pd.DataFrame:
        labels = result.predict(
            X, ties=options.ties, threshold=threshold, unseen=unseen
        )
        scores = result.decision_function(X, unseen=unseen)
        frame = pd.DataFrame({"predicted": labels, "score": scores})
        if result.problem.loss != "log":
            return frame
        shares = result.predict_proba(X, unseen=unseen)
        return frame.join(shares.add_prefix("probability_"))

    if not isinstance(rows.data, Scan):
        yield of(rows.split[0])
        return
    offsets, n = result.offsets, 0
    also = [] if offsets is None else offsets.columns(rows.columns)
    also = also if reading.id is None else [*also, reading.id]
    for frame in scanned_frames(rows.data, result.design, also):
        found = of(Rows(rows.path, frame).named_by(reading.id).data)
        if reading.id is None:  # numbered over all files
            found = found.set_axis(pd.RangeIndex(n, n + len(frame)))
        yield found
        n += len(frame)


@contextmanager
def _written(options: Predict) -> Iterator[Callable[[str], object]]:
    """Where texts are written to: standard output, or a file once all are there."""
    if options.output is None:
        yield lambda text: write_output(text, exact=True)
        return
    with no_part_left(), outputs() as files:
        place = checked_place(options.output, PREDICTIONS, options.overwrite)
        handle = files.open(place)
        yield lambda text: handle.write(text.encode())


# ------------------------------------------------------- parity and compile


def parity(options: Parity, line: str) -> int:
    """Run a fit in Python and by the reference in R; 1 if something differs."""
    if options.solver.refine is not None:
        raise OptionError("--refine has no counterpart in R; leave it out.")
    train, _ = _read(options)
    name = options.solver.solver or "pegasos"
    solver = solver_of(replace(options.solver, solver=name))
    model = model_of(train, solver, options)
    found = check_against_r(model, solver, via=options.via)
    text = f"{PROGRAM}: {options.train}\n\n{found}"
    if options.json:
        text = json.dumps(found.to_json_dict(), indent=2)
    write_output(f"{text}\n")
    return 0 if found.equal else 1


SOLVERS = [
    None,
    Pegasos(epochs=2, seed=1),
    Pegasos(epochs=2, seed=1, arithmetic="fast"),
    Pegasos(epochs=2, seed=1, batch_size=10),
    Pegasos(order="replace", steps=20, seed=1),
    SDCA(algorithm="perm", seed=1),
    SDCA(algorithm="perm", start="sgd", seed=1),
]


def compile_all(options: Compile, line: str) -> int:
    """Fill the cache of compiled kernels; tell how many there are, and where."""
    from pegasos_stats.compiled.cache import folder, sources  # loads numba

    began = time.perf_counter()
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as place:
        warnings.simplefilter("ignore")
        fit_all(Path(place) / "rows.csv")
    cache = folder()
    count = 0 if cache is None else len(list(cache.glob(f"*.{sources()}-*.nbc")))
    seconds = time.perf_counter() - began
    write_output(f"{count} compiled kernels in {cache} ({seconds:.0f} s)\n")
    return 0


def fit_all(file: Path) -> None:
    """Fit all kinds of rows by all solvers; rows of a file are written there."""
    rng = np.random.default_rng(1)
    y = np.tile([-1, 1], 200)
    rows = [rng.normal(size=shape) for shape in ((80, 4), (400, 70), (40, 60))]
    sparse = csr_array((rng.random((80, 30)) < 0.3).astype(np.float64))
    frame = pd.DataFrame(np.tile(rows[0], (20, 1)), columns=list("abcd"))
    frame.assign(y=np.tile(y, 4)).to_csv(file, index=False)
    models: list[SVM | Logit | KernelSVM] = [KernelSVM(y[:80], rows[0], lam=0.1)]
    for kind in (SVM, Logit):
        for X in (*rows, sparse):
            for free in (True, False):
                models.append(kind(y[: X.shape[0]], X, lam=0.1, intercept=free))
        models.append(kind.from_formula("y ~ .", scan(file), lam=0.1))
        cross_validate(kind(y[:80], rows[0], lam=0.1), folds=3)
        for X in (rows[0], sparse):
            kind(y[:80], X, lam=0.1).fit().summary()
    for model in models:
        for solver in SOLVERS:
            with suppress(PegasosStatsError):  # not every solver takes every model
                model.fit(solver)


COMMANDS: dict[type, Callable[[Any, str], int]] = {
    Fit: fit,
    Report: report,
    Predict: predict,
    Parity: parity,
    Demo: demo,
    Compile: compile_all,
}
