"""Write all public names with their signatures into tests/public_face.txt.

Usage: ``python scripts/public_face.py``. A test compares the file with the package, so
that no name, argument or default changes unnoticed.
"""

import inspect
from collections.abc import Iterator
from pathlib import Path

import pegasos_stats as ps
from pegasos_stats.models.results import LazyMethod

FILE = Path(__file__).parents[1] / "tests/public_face.txt"


def public_face() -> str:
    """Return one line per public function, class, method and property."""
    return "".join(f"{line}\n" for name in ps.__all__ for line in _lines(name))


def _lines(name: str) -> Iterator[str]:
    found = getattr(ps, name)
    if inspect.ismodule(found):
        for inner in sorted(vars(found)):
            member = getattr(found, inner)
            own = getattr(member, "__module__", None) == found.__name__
            if own and not inner.startswith("_"):
                yield f"{name}.{inner}{_signature(member)}"
        return
    yield f"{name}{_signature(found)}"
    if inspect.isclass(found):
        for inner in sorted(inner for inner in dir(found) if not inner.startswith("_")):
            member = inspect.getattr_static(found, inner)
            member = getattr(member, "__func__", member)
            if isinstance(member, LazyMethod):
                member = getattr(found, inner)
            yield f"{name}.{inner}{_signature(member) if callable(member) else ''}"


def _signature(found: object) -> str:
    """Return arguments and defaults, without types, which mypy checks."""
    if not callable(found) or (inspect.isclass(found) and issubclass(found, Exception)):
        return ""
    signature = inspect.signature(found)
    bare = [p.replace(annotation=p.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=signature.empty))


if __name__ == "__main__":
    FILE.write_text(public_face(), encoding="utf-8")
