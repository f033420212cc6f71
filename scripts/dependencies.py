"""Test the package with the lowest or the newest versions of its dependencies.

Usage: dependencies.py lowest|newest [OPTION OF PYTEST ...]. Creates an environment in
build/, installs the package there with the extra dev, and runs the tests of `make
check`, unless options select others. The lowest versions are the minimum versions in
setup.cfg of all libraries that the package imports; the newest are those that pip
finds.
"""

import re
import subprocess
import sys
import venv
from configparser import ConfigParser
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
QUICK = ["-m", "not (r or data or fuzz or slow)", "--numprocesses", "auto"]
EXTRAS = ["plot", "report", "sklearn", "files", "frames"]  # imported by the package
ASKED = re.compile(r"([A-Za-z0-9_.-]+)>=([0-9.]+)")


def at_least() -> dict[str, dict[str, str]]:
    """Return minimum versions by name, for the package ("") and each extra."""
    setup = ConfigParser()
    setup.read(ROOT / "setup.cfg")
    asked = {"": setup["options"]["install_requires"]}
    asked |= dict(setup["options.extras_require"])
    return {extra: dict(ASKED.findall(lines)) for extra, lines in asked.items()}


def constraints(which: str) -> list[str]:
    """Return a constraint for each library that the package imports."""
    if which == "newest":
        return []
    known = at_least()
    lowest = {k: v for extra in ["", *EXTRAS] for k, v in known[extra].items()}
    return [f"{name}=={version}.*" for name, version in lowest.items()]


def run(*command: object) -> None:
    """Run a command; exit with its status if it fails."""
    print("+", *command, flush=True)
    done = subprocess.run([str(part) for part in command], check=False, cwd=ROOT)
    if done.returncode:
        sys.exit(done.returncode)


def main() -> None:
    """Install, print the installed versions, and test."""
    if len(sys.argv) < 2 or sys.argv[1] not in ("lowest", "newest"):
        sys.exit(__doc__)
    which, options = sys.argv[1], sys.argv[2:]
    folder = ROOT / "build" / which
    venv.create(folder, with_pip=True, clear=True)
    python, listed = folder / "bin/python", folder / "constraints.txt"
    listed.write_text("\n".join(constraints(which)) + "\n", encoding="utf-8")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "-q"]
    installing = ["install", "--prefer-binary", "--editable", f"{ROOT}[dev]"]
    run(*pip, *installing, "-c", listed)
    run(*pip, "freeze", "--exclude-editable")
    run(python, "-m", "pytest", *(options or ["tests", *QUICK]))


if __name__ == "__main__":
    main()
