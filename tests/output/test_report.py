"""Reports: what is on the page, what is not, and where it is written."""

import re
import sys
from base64 import b64decode
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import pegasos_stats as ps
from pegasos_stats.errors import DataError, DependencyError, OptionError
from pegasos_stats.output.plotting.curves import draw_roc
from pegasos_stats.output.report.facts import evaluate
from pegasos_stats.output.report.rendering import templates

pytestmark = pytest.mark.slow

SCRIPT, PIPES, LONG = "<script>alert(1)</script>", "a|b*_`$x$", "x" * 200
FIGURES = "pegasos_stats.output.report.report.figures_of"
VOID = {"meta", "img", "br", "hr", "link", "input"}


class Reader(HTMLParser):
    """Reads a page: its texts, its tags, and whether they are closed in order."""

    def __init__(self, page):
        super().__init__()
        self.open, self.tags, self.texts = [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    @property
    def text(self):
        return " ".join(" ".join(self.texts).split())


TRAIN, TEST = ps.datasets.load_digits56()


@pytest.fixture(scope="module")
def report(digits):
    return digits.report(TEST, image_shape=(8, 8))


@pytest.fixture(scope="module")
def page(report):
    return Reader(report.to_html())


@pytest.fixture(scope="module")
def strange():
    """Names and labels full of marks, on 60 rows."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(60, 3)), columns=[SCRIPT, PIPES, LONG])
    noise = rng.normal(size=60)
    labels = np.where(data[SCRIPT] + noise > 0, "<b>yes</b>", "no $x$ | `k`")
    return data.assign(**{"out & come": labels})


@pytest.fixture
def drawn():
    """Asked for by tests whose reports have figures, which take most of the time."""


@pytest.fixture(autouse=True)
def _undrawn(request, monkeypatch):
    if "drawn" not in request.fixturenames:
        monkeypatch.setattr(FIGURES, lambda facts: {})


def fitted(data):
    model = ps.svm("`out & come` ~ .", data, lam=1.0)
    return model.fit(ps.Pegasos(epochs=3, seed=1), cov_type=ps.Bootstrap(99, seed=1))


def test_nothing_is_loaded_and_nothing_is_run(page):
    sources = [a["src"] for _, a in page.tags if "src" in a]
    assert sources
    assert all(source.startswith("data:image/") for source in sources)
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in page.tags}
    (policy,) = [a for _, a in page.tags if "http-equiv" in a]
    assert policy["http-equiv"] == "Content-Security-Policy"
    assert policy["content"].startswith("default-src 'none'")


def test_names_and_labels_of_any_kind_are_text(strange, drawn):
    """The tags of a page are those of one with plain names, and all names are shown."""
    plain = strange.set_axis(["a", "b", "c", "out & come"], axis=1)
    levels = dict(zip(["<b>yes</b>", "no $x$ | `k`"], "ab", strict=True))
    plain["out & come"] = plain["out & come"].map(levels)
    made = fitted(strange).report(strange, title="<i>&")
    page, other = (Reader(x.to_html()) for x in (made, fitted(plain).report(plain)))
    assert [tag for tag, _ in page.tags] == [tag for tag, _ in other.tags]
    for name in (SCRIPT, PIPES, LONG, *levels):
        assert any(name in text for text in page.texts)
    text = made.to_markdown()
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text, flags=re.DOTALL)
    assert not re.search(r"(?<!\\)<(?:script|b)>", outside)


def test_a_report_replaces_a_report_and_nothing_else(report, tmp_path):
    path = tmp_path / "digits.html"
    assert report.write(path).path == path.resolve()
    report.write(path)
    other = tmp_path / "train.csv"
    other.write_text("y,x\n1,2\n")
    with pytest.raises(DataError, match="is not a report"):
        report.write(other)
    assert other.read_text() == "y,x\n1,2\n"
    (tmp_path / "digits.md").write_text("mine")
    report.write(tmp_path / "digits.md", overwrite=True)
    found = {path.name for path in tmp_path.iterdir()} - {"train.csv"}
    assert found == {"digits.html", "digits.md", "digits_misclassified.csv"}


def test_markdown_holds_its_figures(report, tmp_path):
    report.write(tmp_path / "digits.md")
    text = (tmp_path / "digits.md").read_text(encoding="utf-8")
    figures = re.findall(r"\]\(data:image/svg\+xml;base64,([^)]+)\)", text)
    assert figures
    assert all(b64decode(figure).startswith(b"<svg") for figure in figures)
    assert "](digits_misclassified.csv)" in text
    report.write(tmp_path / "digits.md")
    with pytest.raises(OptionError, match="format"):
        report.write(tmp_path / "a.html", format="pdf")


def test_the_same_fit_gives_the_same_page(digits):
    assert digits.report(TEST).to_html() == digits.report(TEST).to_html()


@pytest.mark.parametrize(
    ("library", "extra"), [("matplotlib", "plot"), ("jinja2", "report")]
)
def test_libraries_are_asked_for(digits, monkeypatch, library, extra, drawn):
    templates.cache_clear()
    for name in (library, "matplotlib.pyplot"):
        monkeypatch.setitem(sys.modules, name, None)
    if extra == "report":  # before there is work done
        monkeypatch.setattr("pegasos_stats.output.report.facts.evaluate_sets", None)
    with pytest.raises(DependencyError, match=rf"pegasos_stats\[{extra}\]"):
        digits.report()


def visible(page):
    """Words of a page before anything is unfolded."""
    body = page.split("<main>")[1]
    body = re.sub(r"<summary>(.*?)</summary>", r"\1", body, flags=re.DOTALL)
    body = re.sub(r"<details\b(.*?)</details>", "", body, flags=re.DOTALL)
    return Reader(f"<main>{body.split('</main>')[0]}</main>").text


def clinic(n, seed, base):
    """Patients with factors and missing values; `base` is the log odds of "yes"."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"age": rng.normal(60.0, 12.0, n).round()})
    data["ward"] = rng.choice(["medicine", "surgery", "icu"], n)
    data["smoker"] = rng.integers(0, 2, n)
    odds = base + 0.05 * (data["age"] - 60.0) + 0.7 * (data["ward"] == "icu")
    data["ill"] = np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "yes", "no")
    data.loc[rng.random(n) < 0.05, "age"] = np.nan
    return data


PATIENTS, NEW = clinic(300, 1, -0.5), clinic(150, 2, -0.5)


@pytest.fixture(scope="module")
def logit():
    return ps.logit("ill ~ .", PATIENTS, lam=0.01).fit()


@pytest.fixture(scope="module")
def pages(report, logit):
    rare = clinic(300, 3, -4.0)
    svm = ps.svm("ill ~ .", rare, lam=0.01).fit(cov_type=ps.Bootstrap(99, seed=1))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FIGURES, lambda facts: {})
        return {
            "digits": report,
            "clinic": logit.report(NEW),
            "no new rows": logit.report(),
            "rare": ps.logit("ill ~ .", rare, lam=0.01).fit().report(NEW),
            "rare, hinge": svm.report(NEW),
        }


def test_the_first_part_is_short_and_the_rest_is_folded(pages):
    for name, made in pages.items():
        page = made.to_html()
        assert 50 < len(visible(page).split()) <= 300, name
        assert page.count("<details id=") == page.count("<details") == 7
        assert "<details open" not in page


def test_the_first_part_has_the_numbers_of_the_result(pages, logit):
    table, text = logit.confusion(NEW), visible(pages["clinic"].to_html())
    low, high = table.error_interval("exact")
    majority = min(NEW.dropna()["ill"].value_counts(normalize=True))
    for share in (table.error_rate, low, high, majority):
        assert f"{100.0 * share:.1f}%" in text
    assert f"AUC {table.summary().overall['auc']:.3f}" in text
    deviation = PATIENTS.dropna()["age"].std()
    per_sd = np.exp(logit.coef["age"] * deviation)
    assert f"age per standard deviation ({deviation:.3g}) {per_sd:.2f} [" in text
    assert "3 predictors (4 coefficients)" in text
    assert "ward" in text


def test_a_model_of_one_answer_is_called_so_first(pages):
    for name in ("rare", "rare, hinge"):
        page = pages[name].to_html()
        (part,) = re.findall('<div class="conclusion">.*?</div>', page, re.S)
        lead = Reader(part).text
        assert lead.startswith("Every row is predicted 'no'.")
        assert ("AUC" in lead) == (name == "rare")
        assert ("ps.logit" in visible(page)) == (name == "rare, hinge")


def test_the_conclusion_is_an_exact_test_against_the_majority():
    """With 9 of 10 rows of the rarer prediction right, p = 11/512; with 6, 0.75."""
    for right, word in ((9, "better than"), (6, "not clearly better than")):
        actual = ["no"] * 60 + ["yes"] * right + ["no"] * (10 - right)
        data = pd.DataFrame({"x": [0.0] * 60 + [1.0] * 10, "ill": actual})
        train = pd.DataFrame({"x": [0.0, 1.0] * 20, "ill": ["no", "yes"] * 20})
        made = ps.logit("ill ~ x", train, lam=0.01).fit().report(data)
        assert word in visible(made.to_html())


def first_screen(fit, *args, **options):
    return visible(fit.report(*args, **options).to_html())


def test_a_threshold_is_judged_by_what_it_decides_and_costs(logit):
    """Of costs 2 and 3 a probability of 2/5 is the threshold; nothing is tested."""
    rows = NEW.dropna()
    called, ill = logit.predict_proba(rows)["yes"] > 0.4, rows["ill"] == "yes"
    rates = [(called & ill).sum() / ill.sum(), (~called & ~ill).sum() / (~ill).sum()]
    cost, everyone, nobody = (
        (3 * (ill & ~x) + 2 * (~ill & x)).mean()
        for x in (called, called | True, called & False)
    )
    assert cost < min(everyone, nobody)
    numbers = f"is {cost:.3g}; it would be {everyone:.3g} if all rows were"
    costs = {"cost": {"no": 2, "yes": 3}}
    for options in (costs, costs | {"threshold": 0.4}):
        text = first_screen(logit, rows, **options)
        assert numbers in text
        assert f"and {nobody:.3g} if none were (a missed 'yes' costs 3" in text
        for share in (*rates, called.mean()):
            assert f"{100.0 * share:.1f}%" in text
        assert "McNemar" not in text
        assert "Always" not in text
    implied = first_screen(logit, rows, threshold=0.4)
    assert f"is {cost / 2:.3g}; it would be {everyone / 2:.3g} if all rows" in implied
    turned = first_screen(logit, rows, positive="no", **costs)
    assert "a probability of 'no' above 0.6" in turned
    assert f"is {cost:.3g}; it would be {nobody:.3g} if all rows were" in turned
    assert "'yes' above" not in turned
    costs = {"cost": {"no": 9, "yes": 1}, "threshold": 0.4}
    assert "for all rows costs" in first_screen(logit, rows, **costs)


@pytest.mark.parametrize("kind", [ps.logit, ps.svm])
def test_a_predictor_that_contains_the_outcome_is_named_first(kind):
    rows = clinic(400, 5, -0.5).dropna()
    ill, rng = (rows["ill"] == "yes").to_numpy(), np.random.default_rng(1)
    flipped = rng.random(len(rows)) < 0.005
    leaks = {
        "code": 3.0 * ill + rng.random(len(rows)),
        "sort": np.where(ill, "u", "v"),
        "flag": ill ^ flipped,
    }
    for name, leak in leaks.items():
        data = rows.assign(**{name: leak})
        fit = kind("ill ~ .", data.iloc[::2]).fit(cov_type="none")
        for text in (first_screen(fit, data.iloc[1::2]), first_screen(fit)):
            said = f"A predictor probably contains the outcome: {name} alone"
            assert 0 < text.index(said) < text.index("misclassifies")
    assert "contains the outcome" not in first_screen(
        kind("ill ~ .", rows).fit(cov_type="none")
    )


def test_the_strongest_predictors_have_an_effect_of_their_own():
    """Not those of an interaction, beside their square, of a spline, or at 0."""
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("abcdef"))
    data["g"] = rng.choice(["u", "v"], 300)
    score = data.sum(axis=1, numeric_only=True) + rng.logistic(size=300)
    data["y"] = np.where(score > 0, "yes", "no")
    data["h"] = np.repeat(["u", "v", "w"], 100)
    formula = "y ~ a*g + b + I(b**2) + poly(c, 2) + d + log(e + 9) + C(h, contr.sum)"
    facts = ps.logit(formula, data, lam=1e-3).fit().report().facts
    assert {line[0] for line in facts.strongest} == {"d", "log(e + 9)"}
    assert facts.n_predictors == 7
    steep = ps.svm("y ~ d + f", data.assign(f=1.0), lam=0.1).fit(cov_type="none")
    assert [line[0] for line in steep.report().facts.strongest] == ["d"]


@pytest.mark.parametrize("standardize", [False, True])
def test_the_strongest_predictors_do_not_depend_on_the_reference(standardize):
    rng = np.random.default_rng(5)
    data = pd.DataFrame({"x": rng.normal(size=400), "z": rng.normal(size=400)})
    data["g"] = rng.choice(["few", "u", "v"], 400, p=[0.04, 0.48, 0.48])
    score = 0.5 * data["x"] + 2.0 * (data["g"] != "few") + rng.logistic(size=400)
    data["y"] = np.where(score > 1.0, "yes", "no")
    orders = [
        [line[0] for line in fit.report().facts.strongest]
        for reference in ("few", "u")
        for term in [f"C(g, Treatment('{reference}'))"]
        for model in [ps.logit(f"y ~ x + z + {term}", data, standardize=standardize)]
        for fit in [model.fit()]
    ]
    assert orders[0] == orders[1] == ["x", "g", "z"]


def test_ties_are_said_and_the_area_of_a_validation_is_one_everywhere(drawn):
    data = PATIENTS.dropna().assign(age=lambda x: (x["age"] > 60) * 1)
    model = ps.logit("ill ~ age + smoker", data, lam=0.01)
    fit, validation = model.fit(), ps.cross_validate(model, folds=4, seed=1)
    scores, ill = fit.decision_function(), data["ill"] == "yes"
    pairs = np.sign(np.subtract.outer(scores[ill].to_numpy(), scores[~ill].to_numpy()))
    larger, tied = 100.0 * (pairs > 0).mean(), 100.0 * (pairs == 0).mean()
    said = f"in {larger:.1f}% of pairs and the same in {tied:.1f}% (AUC"
    assert said in first_screen(fit)
    area = validation.mean["auc"]
    assert validation.pairs().area == pytest.approx(area, rel=1e-12)
    page = fit.report(validation=validation).to_markdown()
    assert page.count(f"{area:.3f}") == 2  # in the text and among the tiles
    assert f"| AUC | {fit.confusion()['auc']:.4f} | {area:.4f} |" in page
    legend = validation.plot_roc(ax=Figure().subplots()).get_legend()
    assert f"area {area:.3f}" in legend.get_texts()[0].get_text()


@pytest.mark.parametrize(
    ("outcome", "title", "names"),
    [
        ("(ill == 'yes')", "ill == 'yes'", ("not yes", "yes")),
        ("age > 60", "age > 60", ("age <= 60", "age > 60")),
        ("ill", "Predicting ill: no or yes", ("no", "yes")),
    ],
)
def test_a_computed_outcome_has_readable_names(outcome, title, names, drawn):
    fit = ps.logit(f"{outcome} ~ smoker + ward", PATIENTS, lam=0.01).fit()
    page = fit.report(NEW)
    text = Reader(page.to_html()).text
    assert page.title == title
    assert all(f"Predicted {name}" in text for name in names)
    assert f"gives '{names[1]}' rows a larger" in text
    assert "False" not in text
    assert "'True'" not in text


def test_one_answer_is_said_of_the_rows_that_have_it():
    rng = np.random.default_rng(0)
    x = rng.normal(size=300)
    y = np.where(rng.random(300) < 1 / (1 + np.exp(2.2 - 0.5 * x)), "yes", "no")
    data = pd.DataFrame({"x": x, "y": y})
    fit = ps.logit("y ~ x", data, lam=1 / 300).fit()
    assert "Every training row is predicted 'no'." in first_screen(fit)
    assert "Every row is predicted 'no'." in first_screen(fit, data.assign(x=x - 0.1))
    mixed = first_screen(fit, data.assign(x=x + 4.0))
    assert "Every training row is predicted 'no'." in mixed
    assert "Every row" not in mixed
    shifted = first_screen(fit, data.assign(x=x + 20.0))
    assert "Every new row is predicted 'yes'." in shifted


def test_all_misclassified_rows_are_in_a_file_and_ten_on_the_page(logit, tmp_path):
    made = logit.report(NEW, tmp_path / "page.html")
    rows = pd.read_csv(tmp_path / "page_misclassified.csv")
    predicted = logit.predict(NEW)
    wrong = predicted.notna() & (predicted != NEW["ill"])
    assert sorted(rows["row"]) == list(NEW.index[wrong])
    assert len(rows) == logit.confusion(NEW).n_errors > 10
    scores = logit.decision_function(NEW)[rows["row"]]
    np.testing.assert_array_equal(rows["score"], scores)
    page = made.path.read_text(encoding="utf-8")
    (part,) = re.findall(r'<details id="misclassified">.*?</details>', page, re.S)
    assert part.count("<tr>") == 11
    assert 'href="page_misclassified.csv"' in part
    assert "Row Actual" not in Reader(page).text
    assert "Row Actual" in Reader(logit.report(NEW, row_names=True).to_html()).text


def test_kernel_and_loaded_fits_have_reports(kernel, strange, tmp_path, drawn):
    assert "Support rows" in Reader(kernel.report(TEST).to_html()).text
    fit = ps.logit("`out & come` ~ .", strange, lam=1.0).fit()
    ps.save(fit, tmp_path / "a.model")
    made = ps.load(tmp_path / "a.model").report(strange)
    assert "Strongest predictors" in visible(made.to_html())


@pytest.mark.parametrize("standardize", [False, True])
def test_predictors_by_level_are_those_of_the_data(standardize):
    model = ps.logit("ill ~ .", PATIENTS, lam=0.01, standardize=standardize)
    text = Reader(model.fit().report().to_html()).text
    rows = PATIENTS.dropna()
    low, high = (rows[rows["ill"] == level] for level in ("no", "yes"))
    ages = [f"{x['age'].mean():.1f} ({x['age'].std():.1f})" for x in (low, high)]
    smokers = [f"{x['smoker'].sum()} ({x['smoker'].mean():.0%})" for x in (low, high)]
    for name, cells in (("age", ages), ("smoker", smokers)):
        assert f"{name} {' '.join(cells)}" in text.replace("\xa0", " ")


def test_cross_validation_takes_the_place_of_new_rows(logit):
    validation = ps.cross_validate(logit.model, folds=4, seed=1)
    text = visible(logit.report(validation=validation).to_html())
    rate = validation.confusion().error_rate
    assert f"Cross-validated error {100.0 * rate:.1f}%" in text
    chance = np.sqrt(rate * (1.0 - rate) / len(PATIENTS.dropna()))
    spread = max(chance, validation.std_error["error_rate"])
    assert f"standard error {100.0 * spread:.2f}%" in text
    text = logit.report(validation=validation, threshold=0.2).to_markdown()
    assert f"({validation.folds.description}, seed 1), rows with a prob" in text


def test_folds_fitted_with_a_penalty_are_counted(drawn):
    frame = PATIENTS.dropna().reset_index(drop=True)
    frame["rare"] = (frame.index < 3) * 1.0
    frame.loc[:2, "ill"] = ["yes", "no", "yes"]
    model = ps.logit("ill ~ age + rare", frame)
    validation = ps.cross_validate(model, folds=10, seed=1)
    n = int(validation.by_fold["lam"].gt(0.0).sum())
    text = model.fit().report(validation=validation).to_markdown()
    assert n > 0
    assert f"does not exist in {n} of 10 folds" in text


@pytest.mark.parametrize("cost", [(1.0, 2.0), (1.5, 1.0)])
def test_the_cost_is_compared_with_the_cheaper_rule_row_by_row(logit, cost):
    low, high = logit.coding.levels
    text = logit.report(cost=dict(zip((low, high), cost, strict=True))).to_markdown()
    actual = logit.model.problem.y > 0
    called = logit.predict(threshold=cost[0] / sum(cost)).to_numpy() == high
    price = np.where(actual, cost[1], cost[0])
    by_rule = [price * (actual != rule) for rule in (called, True, False)]
    rival = min(by_rule[1:], key=np.mean)
    differences = by_rule[0] - rival
    error = differences.std() / np.sqrt(len(actual))
    assert f"{abs(differences.mean()):.3g} less per row than " in text
    assert f"(standard error {error:.2g})" in text


@pytest.mark.parametrize(
    "options", ["test", "cost", "validation", "groups", "positive", "optimism"]
)
def test_lines_of_python_repeat_the_report(options, tmp_path, monkeypatch):
    weights = np.linspace(1.0, 2.0, len(TRAIN))
    rows = TRAIN.assign(pair=np.arange(len(TRAIN)) // 2)
    model = ps.logit("digit ~ p34 + p43", rows, lam=0.5, weights=weights)
    fit = model.fit(groups="pair" if options == "groups" else None)
    by_pair = ps.cross_validate(model, folds=4, groups="pair", seed=3)
    of_bootstrap = {"thresholds": [0.2, 0.4], "metric": "youden", "groups": "pair"}
    given = {
        "test": {"test": TEST},
        "cost": {"test": TEST, "cost": {5: 2.0, 6: 1.0}},
        "validation": {"validation": ps.cross_validate(model, folds=4, seed=3)},
        "groups": {"validation": by_pair, "title": "Which digit?"},
        "positive": {"test": TEST, "positive": 5, "row_names": True},
        "optimism": {"validation": ps.validate(model, 5, seed=3, **of_bootstrap)},
    }
    fit.report(path=tmp_path / "report.html", **given[options])
    text = (tmp_path / "report.html").read_text("utf-8")
    code = fit.report(**given[options]).to_markdown().split("```python\n")[1]
    known = {"train": rows, "weights": weights, "test": TEST}
    monkeypatch.chdir(tmp_path)
    exec(code.split("```")[0], known)
    assert known["result"].params.equals(fit.params)
    repeated = (tmp_path / "report.html").read_text("utf-8")
    lasts = re.compile("Run time.*?</tr>", re.DOTALL)
    assert lasts.sub("", repeated) == lasts.sub("", text)


@pytest.mark.parametrize(
    ("actual", "predicted", "error"),
    [
        ("aaab", "abab", 0.25),
        ("abba", "aaaa", 0.5),
        ("aabbb", ["a", None, None, None, "b"], 0.5),  # of the classified rows
    ],
)
def test_the_rule_without_predictors_names_the_more_frequent_level(
    actual, predicted, error
):
    table = ps.confusion(list(actual), list(predicted), levels=["a", "b"])
    rows = evaluate("test", table)
    assert (rows.majority, rows.majority_error) == ("a", error)


@pytest.mark.parametrize("levels", [("common", "rare"), ("a rare one", "common")])
def test_a_rare_level_has_precision_and_recall(levels):
    rng = np.random.default_rng(3)
    x = rng.normal(size=800)
    rare = rng.random(800) < 0.15 / (1.0 + np.exp(1.5 - x))
    names = levels if levels[1] == "rare" else levels[::-1]
    data = pd.DataFrame({"x": x, "y": np.where(rare, names[1], names[0])})
    fit = ps.logit("y ~ x", data.iloc[::2]).fit()
    new = data.iloc[1::2]
    text = fit.report(new).to_markdown()
    scores = fit.decision_function(new) * (1 if levels[1] == "rare" else -1)
    expected = ps.precision_recall(new["y"], scores, positive=names[1])
    sentence = f"average precision of the score for '{names[1]}' is "
    assert f"{sentence}{expected.average_precision:.4f}" in text
    balanced = data.groupby("y").head(40)
    assert "verage precision" not in fit.report(balanced).to_markdown()


def test_statistics_corrected_for_optimism_are_on_the_page(drawn):
    women = ps.load_affairs().iloc[::16]
    model = ps.logit("affair ~ rate_marriage + yrs_married", women)
    validation = ps.validate(model, 10)
    text = model.fit().report(validation=validation).to_markdown()
    row = validation.tidy().set_index("term").loc["auc"]
    assert f"| auc | {row['apparent']:.4f} | {row['optimism']:.4f} | " in text
    assert text.count("over the resamples, against") == 1  # the instability plot
    for formula, rows in (("rate_marriage", women), ("yrs_married", women.iloc[1:])):
        other = ps.logit(f"affair ~ {formula}", rows).fit()
        with pytest.raises(OptionError, match="Validation with the rows"):
            other.report(validation=validation)


def test_a_penalised_report_shows_the_maximum_likelihood():
    unpenalised = ps.logit("digit ~ p34 + p43", TRAIN, lam=0.0).fit()
    page = ps.logit("digit ~ p34 + p43", TRAIN, lam=0.1).fit().report().to_markdown()
    table = page[page.index("| max. likelihood |") :]
    row = next(line for line in table.splitlines() if line.startswith("| p34 "))
    shown = f"{unpenalised.coef['p34']:.3f}".replace("-", "−")
    assert row.split("|")[-2].strip() == shown


def test_a_report_suspects_predictors_that_only_together_contain_the_outcome():
    rng = np.random.default_rng(1)
    start, days = rng.normal(size=(2, 300))
    late = np.where(days > 0.0, "yes", "no")
    rows = pd.DataFrame({"start": start, "end": start + days, "late": late})
    fit = ps.logit("late ~ start + end", rows, lam=1e-6).fit(cov_type="none")
    assert "Predictors may contain the outcome" in fit.report().to_markdown()


def test_factors_have_their_reference_level_among_the_counts():
    rows = ps.logit("ill ~ .", PATIENTS).fit().report(NEW).facts.by_level
    counts = pd.crosstab(PATIENTS.dropna()["ward"], PATIENTS.dropna()["ill"])
    shares = counts / counts.sum()
    for level, name in (("icu", "ward: icu (reference)"), ("surgery", "ward: surgery")):
        cells = [f"{counts[y][level]} ({shares[y][level]:.0%})" for y in ("no", "yes")]
        assert [name, *cells] in rows


def test_a_missing_outcome_is_counted_once():
    data = PATIENTS.assign(ill=PATIENTS["ill"].where(PATIENTS.index >= 5))
    counts = dict(ps.logit("ill ~ .", data).fit().report().facts.counts)
    assert counts["Missing outcome"] == "5"
    assert "Missing: ill" not in counts
    assert counts["Missing: age"] == str(data["age"].isna().sum())


def test_calibration_out_of_fold_allows_for_the_groups_of_the_folds():
    data = PATIENTS.dropna().assign(doctor=lambda rows: rows.index % 12)
    model = ps.logit("ill ~ age + ward", data)
    study = ps.cross_validate(model, folds=4, groups="doctor")
    curve = model.fit().report(validation=study).facts.calibration
    p = study.probabilities["yes"]
    own = ps.reliability(data["ill"], p, groups=data["doctor"])
    assert tuple(curve.slope_interval) == tuple(own.slope_interval)
    assert curve.slope_interval != ps.reliability(data["ill"], p).slope_interval


@pytest.mark.parametrize("loss", ["log", "hinge"])
def test_the_roc_curve_is_of_the_positive_class(loss):
    function = ps.logit if loss == "log" else ps.svm
    result = function("ill ~ age", PATIENTS, lam=0.01).fit()
    curves = []
    for positive in ("yes", "no"):
        table = result.confusion(NEW, positive=positive)
        ax = draw_roc(table, result, Figure().subplots(), {}, threshold=None)
        assert ax.get_ylabel() == f"True positive rate (of {positive})"
        _, curve, point = ax.get_lines()
        true, specific = (table.by_class[n] for n in ("sensitivity", "specificity"))
        np.testing.assert_allclose(point.get_xydata(), [[1.0 - specific, true]])
        assert f"{true:.1%} true" in ax.get_legend().get_texts()[-1].get_text()
        curves.append(curve.get_xydata())
    np.testing.assert_allclose(curves[1], 1.0 - curves[0][::-1, ::-1], atol=1e-12)


def test_a_penalised_report_says_why_there_is_no_maximum_likelihood():
    data = PATIENTS.assign(ward=PATIENTS["ward"].where(PATIENTS["ill"] == "yes", "icu"))
    facts = ps.logit("ill ~ age + ward", data, lam=0.01).fit().report().facts
    assert "max. likelihood" not in facts.coefficients[0]
    assert facts.without_maximum.endswith("separate the classes).")


def test_undefined_statistics_are_explained_and_f1_is_not_one_of_them():
    rare = clinic(300, 3, -4.0)
    facts = ps.logit("ill ~ .", rare).fit().report(positive="yes").facts
    cells = dict(facts.statistics)
    assert cells["Precision (yes)"] == "NA"
    assert cells["F1 (yes)"] == "0.0000"
    page = ps.logit("ill ~ .", rare).fit().report().to_html()
    assert "NA: the denominator of the statistic is 0." in page
    assert "f1" not in page


def test_large_means_have_no_power_of_ten():
    data = PATIENTS.assign(cost=PATIENTS["age"] ** 2)
    facts = ps.logit("ill ~ cost", data).fit().report().facts
    costs = data.dropna().groupby("ill")["cost"]
    cells = [f"{x.mean():,.4g}\xa0({x.std():,.0f})" for _, x in costs]
    assert [["cost", *cells]] == facts.by_level
    step = data.dropna()["cost"].std()
    assert facts.strongest[0][1] == f"per standard deviation ({step:,.0f})"


def test_new_rows_of_one_class_are_reported(logit):
    rows = NEW[NEW["ill"] == "no"]
    text = logit.report(rows).to_markdown()
    assert "Calibration slope" not in text
    assert f"{rows.notna().all(axis=1).sum()} new rows" in text
