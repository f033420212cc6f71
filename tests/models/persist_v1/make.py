"""How the files of this folder were made: see README.md. Run in this folder."""

import json

import numpy as np
import pandas as pd

import pegasos_stats as ps

N = 30


def frame(seed: int, n: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)}).round(3)
    data["g"] = np.array(list("uvw"))[np.arange(n) % 3]
    score = data["a"] + rng.normal(size=n)
    data["y"] = np.where(score > 0, "yes", "no")
    return data


def fits(data: pd.DataFrame) -> dict:
    order = np.array([[3, 1, 2, 3], [0, 4, 5, 6]])
    X, weights = data[["a", "b"]], np.linspace(0.5, 1.5, len(data))
    plain = ps.SVM(data["y"], X, lam=0.1, weights=weights, standardize=True)
    poly = ps.logit("y ~ poly(a, 2) + g + np.log(b + 4) + C(g):a", data, lam=0.01)
    boot = ps.logit("y ~ a + b", data, lam=0.1).fit(ps.SDCA(tol=1e-8, seed=2))
    curved = ps.kernel_svm("y ~ a + g", data, kernel="gaussian", gamma=0.5, lam=0.5)
    gram = ps.KernelSVM(data["y"], X.to_numpy() @ X.to_numpy().T, kernel="precomputed")
    other = boot.with_covariance(ps.Bootstrap(replicates=30, seed=3))
    assert other.bse.notna().all()
    return {
        "given_rows": plain.fit(ps.Pegasos(order=order, epochs=2), trace=True),
        "formula": poly.fit(ps.Pegasos(epochs=5, seed=1), refine=1e-6),
        "bootstrap": other,
        "kernel": curved.fit(ps.Pegasos(epochs=3, seed=4), trace=True),
        "precomputed": gram.fit(ps.Pegasos(epochs=3, seed=5)),
    }


def main() -> None:
    data, new = frame(1, N), frame(2, 6)
    data.to_csv("train.csv", index=False)
    new.to_csv("new.csv", index=False)
    expected = {}
    for name, result in fits(data).items():
        rows = new
        if name == "given_rows":
            rows = new[["a", "b"]]
        if name == "precomputed":
            rows = new[["a", "b"]].to_numpy() @ data[["a", "b"]].to_numpy().T
        kernel = hasattr(result, "dual_coef")
        params = result.dual_coef if kernel else result.params
        expected[name] = {
            "params": params.tolist(),
            "intercept": result.intercept,
            "scores": result.decision_function(rows).tolist(),
            "objective": result.objective,
            "gap": result.gap,
            "errors": None if kernel else result.bse.tolist(),
        }
        ps.save(result, f"{name}.model", about={"rows": N} if kernel else None)
    with open("expected.json", "w") as handle:
        json.dump(expected, handle, indent=1)


if __name__ == "__main__":
    main()
