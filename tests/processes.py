"""Fresh processes of Python."""

import os
import subprocess
import sys


def in_process(code, **environment):
    """What code says in a process of its own, which ends well."""
    return subprocess.run(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=True,
    )
