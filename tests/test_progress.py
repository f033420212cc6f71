"""Progress bars: in a notebook without widgets, and of runs that stop by themselves."""

import subprocess
import sys

import pegasos_stats as ps

# What tqdm looks at to tell a notebook, and a library that is not installed.
NOTEBOOK = """
import sys, types
shell = types.SimpleNamespace(config={"IPKernelApp": {}})
sys.modules["IPython"] = types.SimpleNamespace(get_ipython=lambda: shell)
sys.modules["ipywidgets"] = None
from pegasos_stats.solvers.pegasos_run import with_progress
print(list(with_progress(range(3), 3, "epoch")))
"""


def test_a_notebook_without_widgets_has_a_bar_of_text_and_no_warning():
    command = [sys.executable, "-W", "error", "-c", NOTEBOOK]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "[0, 1, 2]\n"
    assert "3/3" in done.stderr


def test_a_run_that_stops_at_a_tolerance_is_counted_and_not_left_unfinished(capsys):
    train, _ = ps.datasets.load_digits56()
    model = ps.svm("digit ~ .", train, lam=0.1)
    model.fit(ps.SDCA(tol=1e-3, seed=1), progress=True)
    printed = capsys.readouterr().err
    assert "epoch [" in printed
    assert "%" not in printed
    model.fit(ps.SDCA(epochs=3, tol=0.0, seed=1), progress=True)
    assert "3/3" in capsys.readouterr().err
