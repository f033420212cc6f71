"""Build the sdist and the wheel, and test the package that the wheel installs.

Usage: wheel.py [OPTION OF PYTEST ...]. First installs the wheel without extras in an
empty environment and runs a fit, which needs only the required dependencies. Then
installs the extra dev and runs the tests of the sdist in a folder without the package:
the tests of `make check`, unless options select others. Only ``dist/`` remains.
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
    """Run a command; exit with its status if it fails."""
    print("+", *command, flush=True)
    done = subprocess.run([str(part) for part in command], check=False, **options)
    if done.returncode:
        sys.exit(done.returncode)


def built() -> tuple[Path, Path]:
    """Build the sdist, and the wheel from the sdist; return their paths."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    return next(DIST.glob("*.tar.gz")), next(DIST.glob("*.whl"))


def main() -> None:
    """Build, install and test."""
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
