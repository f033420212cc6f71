"""The vignettes: each runs within a minute, and its page loads nothing."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

VIGNETTES = Path(__file__).parents[1] / "vignettes"
SOURCES = sorted(VIGNETTES.glob("[0-9][0-9]_*.py"))
LOADS = re.compile(
    r"<(?:script|link|iframe|object|embed)\b"
    r"|\b(?:src|srcset|poster|data)\s*=\s*(?![\"']?data:)"
    r"|url\(|@import",
    re.IGNORECASE,
)


# Two processes for all, as tests have: each loads what renders them once. Of cells that
# are drawn: those of photographs have tests of their own, and the site shows them.
@pytest.mark.parametrize("sources", [SOURCES[::2], SOURCES[1::2]], ids=["odd", "even"])
def test_vignettes_run_and_their_pages_load_nothing(sources, tmp_path):
    names = [source.stem for source in sources]
    command = [sys.executable, VIGNETTES / "render.py", *names, "--output", tmp_path]
    known = {k: v for k, v in os.environ.items() if k != "PEGASOS_STATS_DATA"}
    done = subprocess.run(command, capture_output=True, text=True, env=known)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    assert sorted(path.stem for path in tmp_path.glob("*.html")) == names
    for name in names:
        page = (tmp_path / f"{name}.html").read_text(encoding="utf-8")
        text = re.sub(r"<(?:code|title).*?</(?:code|title)>", "", page, flags=re.DOTALL)
        assert not LOADS.search(text), name
        (title,) = re.findall("<title>(.*?)</title>", page)
        assert title
        assert title != name
        assert page.count("<h1") == 1, name


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: path.stem)
def test_a_vignette_asks_answers_and_ends_with_its_session(source):
    text = source.read_text(encoding="utf-8")
    assert 0 < text.index("**Question.**") < text.index("**Answer.**")
    assert text.index("**Answer.**") < text.index("# %%\n")
    assert text.rstrip().endswith("ps.session_info()")
