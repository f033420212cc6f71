"""Files with another separator: named in memory and by --memory."""

import numpy as np
import pytest

from pegasos_stats.output.cli import main

X = np.random.default_rng(8).normal(size=300)
TEXT = "y,x,k\n" + "".join(f"{'ab'[int(x > 0.0)]},{x:.3f},1\n" for x in X)


@pytest.mark.parametrize("memory", [(), ("--memory", "64MiB")])
@pytest.mark.parametrize(
    ("sep", "named"), [(";", ("semicolons", "--sep ';'")), ("\t", ("tabs",))]
)
def test_the_separator_is_named(tmp_path, capsys, memory, sep, named):
    path = tmp_path / "rows.csv"
    path.write_text(TEXT.replace(",", sep), encoding="utf-8")
    assert main(["fit", str(path), "--formula", "y ~ x", "--lam", "0.1", *memory]) == 2
    said = capsys.readouterr().err
    assert all(word in said for word in named)
