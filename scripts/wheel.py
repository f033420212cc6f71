"""Build sdist and wheel, and test what was installed from the wheel alone.

Usage: wheel.py [OPTION OF PYTEST ...]. First the wheel without extras, in an empty
environment: a fit runs, with no library beside those that it asks for. Then the extras
of development, and the tests of the sdist, in a folder without the package: those of
`make check`, unless options say which. Nothing is left behind but ``dist/``.
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
DIST = ROOT / "dist"
QUICK = ["-m", "not (r or data or fuzz or slow)", "--numprocesses", "auto"]
FIT = """
import pegasos_stats as ps
train, test = ps.datasets.load_digits56()
result = ps.svm("digit ~ .", data=train, lam=1.0).fit(ps.Pegasos(seed=443))
assert result.confusion(test).n_errors == 1
from pegasos_stats.studies.parity import reference_folder
for folder in (ps.__file__, str(reference_folder())):
    assert "site-packages" in folder
assert (reference_folder() / "R/pegasos.R").is_file()
"""


def run(*command: object, **options: object) -> None:
    """Run a command; end with its code if it fails."""
    print("+", *command, flush=True)
    done = subprocess.run([str(part) for part in command], check=False, **options)
    if done.returncode:
        sys.exit(done.returncode)


def built() -> tuple[Path, Path]:
    """Sdist, and the wheel built from what is in it."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    return next(DIST.glob("*.tar.gz")), next(DIST.glob("*.whl"))


def main() -> None:
    """Build, install, test."""
    sdist, wheel = built()
    with tempfile.TemporaryDirectory(prefix="wheel-") as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        python = folder / "venv/bin/python"
        install = [python, "-m", "pip", "--disable-pip-version-check", "-q", "install"]
        run(*install, "--prefer-binary", wheel)
        run(python, "-I", "-c", FIT, cwd=folder)
        constraints = ROOT / "scripts/constraints/dev.txt"
        run(*install, "--prefer-binary", f"{wheel}[dev]", "-c", constraints)
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        tree = folder / sdist.name.removesuffix(".tar.gz")
        shutil.rmtree(tree / "pegasos_stats")
        run(python, "-m", "pytest", "tests", *(sys.argv[1:] or QUICK), cwd=tree)


if __name__ == "__main__":
    main()
