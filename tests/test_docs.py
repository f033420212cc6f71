"""The reference: every public name is in it, and it builds without a warning."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pegasos_stats as ps

DOCS = Path(__file__).parents[1] / "docs"


def listed():
    text = (DOCS / "reference.rst").read_text(encoding="utf-8")
    return set(re.findall(r"^   ([A-Za-z_][\w.]*)$", text, flags=re.MULTILINE))


def test_every_public_name_is_in_the_reference():
    modules = {"datasets", "errors"}
    assert set(ps.__all__) - modules <= listed()


def test_the_reference_builds_and_loads_nothing_from_elsewhere(tmp_path):
    source, built = tmp_path / "docs", tmp_path / "built"
    shutil.copytree(DOCS, source, ignore=shutil.ignore_patterns("generated"))
    command = [sys.executable, "-m", "sphinx", "-W", "-q", "-b", "html"]
    done = subprocess.run([*command, source, built], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    pages = [path.stem for path in (built / "generated").glob("*.html")]
    assert len({page.lower() for page in pages}) == len(pages)
    found = {page.removeprefix("pegasos_stats.").split("-")[0] for page in pages}
    assert found == listed()
    loads = re.compile(r'(?:src|<link[^>]*href)="(?:https?:)?//')
    for page in built.rglob("*.html"):
        assert not loads.search(page.read_text(encoding="utf-8")), page.name


def test_every_vignette_is_linked():
    names = {path.stem for path in (DOCS.parent / "vignettes").glob("[0-9][0-9]_*.py")}
    text = (DOCS / "vignettes.rst").read_text(encoding="utf-8")
    assert set(re.findall(r"<vignettes/(\w+)\.html>", text)) == names
