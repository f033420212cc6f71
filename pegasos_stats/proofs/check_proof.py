"""Check a proof, with the standard library alone: python check_proof.py PROOF.

P = lam/2 |b|^2 + mean w_i loss(y_i (c + x_i'b + o_i)) is the objective. Its minimum is
at least D = mean (w_i H(a_i/w_i) - a_i y_i o_i) - |sum a_i y_i x_i|^2 / (2 lam n^2) for
dual weights a with sum a_i y_i = 0 if there is an intercept c. If lam = 0, the last
term is omitted and sum a_i y_i x_i = 0. H(t) is the minimum of loss(m) + t m over m.
Numbers are exact decimals. Logarithms have 60 digits; rounding errors can only increase
the difference P - D. The exit status is 0 if the claim is proved.
"""
# fmt: off

import csv, hashlib, json, re, sys  # noqa: E401, I001
from decimal import Context, Decimal, Inexact, InvalidOperation
from fractions import Fraction
from pathlib import Path

CLAIM = "The objective at these coefficients is at most gap above its minimum."
KEYS = ["claim", "design", "sha256", "rows", "loss", "lam", "intercept", "names",
        "coefficients", "gap", "decimals", "solved", "dual"]
SCALE, DUAL, LONG = 10**56, 2**60, Context(prec=60)
EXACT = Context(prec=3000, traps=[Inexact, InvalidOperation])

def require(condition, reason):
    if not condition:
        raise ValueError(reason)

def integer(text, places=0):  # text * 10^places
    plain = re.fullmatch(r"-?\d+(\.\d+)?([eE][+-]?\d{1,3})?", text, re.ASCII)
    require(plain, f"{text[:40]!r} is not a number")
    return int(EXACT.to_integral_exact(EXACT.scaleb(Decimal(text), places)))

def loss_of(kind, m, q):  # SCALE loss(m / q), rounded up
    if kind != "log":
        power = ["hinge", "squared_hinge"].index(kind) + 1
        return -(-(max(0, q - m) ** power) * SCALE // q**power)
    tail = LONG.add(1, LONG.exp(LONG.divide(-abs(m), q)))
    return max(0, -(m * SCALE // q)) + int(LONG.scaleb(LONG.ln(tail), 56)) + 2

def reward_of(kind, a, den, w, y, o, one):  # SCALE (w H(a/w) - a y o), rounded down
    free = kind == "squared_hinge" and w > 0
    require(a >= 0 and (free or a * one <= w * den), "a dual weight is out of range")
    value = -a * y * o * SCALE // (den * one) + (kind != "log") * (a * SCALE // den)
    if free:
        return value - (a * a * one * SCALE // (4 * den * den * w) + 1)
    if kind == "log" and w:
        share = a * one * 10**60 // (w * den)
        ends = [LONG.scaleb(t, -60) for t in (share, 10**60 - share) if t]
        logs = (LONG.scaleb(LONG.multiply(t, LONG.ln(t)), 56) for t in ends)
        value += w * max(0, sum(-int(x) for x in logs) - 3) // one
    return value

def solve(rows):  # rows (M, b): N and det with M N = det b, by Bareiss elimination
    det = 1
    for i in range(len(rows)):
        j = next(j for j in range(i, len(rows)) if rows[j][i])
        rows[i], rows[j], top = rows[j], rows[i], rows[j]
        for k in {*range(len(rows))} - {i}:
            pairs, by = zip(rows[k], top, strict=True), rows[k][i]
            rows[k] = [(top[i] * u - by * v) // det for u, v in pairs]
        det = top[i]
    return [row[-1] for row in rows], det

def check(path: "str | Path") -> "tuple[Fraction, Fraction, Fraction]":
    text = Path(path).read_text(encoding="utf-8")  # returns P, D and the claimed gap
    pairs = json.loads(text, parse_float=str, parse_int=str, object_pairs_hook=list)
    require(sorted(key for key, _ in pairs) == sorted(KEYS), "missing or repeated keys")
    claim, design, sha256, n, kind, lam, free, names, B, gap, places, solved, dual = (
        dict(pairs)[key] for key in KEYS)
    require(claim == CLAIM and type(free) is bool, "the claim is unknown")
    require({type(x) for x in (names, B, dual, solved)} == {list}, "not a list")
    lam, gap = (Fraction(integer(x, 400), 10**400) for x in (lam, gap))
    n, places, solved = integer(n), integer(places), {*map(integer, solved)}
    B, one, digest = [integer(b, places) for b in B], 10**places, hashlib.sha256()
    require(lam >= 0 <= gap and places >= 0 and len(B) == len(names) + free, "bad size")
    chosen, image, size, loss, reward = [], [0] * len(B), free if lam else len(B), 0, 0
    with open(Path(path).parent / design, "rb") as handle:
        lines = (digest.update(line) or line.decode("utf-8") for line in handle)
        table = csv.reader(lines, strict=True)
        require(next(table) == ["outcome", "weight", "offset", *names], "other columns")
        for i, cells in enumerate(table, 1):
            y, w, o, *x = (integer(cell, places) for cell in cells)
            a, y, s, c = integer(dual[i - 1]), y // one, abs(y), [one] * free + x
            require(s == one and w >= 0 and len(c) == len(B), "a wrong row")
            m = y * (sum(b * v for b, v in zip(B, c)) + o * one)  # noqa: B905
            loss += w * loss_of(kind, m, one * one)
            image = [s + a * y * v for s, v in zip(image, c)]  # noqa: B905
            chosen += [(a, w, y, o, c)] * (i in solved)
            reward += i not in solved and reward_of(kind, a, DUAL, w, y, o, one)
    require(digest.hexdigest() == sha256, "the design has another SHA-256")
    require(i == n == len(dual), "wrong number of rows")
    N, det = solve([[*(y * c[j] for *_, y, _, c in chosen), -s]
                    for j, s in enumerate(image[:size])])
    image, sign = [det * s for s in image], 1 if det > 0 else -1
    for move, (a, w, y, o, c) in zip(N, chosen, strict=True):
        a = sign * (a * det + move)
        reward += reward_of(kind, a, sign * det * DUAL, w, y, o, one)
        image = [s + move * y * v for s, v in zip(image, c)]  # noqa: B905
    require(not any(image[:size]), "the dual constraint does not hold")
    cost = Fraction(sum(v * v for v in image[free:]), (det * DUAL * one * n) ** 2)
    penalty = lam / 2 * Fraction(sum(b * b for b in B[free:]), one * one)
    lower = Fraction(reward, n * SCALE) - (cost / (2 * lam) if lam else 0)
    return penalty + Fraction(loss, n * one * SCALE), lower, gap

if __name__ == "__main__":
    upper, lower, gap = check(sys.argv[1])
    print(*(f"{float(x):.17g}" for x in (upper, lower)), "objective and lower bound;",
          f"difference {float(upper - lower):.3g}, claimed {float(gap):.3g}")
    sys.exit(not 0 <= upper - lower <= gap)
