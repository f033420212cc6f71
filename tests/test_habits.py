"""What users of other packages type works, or is answered by what to write instead."""

import inspect
import pickle
import re
from copy import copy, deepcopy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import pegasos_stats as ps
from pegasos_stats import foreign_names
from pegasos_stats.errors import CallError, DataError, MissingAttributeError

sk = pytest.importorskip("pegasos_stats.sklearn")
GIVEN = Path(__file__).with_name("habits.txt").read_text(encoding="utf-8")
CALLS = [
    tuple(line.split("  ->  "))
    for line in GIVEN.splitlines()
    if line and not line.startswith("#")
]


@pytest.fixture(scope="module")
def objects():
    """One of everything that a call may begin with."""
    rng = np.random.default_rng(1)
    d = pd.DataFrame({"x": rng.standard_normal(60), "z": rng.standard_normal(60)})
    d["y"] = np.where(d["x"] + rng.standard_normal(60) > 0, "yes", "no")
    d["ward"] = rng.choice(["A", "B", "C"], 60)
    d.loc[[3, 7], "ward"] = None
    X, y = d[["x", "z"]], d["y"]
    model = ps.logit("y ~ x + z", d, lam=0.01)
    result = model.fit(ps.Optimum(seed=1))
    return {
        **{"np": np, "ps": ps, "sk": sk, "d": d},
        **{"X": X, "A": X.to_numpy(), "y": y, "p": y},
        **{"model": model, "result": result, "confusion": result.confusion(d)},
        "validation": ps.cross_validate(model, folds=3, seed=1),
        "path": ps.lambda_path(model, folds=3, seed=1),
        "classifier": sk.SVMClassifier(lam=0.1).fit(X.to_numpy(), y),
        "kernel": ps.kernel_svm("y ~ x + z", d, lam=0.1).fit(),
        "scores": result.decision_function(),
        "calibrated": ps.calibrate(ps.svm("y ~ x", d, lam=0.1), seed=1),
    }


def other_objects():
    """Objects of the package beside those that a call may begin with."""
    rng = np.random.default_rng(1)
    d = pd.DataFrame({"x": rng.standard_normal(80), "y": rng.integers(0, 2, 80)})
    d["z"] = d["x"] * 0.5 + rng.standard_normal(80)
    models = [ps.logit(f"y ~ {terms}", d, lam=1e-9) for terms in ("x", "x + z")]
    one, two = (model.fit() for model in models)
    table = two.confusion(d)
    yield from (ps.kernel_svm("y ~ x + z", d, lam=0.1).fit(), table, two.plot, two)
    yield from (ps.compare_models([one, two]), ps.anova(one, two), two.margins())
    yield from (
        ps.compare_errors(dict(zip("ab", models, strict=True))),
        two.t_test("x = 0"),
        two.summary(),
    )
    yield from (two.wald_test("x = 0"), two.predictions(data=d.head()), models[0])
    yield ps.cross_validate(models[0], folds=3)
    labels = [fit.predict() for fit in (one, two)]
    yield ps.compare_predictions(d["y"], *labels)
    p = two.predict_proba()[1]
    yield from (ps.reliability(d["y"], p), ps.precision_recall(d["y"], p))
    yield from (ps.decision_curve(d["y"], p), ps.pool([two, two]), two.report())
    yield from (two.thresholds(seed=1), two.get_influence(), ps.lambda_path(models[0]))
    kernel = ps.kernel_svm("y ~ x + z", d)
    yield ps.tune_kernel(kernel, gammas=[0.5], lambdas=[0.1], folds=3, seed=1)
    yield ps.calibrate(ps.svm("y ~ x", d, lam=0.1), seed=1)
    yield ps.compare_roc(d["y"], p, one.decision_function())
    yield ps.compare_solvers(models[0], {"one": ps.Optimum()}, runs=1, seed=1)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::pegasos_stats.errors.UndefinedMetricWarning")
def test_answers_name_what_an_object_has():
    """An answer that names another name that is not there would be asked in turn."""
    sections, names = [foreign_names.table()["names"]], set()
    while sections:
        for known in sections.pop().values():
            if isinstance(known, dict):
                sections.append(known)
            else:
                names |= {*known.split()}
    for owner in other_objects():
        own = {*dir(owner)}
        called = type(owner)._called
        named = re.compile(rf"(?<![\w.]){re.escape(called)}\.(\w+)")
        for name in names - own:
            with pytest.raises(MissingAttributeError) as caught:
                getattr(owner, name)
            answer = str(caught.value).partition("; ")[2]
            if "fits of ps.logit() and ps.svm() have it" not in answer:
                assert {*named.findall(answer)} <= own, (type(owner), name, answer)
            for attribute in re.findall(r"\bps\.([a-z]\w*)", answer):
                assert hasattr(ps, attribute), (name, answer)
        for name in {*ps.__all__} - own - names:
            with pytest.raises(MissingAttributeError, match=r"; (write|fits of)"):
                getattr(owner, name)


def texts_of(part):
    """All keys of a table and of the tables in it: what is to be written."""
    for key, inner in part.items():
        yield key
        if isinstance(inner, dict):
            yield from texts_of(inner)


def test_all_that_any_answer_offers_exists(objects):
    """Anywhere in the table, not at the beginning of an answer alone."""
    of_plot = {f"plot.{name}" for name in dir(objects["result"].plot)}
    known = {"result": {*dir(objects["result"]), *dir(objects["kernel"]), *of_plot}}
    known |= {
        name: {*dir(ps), "__version__", "dask", "sklearn"}
        for name in ("ps", "pegasos_stats")
    }
    for name in ("model", "confusion", "validation", "path"):
        known[name] = {*dir(objects[name])}
    kinds = sk.SVMClassifier, sk.KernelSVMClassifier, objects["classifier"]
    known["classifier"] = {"support_", "n_support_"}.union(*map(dir, kinds))
    offered = re.compile(rf"(?<![\w.\"'])({'|'.join(known)})\.(plot\.\w+|\w+)")
    found = [
        (owner, name, text)
        for text in texts_of(foreign_names.table())
        for owner, name in offered.findall(text)
    ]
    assert len(found) > 300
    assert [each for each in found if each[1] not in known[each[0]]] == []


def test_no_answer_denies_what_there_is(objects):
    """Neither an attribute, nor an option, of what the answer is about."""
    table = foreign_names.table()
    for called, part in table["names"].items():
        own = {*dir(objects[called])} if called in objects else set()
        for instead, names in part.items() if isinstance(part, dict) else ():
            if instead.startswith("not available"):
                assert not own & {*names.split()}, (called, instead)
    for calls, part in table["options"].items():
        for call in calls.split() if isinstance(part, dict) else ():
            function = getattr(ps, call, getattr(type(objects["result"]), call, None))
            is_call = callable(function)
            options = {*inspect.signature(function).parameters} if is_call else set()
            for instead, names in part.items():
                if instead.startswith("not available"):
                    assert not options & {*names.split()}, (call, instead)


def is_answer(answer, instead):
    """Whether it works where it should, or names what to write instead."""
    return answer == instead if instead == "works" else instead in answer


def answer_to(call, objects):
    """What a call is answered by: "works", or an error of one line."""
    try:
        eval(call, dict(objects))
    except (ps.errors.PegasosStatsError, ImportError) as error:
        return str(error)
    return "works"


@pytest.mark.filterwarnings("ignore")
def test_calls_work_or_are_answered(objects):
    found = {(*each,): answer_to(each[0], objects) for each in CALLS}
    assert len(found) >= 241
    wrong = {c: a for c, a in found.items() if not is_answer(a, c[1]) or "\n" in a}
    assert wrong == {}


def test_public_names_are_not_answered(objects):
    for name in ps.__all__:
        assert getattr(ps, name) is not None
    result = objects["result"]
    assert hasattr(result, "params")
    assert not hasattr(result, "coef_")
    assert not hasattr(objects["model"], "params")
    assert not hasattr(ps, "glm")
    assert not hasattr(objects["classifier"], "predict_proba")


def test_a_private_name_has_no_answer(objects):
    for owner in (ps, sk, objects["result"], objects["model"], objects["classifier"]):
        with pytest.raises(AttributeError) as caught:
            owner._coefs  # noqa: B018
        assert "write" not in str(caught.value)


def test_errors_are_those_that_python_has(objects):
    assert issubclass(CallError, TypeError)
    assert issubclass(MissingAttributeError, AttributeError)
    with pytest.raises(ValueError, match=r"lam=1/\(n\*C\)"):
        objects["classifier"].set_params(C=1)
    with pytest.raises(ValueError, match="Invalid parameter"):
        objects["classifier"].set_params(nonsense=1)


def test_signatures_and_copies_stay(objects):
    assert "lam" in inspect.signature(ps.svm).parameters
    assert "self" not in inspect.signature(ps.svm).parameters
    assert ps.svm.__name__ == "svm"
    assert pickle.loads(pickle.dumps(ps.svm)) is ps.svm
    result = objects["result"]
    for made in (copy(result), deepcopy(result), pickle.loads(pickle.dumps(result))):
        assert np.array_equal(made.params, result.params)


def test_labels_come_first(objects):
    y, X = objects["y"], objects["X"]
    for first, second in ((X, y), (X.to_numpy(), y.to_numpy())):
        with pytest.raises(DataError, match="pass y, then X"):
            ps.SVM(first, second, lam=1.0)
