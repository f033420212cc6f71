"""The reference in R goes into the wheel: one folder in the sources, a copy there."""

from pathlib import Path
from shutil import copyfile

from setuptools import setup
from setuptools.command.build_py import build_py

REFERENCE = Path(__file__).parent / "r_reference"
# What an R package is made of, without what R writes for the tests of this one.
PARTS = ["DESCRIPTION", "NAMESPACE", "LICENSE", "NEWS.md", ".Rbuildignore"]
PARTS += ["R/*.R", "man/*.Rd", "tests/*.R"]


class WithReference(build_py):
    """Copies the reference beside the modules; an editable installation reads it."""

    def run(self) -> None:
        """Build, and copy."""
        super().run()
        if self.editable_mode:
            return
        for part in PARTS:
            for file in REFERENCE.glob(part):
                inside = Path("pegasos_stats/r_reference") / file.relative_to(REFERENCE)
                target = Path(self.build_lib) / inside
                target.parent.mkdir(parents=True, exist_ok=True)
                copyfile(file, target)


setup(cmdclass={"build_py": WithReference})
