"""Draw the patients of the tutorials, and write them to patients.csv.

Beside it: new.csv has three of them without the outcome; coded.csv has them as other
programs write them, with codes for wards and missing values.

    python docs/data/make_patients.py

No patient is real. The draws are R's, from seed 11.
"""

from pathlib import Path

import numpy as np
import pandas as pd

import pegasos_stats as ps


def patients(n: int = 1600) -> pd.DataFrame:
    """One row for each patient, as a hospital would export them."""
    rng = ps.RRandom(11)
    data = pd.DataFrame({"patient": np.arange(1, n + 1)})
    hospitals = list("ABCDEFGH")
    data["hospital"] = rng.sample(hospitals, n, replace=True)
    data["sex"] = rng.sample(["female", "male"], n, replace=True)
    data["age"] = rng.rnorm(n, 64, 14).round().clip(18, 97).astype(int)
    wards = ["Medicine", "Surgery", "Cardiology", "Geriatrics", "Burns"]
    shares = [0.42, 0.28, 0.19, 0.102, 0.008]
    data["ward"] = rng.sample(wards, n, replace=True, prob=shares)
    day = np.sort(rng.sample_int(730, n, replace=True)) - 1
    dates = pd.Timestamp("2023-01-01") + pd.to_timedelta(day, "D")
    data["admitted"] = dates.strftime("%Y-%m-%d")
    data["nights"] = (1 + rng.rexp(n, 0.22)).astype(int)
    data["earlier"] = np.minimum(rng.rexp(n, 1.1).astype(int), 5)
    crp = np.exp(rng.rnorm(n, 2.6, 1.1)).round(1)
    data["crp"] = np.where(crp < 5, "<5", crp.astype(str))
    data["haemoglobin"] = (13.2 + rng.rnorm(n, 0, 1.7)).round(1)
    level = dict(zip(hospitals, rng.rnorm(8, 0, 0.45), strict=True))
    score = -2.0 + 0.02 * (data["age"] - 64) + 0.05 * (data["nights"] - 5)
    score += 0.5 * data["earlier"] + 0.3 * (np.log(crp) - 2.6)
    score -= 0.2 * (data["haemoglobin"] - 13.2) - data["hospital"].map(level)
    score += data["ward"].map(dict(zip(wards, [0, -0.5, 0.2, 0.4, 0], strict=True)))
    chance = 1 / (1 + np.exp(-score))
    data["readmitted"] = np.where(rng.runif(n) < chance, "yes", "no")
    unmeasured = rng.runif(n) < np.where(data["nights"] <= 2, 0.16, 0.03)
    data.loc[unmeasured, "haemoglobin"] = np.nan
    return data


def coded(data: pd.DataFrame) -> pd.DataFrame:
    """The patients with numbers for wards, 999 for missing, and days for dates."""
    wards = ["Medicine", "Surgery", "Cardiology", "Geriatrics", "Burns"]
    data = data.fillna({"haemoglobin": 999})
    data["outcome"] = data["readmitted"].map({"yes": "back", "no": "well"})
    data["ward"] = data["ward"].map(wards.index) + 1
    since = pd.to_datetime(data["admitted"]) - pd.Timestamp("2023-01-01")
    data = data.drop(columns=["admitted", "readmitted", "crp"])
    return data.assign(day=since.dt.days)


def files() -> dict[str, pd.DataFrame]:
    """The data by the names of their files."""
    data = patients()
    new = data.head(3).drop(columns="readmitted")
    return {"patients.csv": data, "new.csv": new, "coded.csv": coded(data)}


if __name__ == "__main__":
    for name, table in files().items():
        table.to_csv(Path(__file__).with_name(name), index=False)
