"""Run the code of the README and update its outputs: python scripts/readme.py."""

import re
import tempfile
from contextlib import chdir, redirect_stdout
from io import StringIO
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"
PAIR = re.compile(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)


def printed(text: str) -> list[tuple[str, str | None, str]]:
    """Return each block of Python code, its output in the text, and its actual output.

    Blocks share one namespace and run in a temporary folder that contains `docs`.
    """
    names: dict[str, object] = {}
    found = []
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        Path("docs").symlink_to(README.parent / "docs")
        for code, shown in PAIR.findall(text):
            with redirect_stdout(StringIO()) as out:
                exec(compile(code, "README.md", "exec"), names)
            lines = [line.rstrip() for line in out.getvalue().splitlines()]
            found.append((code, shown, "".join(f"{line}\n" for line in lines)))
    return found


def main() -> None:
    """Update the README."""
    text = README.read_text(encoding="utf-8")
    for code, shown, now in printed(text):
        if now:
            old, new = (f"{code}```\n\n```text\n{out}```" for out in (shown, now))
            text = text.replace(old, new, 1)
    README.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
