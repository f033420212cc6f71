"""A plugin of pytest: the fixture `assert_parity`.

It is loaded by every run of pytest where pegasos_stats is installed, and so imports the
package only when a test asks for the fixture.
"""

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture(scope="session")
def assert_parity() -> Callable[..., Any]:
    """Assert that a fit is the same in R: ``assert_parity(model, solver)``.

    It takes what ``ps.check_against_r`` takes, returns what that returns, and shows it
    where something differs. Where there is no R the test is an error.
    """
    import pegasos_stats as ps

    def check(model: Any, solver: Any = None) -> Any:
        __tracebackhide__ = True
        found = ps.check_against_r(model, solver)
        if not found.equal:
            pytest.fail(str(found), pytrace=False)
        return found

    return check
