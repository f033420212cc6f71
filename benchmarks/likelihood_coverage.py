"""Simulate the coverage of intervals by maximum likelihood and with the penalty 1/n.

    python benchmarks/likelihood_coverage.py [--samples 300] [--write docs]

The population is the maximum likelihood fit to 944 voters of 1996 (statsmodels'
anes96); each sample draws new votes from it. Prints how often nominal 95% intervals
contain the coefficients of the population, in the samples for which the maximum
likelihood estimate exists. The reference level of the factor has 200 voters, of whom 3
chose Dole.
"""

import argparse
from pathlib import Path

import numpy as np
import pandas as pd
from statsmodels.datasets import anes96

import pegasos_stats as ps

PARTIES = ["Strong Democrat", "Weak Democrat", "Independent-Democrat", "Independent"]
PARTIES += ["Independent-Republican", "Weak Republican", "Strong Republican"]
FORMULA = "vote ~ party + selfLR + age + educ + income + TVnews"


def covers(fit: ps.LinearResults, truth: pd.Series) -> pd.Series:
    """Return which intervals of a fit contain the coefficients of the population."""
    limits = fit.conf_int()
    return limits.iloc[:, 0].le(truth) & limits.iloc[:, 1].ge(truth)


def coverage(samples: int) -> tuple[pd.DataFrame, int]:
    """Return the coverage of each coefficient, and the number of samples used."""
    voters = anes96.load_pandas().data
    voters["party"] = pd.Categorical.from_codes(voters["PID"].astype(int), PARTIES)
    voters["vote"] = np.where(voters["vote"] == 1, "Dole", "Clinton")
    population = ps.logit(FORMULA, voters).fit()
    probability = population.predict_proba()["Dole"].to_numpy()
    rng = np.random.default_rng(1)
    covered: dict[str, list[pd.Series]] = {"HC3": [], "nonrobust": [], "lam = 1/n": []}
    for _ in range(samples):
        votes = np.where(rng.random(len(voters)) < probability, "Dole", "Clinton")
        sample = voters.assign(vote=votes)
        likely = ps.logit(FORMULA, sample).fit()
        if likely.problem.lam:
            continue
        shrunken = ps.logit(FORMULA, sample, lam=1 / len(sample)).fit()
        fits = likely, likely.with_covariance("nonrobust"), shrunken
        for intervals, fit in zip(covered.values(), fits, strict=True):
            intervals.append(covers(fit, population.params))
    shares = {name: pd.DataFrame(lines).mean() for name, lines in covered.items()}
    return pd.DataFrame(shares).round(3), len(covered["HC3"])


def main() -> None:
    """Print the table, and write it if a folder is given."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=300)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    table, estimated = coverage(options.samples)
    print(table)
    print(f"{estimated} of {options.samples} samples have an estimate")
    if options.write:
        path = options.write / "coverage_likelihood.csv"
        table.rename_axis("coefficient").to_csv(path, lineterminator="\n")


if __name__ == "__main__":
    main()
