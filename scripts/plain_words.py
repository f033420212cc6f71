"""Count vague names and idioms in the code: python scripts/plain_words.py.

Exits with status 1 if a count exceeds its bound. Bounds may only be lowered.
"""

import ast
import re
import sys
import tokenize
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "pegasos_stats"
NAMES = re.compile(
    "_*(agreed|alone|apart|asked|beside|drawn|each|found|given|held|kept|known|made"
    "|meant|measured|read|said|seen|stands|taken|told)_*"
)
IDIOMS = re.compile(
    r"\b(anew|apart|beside|br(?:ings?|ought)|g[ai]ve[ns]?|ke(?:eps?|pt)"
    r"|kn(?:ew|ows?|own)|sa(?:w|ys?|id)|se(?:es|en)|st(?:ands?|ood)"
    r"|t(?:akes?|aken|ook|ells?|old))\b",
    re.IGNORECASE,
)
NUMBERS = re.compile(
    r"^_?([A-Z_\d]+) = ([-+*/()., \de]*\d[-+*/()., \de]*)", re.MULTILINE
)
SEVERAL = 2  # constants of one name with different values
BOUNDS = {  # names and idioms of each subpackage, and of the modules next to them
    ".": (0, 7),
    "compiled": (0, 18),
    "data": (1, 11),
    "metrics": (0, 4),
    "models": (0, 10),
    "output": (0, 18),
    "persist": (1, 1),
    "proofs": (0, 2),
    "sklearn": (0, 5),
    "solvers": (0, 110),
    "studies": (1, 20),
}


def bound_name(node: ast.AST) -> str:
    """Return the name that an assignment, argument or definition binds, or no text."""
    match node:
        case (
            ast.Name(id=name, ctx=ast.Store())
            | ast.Attribute(attr=name, ctx=ast.Store())
        ):
            return name
        case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            return name
    return ""


def main() -> None:
    """Compare the counts with their bounds; list the places if one is exceeded."""
    names, idioms, values = defaultdict(list), defaultdict(list), defaultdict(set)
    for path in PACKAGE.rglob("*.py"):
        folder = path.relative_to(PACKAGE).parent.as_posix().split("/")[0]
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)):
            if NAMES.fullmatch(name := bound_name(node)):
                names[folder].append(f"{path}:{node.lineno}: {name}")
        for token in tokenize.generate_tokens(iter(text.splitlines(True)).__next__):
            if re.search("STRING|COMMENT", tokenize.tok_name[token.type]):
                place = f"{path}:{token.start[0]}: "
                idioms[folder] += [
                    place + word for word in IDIOMS.findall(token.string)
                ]
        for name, value in NUMBERS.findall(text):
            values[name].add(value.strip())
    several = [name for name, of_name in values.items() if len(of_name) > 1]
    rows = [("constants with several values", several, SEVERAL)]
    for folder, (most_names, most_idioms) in BOUNDS.items():
        rows.append((f"{folder}: names", names[folder], most_names))
        rows.append((f"{folder}: idioms", idioms[folder], most_idioms))
    for title, hits, bound in rows:
        print(f"{title} {len(hits)}, at most {bound}")
        if len(hits) > bound:
            print(*hits, sep="\n")
    sys.exit(any(len(hits) > bound for _, hits, bound in rows))


if __name__ == "__main__":
    main()
