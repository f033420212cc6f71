"""Reports of fits from files."""

import pytest

import pegasos_stats as ps
from tests.scan.scan_files import frame_of, written


@pytest.mark.slow
def test_a_report_names_the_files_and_its_lines_repeat_the_fit(tmp_path, monkeypatch):
    data, path = frame_of(400), tmp_path / "report.md"
    files = written(data, tmp_path, parts=2)
    model = ps.logit("y ~ x0 + g", ps.scan(files, memory="64MiB"), lam=0.01)
    result = model.fit(ps.Optimum(tol=1e-6, seed=1))
    result.report(data.iloc[:100], path)
    text = path.read_text()
    lines = text.split("```python\n")[1].split("```")[0]
    made = {"train": ps.scan(files, memory="64MiB"), "test": data.iloc[:100]}
    monkeypatch.chdir(tmp_path)
    exec(lines, made)
    assert (made["result"].params == result.params).all()
