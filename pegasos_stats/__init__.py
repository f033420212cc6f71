"""Support vector machines and logistic regression for two-level outcomes.

>>> import pegasos_stats as ps
>>> train, test = ps.datasets.load_digits56()
>>> result = ps.svm("digit ~ .", data=train, lam=1.0).fit(ps.Pegasos(seed=443))
>>> result.confusion(test).n_errors
1
"""

import ast
from importlib import import_module
from pathlib import Path

__version__ = "0.1.0"

MODULES = ("datasets", "errors")
# Modules by public name, from the stub. A module is loaded at the first use of a name.
STUB = ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
LATER = {
    alias.name: str(node.module).partition(".")[2]
    for node in STUB.body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
    if alias.name not in MODULES
}
__all__ = sorted(  # constants, classes, functions
    [*MODULES, *LATER], key=lambda name: (not name.isupper(), name[0].islower(), name)
)


def __getattr__(name: str) -> object:
    """Load the module of a public name when the name is first used."""
    if name in MODULES:
        return import_module(f"{__name__}.{name}")
    if name not in LATER:
        if name.startswith("_"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from pegasos_stats.foreign_names import missing_in_module

        raise missing_in_module(__name__, name, __all__, "module")
    value = getattr(import_module(f"{__name__}.{LATER[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, for ``dir()`` and for completion in a notebook."""
    return __all__
