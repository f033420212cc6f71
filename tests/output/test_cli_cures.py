"""What a warning of the command line says to try is tried, and the warning is gone."""

import re
import shlex
from html import unescape

import pytest
from sklearn.datasets import load_breast_cancer

from pegasos_stats.output.cli import main

pytestmark = pytest.mark.filterwarnings(
    "always::pegasos_stats.errors.ConvergenceWarning"
)

# Options, and what of them a cure has to take away or to say again.
COMMANDS = {
    "--epochs 2 --lambda 1e-4": "--solver sdca (without --epochs)",
    "--epochs 2 --batch-size 4 --lambda 1e-4": "(without --epochs, --batch-size)",
    "--solver pegasos --epochs 3 --tol 0.9 --lambda 1e-4": "(without --epochs, --tol)",
    "--profile homework": "--solver sdca --lambda 0.0001 --no-intercept "
    "(without --profile)",
    "--profile homework --lambda 1e-5": "--solver sdca --no-intercept "
    "(without --profile)",
    "--solver sdca --epochs 2 --lambda 1e-4": "--epochs 100 --tol 1e-6.",
    "--solver sdca --epochs 2 --start sgd --lambda 1e-4": "--start sgd --epochs 100",
    "--solver sdca --algorithm perm --lambda 1e-4": "--algorithm newton --tol 1e-6 "
    "--no-intercept.",
    "--solver sdca --algorithm perm --arithmetic reference --lambda 1e-4":
    "--algorithm newton --tol 1e-6 --no-intercept (without --arithmetic).",
    "--solver sdca --algorithm perm --lambda 3e-3": "--algorithm perm --epochs 1000 "
    "--tol 1e-6 or --algorithm perm --tol ",
    "--loss log --solver sdca --algorithm perm --epochs 3 --lambda 1e-2":
    "--algorithm perm --epochs 100 --tol 1e-6",
}  # fmt: skip
TRY = re.compile(r"Try (--.*?)\.(?:\s|$)")


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    X = ((X - X.mean()) / X.std()).set_axis([f"x{j}" for j in range(30)], axis=1)
    path = tmp_path_factory.mktemp("data") / "d.csv"
    X.assign(y=y.map({0: "m", 1: "b"})).iloc[::2].to_csv(path, index=False)
    return str(path)


def warned(capsys, arguments):
    """Lines of warnings, and the alternatives that they name."""
    assert main(arguments) == 0
    printed = capsys.readouterr()
    lines = [line for line in printed.out.splitlines() if line.startswith("Warning")]
    lines += [line for line in printed.err.splitlines() if "warning:" in line]
    return lines, [found for line in lines for found in TRY.findall(line)]


def changed(arguments, alternative):
    """The command with the options of a cure, and without those it takes away."""
    added, _, gone = alternative.partition(" (without ")
    words, left, taken = shlex.split(added), list[str](), False
    replaced = {*gone.rstrip(")").split(", "), *words}
    for word in arguments:
        taken = word in replaced if word.startswith("--") else taken
        left += [] if taken else [word]
    return [*left, *words]


@pytest.mark.parametrize("options", COMMANDS)
def test_what_is_to_be_tried_helps(file, options, capsys):
    given = ["--outcome", "y", "--seed", "1", *options.split()]
    lines, cures = warned(capsys, ["fit", file, *given])
    assert cures
    assert any(COMMANDS[options] in line for line in lines)
    for cure in cures:
        for alternative in cure.split(" or "):
            left, _ = warned(capsys, ["fit", file, *changed(given, alternative)])
            assert left == [], alternative


def test_a_page_says_it_in_the_same_words(file, tmp_path, capsys):
    page = tmp_path / "page.html"
    options = ["--outcome", "y", "--seed", "1", "--lambda", "1e-4"]
    options += ["--epochs", "2", "--batch-size", "4"]
    lines, (cure,) = warned(capsys, ["report", file, *options, "-o", str(page)])
    assert f"Try {cure}." in unescape(" ".join(page.read_text().split()))
    assert "without --epochs, --batch-size" in cure
    assert len(lines) == 1
