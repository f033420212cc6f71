"""The commands: ``fit``, ``report``, ``predict``, ``parity``, ``demo``, ``proof``, ...

A command has two arguments, its options and the line that the user typed. It returns
the exit code, or None for 0.
"""

import json
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, fields, replace
from functools import partial
from importlib import resources
from itertools import product
from os.path import splitext
from typing import Any, cast

import numpy as np
import pandas as pd
from scipy.sparse import csr_array

from pegasos_stats import datasets, errors, tables, writing
from pegasos_stats.data.labels import class_names
from pegasos_stats.data.language.formula_design import kinds_at_fit
from pegasos_stats.data.scan import files as scans
from pegasos_stats.data.user_data import convert_errors
from pegasos_stats.errors import DataError, OptionError
from pegasos_stats.metrics.confusion import ConfusionMatrix
from pegasos_stats.models import summaries
from pegasos_stats.models.kernel import KernelResults, KernelSVM
from pegasos_stats.models.linear import SVM, Logit
from pegasos_stats.models.linear_results import LinearResults
from pegasos_stats.models.notes import factor_levels
from pegasos_stats.models.results import Results
from pegasos_stats.output.cli import files, program
from pegasos_stats.output.cli import options as groups
from pegasos_stats.output.cli.files import InputRows, read_data
from pegasos_stats.output.cli.options import PROGRAM
from pegasos_stats.output.plotting.curves import Fitted
from pegasos_stats.output.report import report as reports
from pegasos_stats.persist import Saved, load_saved, save
from pegasos_stats.persist.archive import MODEL
from pegasos_stats.proofs import check_proof
from pegasos_stats.proofs.proof import DESIGN, PROOF, design_path
from pegasos_stats.solvers.optimum import AnySolver, Optimum
from pegasos_stats.solvers.options import declared
from pegasos_stats.solvers.pegasos import Pegasos
from pegasos_stats.solvers.sdca import SDCA
from pegasos_stats.studies import cross_validation
from pegasos_stats.studies.parity import check_against_r

DEMO_SEED = 443  # demo repeats the run of the R script

Facts = dict[str, object]  # by name, for JSON


@dataclass(frozen=True)
class EvaluatedFit:
    """A fit with its confusion tables and its cross-validation.

    Attributes
    ----------
    title : str
    result : LinearResults or KernelResults
    tables : dict of ConfusionMatrix
        Keys: training, test, out-of-fold.
    validation : CrossValidation or None
    threshold : float or None
        Threshold of the tables.
    cost : dict or None
        Cost of a misclassified row, by its class.
    """

    title: str
    result: Fitted
    tables: dict[str, ConfusionMatrix]
    validation: cross_validation.CrossValidation | None
    threshold: float | None
    cost: dict[object, float] | None


# ---------------------------------------------------------- solver and model


def options_set(group: Any, *excluded: str) -> dict[str, Any]:
    """Return the options of a group that are not None, by name."""
    values = {option.name: getattr(group, option.name) for option in fields(group)}
    return {k: v for k, v in values.items() if v is not None and k not in excluded}


def solver_of(options: groups.SolverOptions) -> AnySolver:
    """Build the solver of the options.

    Raises
    ------
    CallError, OptionError
        If options contradict each other.
    """
    values = options_set(options, "solver")
    own = {*declared(Pegasos), "refine"} - {*declared(Optimum)} | {"epochs"}
    is_pegasos = bool(values.keys() & own) or options.start == "random"
    name = options.solver or ("pegasos" if is_pegasos else "optimum")
    if name == "pegasos":
        values.pop("refine", None)  # an argument of fit()
    kinds: dict[str, type[AnySolver]]
    kinds = {"optimum": Optimum, "pegasos": Pegasos, "sdca": SDCA}
    return kinds[name](**values)


def model_of(train: InputRows, options: groups.FileFitting | groups.Parity) -> Any:
    """Build the model of the training data, without fitting it.

    Raises
    ------
    CallError, OptionError
        If options contradict each other.
    """
    model_options = options.model
    arguments = options_set(model_options, "loss")
    kind: type[SVM | Logit | KernelSVM] = Logit if model_options.loss == "log" else SVM
    if model_options.loss == "squared_hinge":
        arguments["loss"] = model_options.loss
    if model_options.kernel is not None:
        if model_options.loss in ("log", "squared_hinge"):
            raise OptionError("A kernel model requires the hinge loss; omit --loss.")
        kind = KernelSVM
    if (formula := files.formula_for(options, train)) is None:
        y, X = train.labelled
        return kind(y, X, **arguments)
    return kind.from_formula(formula, train.data, **arguments)


# ----------------------------------------------------------- fit and report


def fit(options: groups.FitOptions, line: str) -> None:
    """Fit a model to a file and evaluate it, also on a test file if there is one."""
    _fit(options, options.output, line)


def report(options: groups.ReportOptions, line: str) -> None:
    """Fit a model to a file, evaluate it as `fit` does, and write a report."""
    if options.model.loss is None and options.model.kernel is None:
        options = replace(options, model=replace(options.model, loss="log"))
    output = groups.Output(overwrite=options.overwrite)
    _fit(options, output, line, options.output)


def demo(options: groups.Demo, line: str) -> None:
    """Fit a model to the example data of the package."""
    solver, model = options.solver, options.model
    solver = replace(solver, seed=DEMO_SEED if solver.seed is None else solver.seed)
    solver = replace(solver, solver=solver.solver or "pegasos")
    if model.lam is None:
        model = replace(model, lam=1.0)
    report_options = groups.ReportOptions(
        train="handwritten fives and sixes, 8 x 8 pixels",
        training=groups.Training(formula="digit ~ ."),
        title="Handwritten fives and sixes",
        image_shape=(8, 8),
        folds=options.folds,
        labels=options.labels,
        errors=options.errors,
        solver=solver,
        model=model,
    )
    _fit(report_options, options.output, line, options.report, _digits)


class CommandReport(reports.Report):
    """A report whose messages name the options of the command line."""

    def _worded(self, message: str) -> str:
        return program.as_options(message)


def _fit(
    options: groups.FileFitting,
    output: groups.Output,
    line: str,
    page: str | None = None,
    data: Callable[[], tuple[InputRows, InputRows | None]] | None = None,
) -> None:
    """Fit, evaluate and print; write the model, its proof and its report on request."""
    places = [(output.save, MODEL), (page, reports.REPORT), (output.proof, PROOF)]
    if output.proof is not None:
        places.append((design_path(output.proof), DESIGN))
    if page is not None:
        places.append((reports.rows_path(page), reports.CSV))
    files.check_places([options.train, options.test], output.overwrite, *places)
    train, test = _input_data(options) if data is None else data()
    evaluated = _evaluated(train, test, options, output)
    written = None
    if page is not None:
        written = reports.report(
            evaluated.result,
            None if test is None else test.labelled,
            unseen=options.reading.unseen,
            title=getattr(options, "title", None),
            image_shape=getattr(options, "image_shape", None),
            positive=_choices(evaluated.result, options.labels).get("positive"),
            validation=evaluated.validation,
            threshold=evaluated.threshold,
            cost=evaluated.cost,
            row_names=options.reading.id is not None,
        )
        written = CommandReport(**{**vars(written), "command": line})
    about = {"format": train.format, "zero_based": train.zero_based}
    about |= asdict(train.style) | {"id": options.reading.id}
    write = fit_json if output.json else fit_text
    text = write(evaluated, output.coefficients)
    if output.proof is not None:
        if not isinstance(evaluated.result, LinearResults):
            raise OptionError("A kernel model has no proof; omit --proof.")
        evaluated.result.write_proof(output.proof, overwrite=output.overwrite)
    if written is not None and page is not None:
        written.write(page, overwrite=output.overwrite)
    if output.save is not None:  # last, so that computed standard errors are saved
        save(evaluated.result, output.save, about=about, overwrite=output.overwrite)
    if output.json:
        program.write_output(text)
        return
    for place, what in (
        (output.save, "Model saved in"),
        (output.proof, "Proof written to"),
        (page, "Report written to"),
    ):
        text += f"\n{what} {writing.shown_path(place)}\n" if place else ""
    program.write_output(text)


def fit_text(evaluated: EvaluatedFit, coefficients: bool) -> str:
    """Summary, trace and tables of a fit as text."""
    result = evaluated.result
    summary, footer = summaries.summary_of(result, pd.DataFrame()), ""
    if isinstance(result, LinearResults):
        footer = "--coefficients adds the coefficients and their standard errors."
        if coefficients:
            summary = result.summary(max_terms=None)
            footer = summary.footer.removesuffix(tables.MORE).strip()
    text = program.as_options(str(replace(summary, footer=footer)))
    lines = [evaluated.title, text.rstrip("\n")]
    if (cut := evaluated.threshold) is not None:
        lines.append(f"The tables use the threshold {cut:g}, unlike the lines above.")
    if result.trace is not None:
        rows = result.trace.to_string(index=False, float_format="{:.6g}".format)
        lines += ["", "Trace", rows]
    for name, table in evaluated.tables.items():
        lines += ["", f"{name.capitalize()} data", str(table)]
    return "\n".join(lines) + "\n"


def fit_json(evaluated: EvaluatedFit, coefficients: bool) -> str:
    """Numbers of a fit as JSON, optionally with the coefficients."""
    result, trace = evaluated.result, evaluated.result.trace
    levels = factor_levels(result.design).items()
    content: Facts = {
        "outcome": result.coding.name,
        "levels": [str(level) for level in result.coding.levels],
        "label_counts": {
            k: dict(zip(map(str, t.levels), t.counts.sum(axis=1).tolist(), strict=True))
            for k, t in evaluated.tables.items()
        },
        "factors": {name: len(factor) for name, factor in levels},
        "missing": dict(result.dropped.missing),
        **result_facts(result),
        "trace": None if trace is None else trace.to_dict(orient="records"),
        "confusion": {k: _table_facts(t) for k, t in evaluated.tables.items()},
        **{
            key: [program.as_options(n.text) for n in result.notes if n.severity == of]
            for key, of in (("warnings", "warning"), ("hints", "note"))
        },
    }
    if coefficients and isinstance(result, LinearResults):
        table = result.coefficient_table().to_dict(orient="records")
        content["coefficients"] = table
        content["coefficient_notes"] = [note.text for note in result.notes_on_errors()]
    return strict_json(content)


def strict_json(content: object) -> str:
    """Write JSON without NaN and infinity, which become null.

    Examples
    --------
    >>> json.loads(strict_json([1.5, float("nan")]))
    [1.5, None]
    """
    text = json.dumps(content, default=str)  # classes may be dates or numpy scalars
    finite = json.loads(text, parse_constant=lambda _: None)
    return json.dumps(finite, indent=2) + "\n"


def result_facts(result: Fitted) -> Facts:
    """The columns of `glance`, the methods and the solution of a fit, for JSON."""
    problem, then = result.problem, result.refinement
    glance = result.glance().iloc[0].items()
    facts = {str(k): None if pd.isna(v) else errors.plain(v) for k, v in glance}
    facts |= {
        "lambda_rule": problem.lam_rule,
        "intercept": problem.intercept,
        "methods": [run._asdict() for run in result.solution.methods],
        "refine": None if then is None else then.tol,
    }
    if isinstance(result, KernelResults):
        return facts | {"alpha": result.intercept}
    original = result.params_original.to_dict()
    return facts | {"params": result.params.to_dict(), "params_original": original}


def _table_facts(table: ConfusionMatrix) -> Facts:
    """Counts, all statistics and misclassified rows of a table, for JSON."""
    with warnings.catch_warnings():  # undefined statistics are null
        warnings.simplefilter("ignore", errors.UndefinedMetricWarning)
        statistics = table.tidy().to_dict(orient="records")
    return {
        "actual": [str(level) for level in table.table.index],
        "predicted": [str(level) for level in table.table.columns],
        "table": table.table.to_numpy().tolist(),
        "n_errors": table.n_errors,
        "n_undecided": table.n_undecided,
        "rows": table.source,
        "statistics": statistics,
        "misclassified_rows": [str(row) for row in table.errors.index],
    }


def _digits() -> tuple[InputRows, InputRows]:
    """Training and test data of the demonstration."""
    train, test = datasets.load_digits56()
    return InputRows("digits56", train), InputRows("digits56", test)


def _input_data(
    options: groups.FileFitting | groups.Parity,
) -> tuple[InputRows, InputRows | None]:
    """Read the training and test data of the options."""
    reading, dense = options.reading, options.model.kernel is not None
    path = options.test if isinstance(options, groups.FileFitting) else None
    if options.train == path == "-":
        raise OptionError("Standard input can be read only once; pass one file.")
    style = files.style_of(reading, {})
    train = read_data(options.train, reading, style, dense=dense).named_by(reading.id)
    if path is None:
        return train, None
    n_features = None
    if train.format == "files":
        reading = replace(reading, memory=reading.memory or scans.MEMORY)
    elif train.format == "svmlight":
        n_features = train.predictors.shape[1]
    kinds = files.kinds_of(train)
    test = read_data(path, reading, style, n_features, train.zero_based, dense, kinds)
    return train, test.named_by(reading.id if reading.id in test.columns else None)


def _evaluated(
    train: InputRows,
    test: InputRows | None,
    options: groups.FileFitting,
    output: groups.Output,
) -> EvaluatedFit:
    """Fit the model of the options and compute its tables."""
    labels, seed = options.labels, options.solver.seed
    solver = solver_of(options.solver)
    model = model_of(train, options)
    validation = None
    if options.folds is not None:
        validation = cross_validation.cross_validate(
            model,
            None if solver.to_optimum else solver,  # studies need less precision
            folds=options.folds,
            groups=options.errors.groups,
            seed=1 if seed is None else seed,
        )
    fitting = options_set(options.errors) | {"refine": options.solver.refine}
    if options.model.kernel is not None and options.folds is not None:
        fitting.pop("groups", None)  # only the folds need them
    new = None if test is None else test.labelled
    result = model.fit(
        solver,
        trace=output.trace,
        progress=output.progress,
        test=new if output.trace else None,
        **fitting,
    )
    cost = _costs(result, getattr(options, "cost", None))
    if cost is not None and labels.threshold is None:
        labels = replace(labels, threshold=reports.checked_cost(cost, result)[1])
    choices = _choices(result, labels)
    tables = {"training": result.confusion(**choices)}
    if new is not None:
        unseen = options.reading.unseen
        tables["test"] = result.confusion(new, unseen=unseen, **choices)
    if validation is not None:
        table = validation.confusion(threshold=labels.threshold)
        tables["out-of-fold"] = replace(table, choices=tables["training"].choices)
    title = f"{PROGRAM}: {options.train}"
    return EvaluatedFit(title, result, tables, validation, labels.threshold, cost)


def _choices(result: Results, labels: groups.Labels) -> dict[str, Any]:
    """Arguments of ``confusion()``: positive class and threshold."""
    choices = options_set(labels)
    if labels.positive is not None:
        level = _levels(result).get(labels.positive, labels.positive)
        choices |= {"positive": level, "mode": "sens_spec"}
    return choices


def _levels(result: Results) -> dict[str, object]:
    """Classes by their text, and by their names in a report."""
    design, levels = result.design, result.coding.levels
    names = class_names(result.coding, design.formula, design.functions)
    return dict(zip([*names, *map(str, levels)], [*levels, *levels], strict=True))


def _costs(result: Results, words: list[str] | None) -> dict[object, float] | None:
    """Parse costs of classes, such as ``yes=5``.

    Raises
    ------
    OptionError
        If a word has another form, or does not name a class.
    """
    if words is None:
        return None
    levels, costs = _levels(result), dict[object, float]()
    first, second = result.coding.levels
    cure = f"write --cost {first}=1 --cost {second}=5"
    for word in words:
        name, _, number = word.rpartition("=")
        refusal = f"--cost {errors.shown(word)} is not allowed; {cure}."
        with convert_errors(OptionError(refusal)):
            costs[levels[name]] = float(number)
    if len(costs) < 2:
        raise OptionError(f"--cost is needed for both classes; {cure}.")
    return costs


# ------------------------------------------------------------------ predict


def predict(options: groups.Predict, line: str) -> None:
    """Predict rows with a saved model and write the predictions block by block."""
    if options.output in ("-", "/dev/stdout"):
        options = replace(options, output=None)
    place = options.output
    if place is not None and (end := splitext(place)[1].lower()) in files.NO_TEXT:
        raise OptionError(
            f"Predictions are written as CSV, but {writing.shown_path(place)} ends in "
            f"'{end}'; use a name that ends in .csv."
        )
    inputs = [options.data, options.model]
    files.check_places(inputs, options.overwrite, (place, files.PREDICTIONS))
    saved = load_saved(options.model)
    result = saved.result
    if not isinstance(result, Results):
        raise DataError(
            f"The file {writing.shown_path(options.model)} contains a "
            f"{type(result).__name__}, not a fit; pass a file that fit --save wrote."
        )
    rows, reading = _rows_for(saved, options)
    table, note = _table(result, rows, options)
    n, counts = 0, Counter[object]()
    with _written(options) as write:
        for predictions in _predictions(result, rows, options, reading):
            write(csv_of(predictions, header=n == 0))
            n += len(predictions)
            counts.update(predictions["predicted"].dropna())
    levels = result.coding.levels
    lines = [
        f"{PROGRAM}: {options.model} on {options.data}",
        f"Outcome    {result.coding.described}",
        f"Rows       {n:,}, {n - counts.total():,} of them without a prediction",
        f"Predicted  {', '.join(f'{level}: {counts[level]:,}' for level in levels)}",
        *([f"Note       {note}"] if note else []),
        *([] if table is None else ["", str(table)]),
    ]
    text = "\n".join(lines) + "\n"
    if place is None:
        program.tell(text)
    else:
        where = writing.shown_path(place)
        program.write_output(f"{text}\nPredictions written to {where}\n")


def _rows_for(
    saved: Saved, options: groups.Predict
) -> tuple[InputRows, groups.ReadingOptions]:
    """Read data in the format of the training data."""
    about, data, reading = saved.about, options.data, options.reading
    if about.get("format") == "files" and scans.ending_of(data) in scans.SVMLIGHT:
        reading = replace(reading, memory=reading.memory or scans.MEMORY)
    style = files.style_of(reading, {} if reading.memory else about)
    features = len(saved.result.design.names), about.get("zero_based")
    dense, id_column = isinstance(saved.result, KernelResults), reading.id
    kinds = kinds_at_fit(saved.result.design, saved.result.coding)
    reading = replace(reading, id=id_column or about.get("id"))
    rows = read_data(data, reading, style, *features, dense, kinds)
    if id_column is None and reading.id not in rows.columns:
        reading = replace(reading, id=None)
    return rows.named_by(reading.id), reading


def _table(
    result: Results, rows: InputRows, options: groups.Predict
) -> tuple[ConfusionMatrix | None, str]:
    """Confusion table of labelled rows, or None and the reason why there is none."""
    if options.unlabelled:
        return None, ""
    choices = _choices(result, options.labels) | {"ties": options.ties}
    unseen, without = options.reading.unseen, "the data contain no outcome"
    try:
        table = result.confusion(rows.labelled, unseen=unseen, **choices)
        return (table, "") if table.counts.sum() else (None, without)
    except errors.LabelError:
        levels = errors.listing(result.coding.levels)
        where = f"some labels in {rows.path} are not classes of the model"
        return None, f"{where}, {levels}: predictions only"
    # If predictors are missing as well, the predictions raise this error again.
    except (DataError, errors.FormulaError):
        return None, without


def _predictions(
    result: Results,
    rows: InputRows,
    options: groups.Predict,
    reading: groups.ReadingOptions,
) -> Iterator[pd.DataFrame]:
    """Yield labels, scores and probabilities, block by block."""
    threshold, unseen = options.labels.threshold, reading.unseen

    def of(X: object) -> pd.DataFrame:
        labels = result.predict(
            X, ties=options.ties, threshold=threshold, unseen=unseen
        )
        scores = result.decision_function(X, unseen=unseen)
        frame = pd.DataFrame({"predicted": labels, "score": scores})
        if result.problem.loss != "log":
            return frame
        shares = result.predict_proba(X, unseen=unseen).add_prefix("probability_")
        return frame.assign(**{str(name): of.to_numpy() for name, of in shares.items()})

    if rows.format != "files":
        yield of(rows.predictors)
        return
    offsets, n = result.offsets, 0
    also = [] if offsets is None else offsets.columns(rows.columns)
    of_model = result.design, result.coding
    files = cast("scans.Scan", rows.data)
    for frame in scans.scanned_frames(files, *of_model, also, reading.id):
        predictions = of(InputRows(rows.path, frame).named_by(reading.id).data)
        if reading.id is None:  # row numbers continue over all files
            predictions = predictions.set_axis(pd.RangeIndex(n, n + len(frame)))
        yield predictions
        n += len(frame)


def csv_of(predictions: pd.DataFrame, header: bool = True) -> str:
    """Convert predictions to CSV; scores have 17 significant digits."""
    text: str = predictions.astype({"predicted": object}).to_csv(
        index_label=str(predictions.index.name or "row"),
        lineterminator="\n",
        header=header,
        float_format="%.17g",
    )
    return text


@contextmanager
def _written(options: groups.Predict) -> Iterator[Callable[[str], object]]:
    """Open the output: standard output, or a file that appears when it is complete."""
    if options.output is None:
        yield partial(program.write_output, exact=True)
        return
    with writing.outputs() as outputs:
        place = options.output, files.PREDICTIONS, options.overwrite
        handle = outputs.open(writing.validated_output_path(*place))
        yield lambda text: handle.write(text.encode())


# ------------------------------------------------------- parity and compile


def parity(options: groups.Parity, line: str) -> int:
    """Compare a fit in Python with the R script; return 1 if any result differs."""
    if options.solver.refine is not None:
        raise OptionError("--refine has no counterpart in R; omit it.")
    train, _ = _input_data(options)
    name = options.solver.solver or "pegasos"
    solver = solver_of(replace(options.solver, solver=name))
    comparison = check_against_r(model_of(train, options), solver)
    text = f"{PROGRAM}: {options.train}\n\n{comparison}"
    if options.json:
        text = json.dumps(comparison.to_json_dict(), indent=2)
    program.write_output(f"{text}\n")
    return 0 if comparison.equal else 1


SOLVERS = [
    None,
    Pegasos(epochs=2, seed=1),
    Pegasos(epochs=2, seed=1, arithmetic="fast"),
    Pegasos(epochs=2, seed=1, batch_size=10),
    Pegasos(order="replace", steps=20, seed=1),
    SDCA(seed=1),
    SDCA(start="sgd", seed=1),
]


def proof(options: groups.Proof, line: str) -> int:
    """Check a proof, or print the program that checks it."""
    if options.print == (options.file is not None):
        raise OptionError("Pass either a proof to check or --print.")
    if options.file is None:
        name = "check_proof.py" if options.language == "python" else "check_proof.R"
        text = resources.files("pegasos_stats.proofs").joinpath(name).read_text()
        program.write_output(text, exact=True)
        return 0
    try:
        upper, lower, gap = check_proof.check(options.file)
    except FileNotFoundError:
        raise DataError(f"The file {options.file} does not exist.") from None
    except (UnicodeDecodeError, json.JSONDecodeError):
        raise DataError(
            f"The file {options.file} is not a proof; pass one that --proof or "
            "write_proof() wrote."
        ) from None
    except Exception as error:  # the file may contain anything
        raise DataError(f"The proof is invalid: {errors.one_line(error)}.") from None
    holds = upper - lower <= gap
    program.write_output(
        f"The objective {float(upper):.17g} is at most {float(upper - lower):.3g} "
        f"above its minimum;\nthe claim, at most {float(gap):.3g}, "
        f"{'holds' if holds else 'does not hold'}.\n"
    )
    return int(not holds)


def compile_all(options: groups.Compile, line: str) -> None:
    """Compile and cache loops, by fits of all types of rows with all solvers."""
    rng, y = np.random.default_rng(1), np.tile([-1, 1], 200)
    sparse = csr_array((rng.random((80, 30)) < 0.3).astype(np.float64))
    rows = [*map(rng.standard_normal, [(80, 4), (400, 70), (40, 60)]), sparse]
    kernel = KernelSVM(y[:80], rows[0], lam=0.1)
    models: list[SVM | Logit | KernelSVM] = [kernel]
    for X, free in product(rows, (True, False)):
        labels = y[: X.shape[0]]
        models.append(SVM(labels, X, lam=0.1, intercept=free))
        models.append(Logit(labels, X, lam=0.1, intercept=free))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kernel.fit().confusion()
        for kind, X in product((SVM, Logit), (rows[0], sparse)):
            kind(y[:80], X, lam=0.1).fit().summary()
        for kind in (SVM, Logit):
            cross_validation.cross_validate(kind(y[:80], rows[0], lam=0.1), folds=3)
        for model, solver in product(models, SOLVERS):
            with suppress(errors.PegasosStatsError):  # a solver may refuse a model
                model.fit(solver)
    program.write_output("The loops are compiled.\n")


COMMANDS: dict[type, Callable[[Any, str], int | None]] = {
    groups.FitOptions: fit,
    groups.ReportOptions: report,
    groups.Predict: predict,
    groups.Parity: parity,
    groups.Demo: demo,
    groups.Proof: proof,
    groups.Compile: compile_all,
}
