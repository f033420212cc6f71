"""Write the help and the options of the command line: words.json of output/cli.

Usage: ``python scripts/cli_words.py``. The command line reads them from there before it
loads a library; a test compares the file with the parser.
"""

import json
import os

from pegasos_stats.output.cli import words
from pegasos_stats.output.cli.parser import parser


def content() -> str:
    """The file as it should be."""
    os.environ["COLUMNS"] = "80"
    return json.dumps(words.described(parser()), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    words.FILE.write_text(content(), encoding="utf-8")
