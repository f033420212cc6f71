"""Which tests can see a change: those that run the function, or one that names it.

Made by one run of all tests with coverage. Compiled kernels, constants and classes
leave no trace of their own in it: for them count the functions that name them, and
the functions that name these, up to one that was seen to run.
"""

import ast
import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from coverage import CoverageData

COMPILED = "pegasos_stats/compiled/"
IMPORTS = ast.Import | ast.ImportFrom
KEEPS_RESULTS = re.compile(r"scope=|cache")  # a test may live on what another one made


@dataclass(frozen=True)
class Definition:
    """A function, or what stands outside of functions under one name."""

    file: str
    name: str  # dotted, empty for the module
    defines: frozenset[str]
    mentions: frozenset[str]
    lines: range


class Reach:
    """What one run of the tests found, in a tree at `root`."""

    def __init__(self, root: Path, record: Path) -> None:
        found = json.loads(record.read_text(encoding="utf-8"))
        self.root = root
        self.seconds: dict[str, float] = found["seconds"]
        self.failed: list[str] = found["failed"]
        for test in self.failed:
            self.seconds.pop(test, None)
        self._data = CoverageData(str(record.with_suffix(".lines")))
        self._data.read()
        self._known: dict[str, dict[str, set[str]]] = {}
        self._texts: dict[str, str] = {}

    def tests(self, file: str, function: str, line: int) -> list[str]:
        """Tests that can see a change of this line, the likely and quick first."""
        found = self._of_function(file, function)
        if not found or file.startswith(COMPILED):
            found |= self._of_namers(file, line)
        shared = self._files(found) & self._keeping
        found |= {test for test in self.seconds if _file(test) in shared}
        return self._ordered(found, file)

    def called_later(self, file: str, line: int) -> str:
        """The outermost function around this line, if no import has run it yet."""
        ran = self._data.contexts_by_lineno(file)
        for name, body in sorted(_bodies(self.root / file), key=lambda f: len(f[0])):
            if line in body:
                return "" if any("" in ran.get(n, ()) for n in body) else name
        return ""

    def _files(self, tests: Iterable[str]) -> set[str]:
        return {_file(test) for test in tests}

    @cached_property
    def _keeping(self) -> set[str]:
        files = self._files(self.seconds)
        return {file for file in files if KEEPS_RESULTS.search(self._text(file))}

    def _ordered(self, tests: set[str], changed: str) -> list[str]:
        module = changed.removesuffix(".py").replace("/", ".")
        package, _, stem = module.rpartition(".")
        imported = re.compile(
            rf"{re.escape(module)}\b|from {re.escape(package)} import .*\b{stem}\b"
        )
        total: dict[str, float] = defaultdict(float)
        for test in tests:
            total[_file(test)] += self.seconds[test]

        def key(test: str) -> tuple[bool, float, str, float]:
            file = _file(test)
            near = stem in file or imported.search(self._text(file)) is not None
            return not near, total[file], file, self.seconds[test]

        return sorted(tests, key=key)

    def _of_function(self, file: str, function: str) -> set[str]:
        found: set[str] = set()
        runs = self._runs(file)
        for name, tests in runs.items():
            if function and f"{name}.".startswith(f"{function}."):
                found |= tests
        return found

    def _runs(self, file: str) -> dict[str, set[str]]:
        """The tests that ran each function of a file."""
        if file not in self._known:
            lines = self._data.contexts_by_lineno(file)
            runs: dict[str, set[str]] = defaultdict(set)
            for name, body in _bodies(self.root / file):
                for line in body:
                    runs[name] |= set(lines.get(line, ())) & self.seconds.keys()
            self._known[file] = runs
        return self._known[file]

    def _of_namers(self, file: str, line: int) -> set[str]:
        """Tests of all that names what is defined at this line."""
        here = (found for found in self._definitions if found.file == file)
        names = {n for found in here if line in found.lines for n in found.defines}
        todo, tests = set(names), set[str]()
        while todo:
            name = todo.pop()
            for user in self._users[name]:
                ran: set[str] = set()
                if not user.file.startswith(COMPILED):
                    ran = self._of_function(user.file, user.name)
                tests |= ran
                if not ran:
                    todo |= user.defines - names
                    names |= user.defines
        named = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
        for test in self.seconds:
            path = _file(test)
            if path.startswith("tests/") and named.search(self._text(path)):
                tests.add(test)
        return tests

    def _text(self, file: str) -> str:
        if file not in self._texts:
            self._texts[file] = (self.root / file).read_text(encoding="utf-8")
        return self._texts[file]

    @cached_property
    def _definitions(self) -> list[Definition]:
        files = sorted((self.root / "pegasos_stats").rglob("*.py"))
        return [found for file in files for found in _definitions(self.root, file)]

    @cached_property
    def _users(self) -> dict[str, list[Definition]]:
        users: dict[str, list[Definition]] = defaultdict(list)
        for found in self._definitions:
            for name in found.mentions:
                users[name].append(found)
        return users


def _file(test: str) -> str:
    return test.partition("::")[0]


def _bodies(path: Path) -> Iterator[tuple[str, range]]:
    """Functions with the lines of their bodies, which run when they are called."""
    todo: list[tuple[str, ast.AST]] = [("", ast.parse(path.read_bytes()))]
    while todo:
        prefix, node = todo.pop()
        for child in ast.iter_child_nodes(node):
            name = prefix
            if isinstance(child, ast.FunctionDef | ast.ClassDef):
                name = f"{prefix}.{child.name}".strip(".")
            if isinstance(child, ast.FunctionDef):
                yield name, range(child.body[0].lineno, (child.end_lineno or 0) + 1)
            todo.append((name, child))


def _definitions(root: Path, path: Path) -> Iterator[Definition]:
    """Functions and, one by one, the statements outside of them."""
    file = str(path.relative_to(root))
    todo: list[tuple[str, ast.AST]] = [("", ast.parse(path.read_bytes()))]
    while todo:
        prefix, node = todo.pop()
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.ClassDef):
                name = f"{prefix}.{child.name}".strip(".")
                todo.append((name, child))
            elif isinstance(child, ast.FunctionDef):
                name = f"{prefix}.{child.name}".strip(".")
                yield _definition(file, name, child)
            elif isinstance(child, ast.stmt) and not isinstance(child, IMPORTS):
                yield _definition(file, prefix, child)


def _definition(file: str, name: str, node: ast.stmt) -> Definition:
    nodes = [found for found in ast.walk(node) if isinstance(found, ast.Name)]
    mentions = {found.id for found in nodes}
    attributes = (found for found in ast.walk(node) if isinstance(found, ast.Attribute))
    mentions |= {found.attr for found in attributes}
    defines = set(name.split(".")) if name else set()
    if isinstance(node, ast.FunctionDef):
        for call in (d for d in node.decorator_list if isinstance(d, ast.Call)):
            # As in overload(public): who names the public function runs this one.
            defines |= {a.attr for a in call.args if isinstance(a, ast.Attribute)}
    else:
        defines |= {found.id for found in nodes if isinstance(found.ctx, ast.Store)}
        if isinstance(node, ast.Expr):
            defines |= mentions
    lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
    return Definition(file, name, frozenset(defines), frozenset(mentions), lines)
