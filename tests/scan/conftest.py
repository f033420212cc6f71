"""The rows that most tests of scans read: in memory, in files, in partitions."""

import numpy as np
import pytest

import pegasos_stats as ps
from tests.scan.scan_files import LAM, SOLVER, frame_of, written


@pytest.fixture(scope="module")
def data():
    return frame_of()


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    return written(data, tmp_path_factory.mktemp("scan"))


@pytest.fixture(scope="module")
def there():
    """Partitions of unequal size; one has no complete row, one ends in a new level."""
    import dask.dataframe as dd

    data = frame_of().set_axis(np.arange(2400) * 2)
    data.loc[data.index[100:130], "x0"] = np.nan
    parts = [
        data.iloc[a:b] for a, b in [(0, 100), (100, 130), (130, 1500), (1500, 2400)]
    ]
    return dd.concat([dd.from_pandas(part, npartitions=1) for part in parts])


@pytest.fixture(scope="module")
def fitted(there):
    import dask

    with dask.config.set(scheduler="synchronous"):
        return ps.logit("y ~ x0 + g", there, lam=LAM, weights="balanced").fit(SOLVER)
