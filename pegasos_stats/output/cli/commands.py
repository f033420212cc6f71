"""The commands: ``fit``, ``report``, ``predict``, ``parity``, ``demo``, ``compile``."""

import json
import shlex
import tempfile
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from pegasos_stats.data import datasets
from pegasos_stats.data.columns import in_a_piece
from pegasos_stats.data.scan.files import MEMORY, Scan, scan
from pegasos_stats.data.scan.formats import ending_of
from pegasos_stats.data.scan.formats_svmlight import SVMLIGHT
from pegasos_stats.data.scan.frames import scanned_frames
from pegasos_stats.errors import (
    DataError,
    FormulaError,
    LabelError,
    OptionError,
    PegasosStatsError,
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

SEED = 443  # of the reference run, which demo repeats

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
    return kind.from_formula(formula, train.data, **arguments)


# ----------------------------------------------------------- fit and report


def fit(options: Options) -> Printed:
    """Fit a file, and test on another."""
    check_places(options)
    train, test = _read(options)
    return _fitted(formula_for(options, train), train, test, options)


def report(options: Options) -> Printed:
    """Fit a file, test on another, and write a report."""
    loss = options.loss or ("log" if options.kernel is None else "hinge")
    page = "report.html" if options.output is None else options.output
    return fit(replace(options, report=page, output=None, loss=loss))


def demo(options: Options) -> Printed:
    """Fit the data that come with the package."""
    check_places(options)
    options = replace(
        options,
        train="handwritten fives and sixes, 8 x 8 pixels",
        seed=SEED if options.seed is None else options.seed,
        title="Handwritten fives and sixes",
        image_shape=(8, 8),
    )
    if options.lam is None and options.profile != "homework":
        options = replace(options, lam=1.0)
    train, test = (Rows("digits56", frame) for frame in datasets.load_digits56())
    return _fitted("digit ~ .", train, test, options)


def _read(options: Options) -> tuple[Rows, Rows | None]:
    """The training data and the test data that the options name."""
    path = options.test
    check_test(path)
    style, dense = style_of(options), options.kernel is not None
    train = read_data(options.train, options, style, dense=dense).named_by(options.id)
    if path is None:
        return train, None
    if train.format == "files":
        options = replace(options, memory=options.memory or MEMORY)
    X, y = train.split
    n_features = None if y is None else X.shape[1]
    known = n_features, train.zero_based, dense
    test = read_data(path, options, style, *known)
    check_alike(test.path, test.format, f"{train.path} is", train.format)
    return train, test.named_by(options.id if options.id in test.columns else None)


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
        tables["test"] = result.confusion(*test.split, unseen=options.unseen, **choices)
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
    )


def _choices(result: Results, options: Options) -> dict[str, Any]:
    """What is asked of confusion tables: statistics of a class, a threshold."""
    found = given_among(["threshold"], options)
    if options.positive is not None:
        text, levels = options.positive, result.coding.levels
        level = next((each for each in levels if str(each) == text), text)
        found |= {"positive": level, "mode": "sens_spec"}
    return found


def _fitted(
    formula: str | None, train: Rows, test: Rows | None, options: Options
) -> Printed:
    """Fit, save and report, and print it."""
    found = _evaluated(formula, train, test, options)
    path = options.report
    page = None if path is None else _page(found, test, options)
    about = {"format": train.format, "zero_based": train.zero_based}
    about |= asdict(train.style) | {"id": options.id}
    with no_part_left():
        if options.save is not None:
            save(found.result, options.save, about=about, overwrite=options.overwrite)
        if page is not None and path is not None:
            page.write(path, overwrite=options.overwrite)
    if options.json:
        return Printed(printed.fit_json(found, options.coefficients))
    if options.command == "report":
        text = printed.report_text(found)
    else:
        text = printed.fit_text(found, options.coefficients)
    return Printed(text + printed.places_text(options.save, options.report))


def _page(found: Evaluated, test: Rows | None, options: Options) -> reports.Report:
    """The report of a fit."""
    made = reports.report(
        found.result,
        None if test is None else test.labelled,
        unseen=options.unseen,
        title=options.title,
        image_shape=options.image_shape,
        positive=_choices(found.result, options).get("positive"),
        path_of_lambda=found.result.lambda_path,
        validation=found.validation,
        threshold=options.threshold,
    )
    command = shlex.join([PROGRAM, *options.words])
    return replace(made, page=replace(made.page, command=command))


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
    n, counts = 0, dict.fromkeys(map(str, result.coding.levels), 0)
    with _written(options) as write:
        for predictions in _predictions(result, rows, options):
            if in_json:
                collected.append(predictions)
            else:
                write(printed.csv_of(predictions, header=n == 0))
            n += len(predictions)
            for level in result.coding.levels:
                counts[str(level)] += int((predictions["predicted"] == level).sum())
    found = Predicted(
        title=f"{PROGRAM}: {options.model} on {options.data}",
        result=result,
        table=table,
        n_rows=n,
        counts=counts,
        notes=[why] if why else [],
        written=options.output,
    )
    if options.json:
        return Printed(found.as_json(pd.concat(collected) if in_json else None))
    text = found.as_text()
    return Printed("", text) if options.output is None else Printed(text)


def _rows_for(saved: Saved, options: Options) -> tuple[Rows, Options]:
    """Read data in the format and style of those that the model was fitted on."""
    result, about, data = saved.result, saved.about, options.data
    if about.get("format") == "files" and ending_of(data) in SVMLIGHT:
        options = replace(options, memory=options.memory or MEMORY)
    style = style_of(options, {} if options.memory else about)
    known = len(result.design.names), about.get("zero_based")
    rows = read_data(data, options, style, *known, isinstance(result, KernelResults))
    if options.id is None and about.get("id") in rows.columns:
        options = replace(options, id=about["id"])
    fitted_on = about.get("format", rows.format)
    check_alike(data, rows.format, "the model was fitted on", fitted_on)
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
        table = result.confusion(*rows.split, **choices)
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
) -> Iterator[pd.DataFrame]:
    """Labels, scores and probabilities of rows, some at a time."""
    if not isinstance(rows.data, Scan):
        yield predictions_of(result, rows.split[0], options)
        return
    offsets, n = result.offsets, 0
    also = [] if offsets is None else offsets.columns(rows.columns)
    also = also if options.id is None else [*also, options.id]
    for frame in scanned_frames(rows.data, result.design, also):
        piece = Rows(rows.path, frame).named_by(options.id)
        with in_a_piece():
            found = predictions_of(result, piece.data, options)
        if options.id is None:  # numbered over all files
            found = found.set_axis(pd.RangeIndex(n, n + len(frame)))
        yield found
        n += len(frame)


def predictions_of(result: Results, X: Any, options: Options) -> pd.DataFrame:
    """Labels, scores and probabilities."""
    known: dict[str, Any] = {"unseen": options.unseen}
    labels = result.predict(X, ties=options.ties, threshold=options.threshold, **known)
    scores = result.decision_function(X, **known)
    frame = pd.DataFrame({"predicted": labels, "score": scores})
    if result.problem.loss != "log":
        return frame
    return frame.join(result.predict_proba(X, **known).add_prefix("probability_"))


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
    solver = solver_of(options)
    model = model_of(formula, train, solver, options)
    found = check_against_r(model, solver, via=options.via)
    text = f"{PROGRAM}: {options.train}\n\n{found}"
    if options.json:
        text = json.dumps(found.to_json_dict(), indent=2)
    return Printed(f"{text}\n", code=0 if found.equal else 1)


SOLVERS = [
    None,
    Pegasos(epochs=2, seed=1),
    Pegasos(epochs=2, seed=1, arithmetic="fast"),
    Pegasos(epochs=2, seed=1, batch_size=10),
    Pegasos(order="replace", steps=20, seed=1),
    SDCA(algorithm="perm", seed=1),
    SDCA(algorithm="perm", start="sgd", seed=1),
]


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
    rows = [rng.normal(size=shape) for shape in ((80, 4), (400, 70), (40, 60))]
    sparse = csr_array((rng.random((80, 30)) < 0.3).astype(np.float64))
    frame = pd.DataFrame(np.tile(rows[0], (20, 1)), columns=list("abcd"))
    frame.assign(y=np.tile(y, 4)).to_csv(file, index=False)
    models: list[Any] = [KernelSVM(y[:80], rows[0], lam=0.1)]
    for kind in (SVM, Logit):
        for X in (*rows, sparse):
            for free in (True, False):
                models.append(kind(y[: X.shape[0]], X, lam=0.1, intercept=free))
        models.append(kind.from_formula("y ~ .", scan(file), lam=0.1))
        cross_validate(kind(y[:80], rows[0], lam=0.1), folds=3)
    for model in models:
        for solver in SOLVERS:
            with suppress(PegasosStatsError):  # not every solver takes every model
                model.fit(solver)
    for X in (rows[0], sparse):
        for kind in (SVM, Logit):
            kind(y[:80], X, lam=0.1).fit().summary()


COMMANDS: dict[str, Callable[[Options], Printed]] = {
    **{each.__name__: each for each in (fit, report, predict, parity, demo)},
    "compile": compile_all,
}
