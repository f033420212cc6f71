"""Reviews, and whether the buyer was content; drawn ones where there are no others."""

import gzip
from pathlib import Path
from typing import NamedTuple

import numpy as np

import pegasos_stats as ps

FILE = "sentiment_4999.txt.gz"
KINDS = {"word": 8_000, "praise": 300, "blame": 300}  # words of each
SHARES = {"pos": (1.0, 0.24, 0.12), "neg": (1.0, 0.12, 0.24)}  # how likely each kind is


class Reviews(NamedTuple):
    """Texts with their labels.

    Attributes
    ----------
    labels : list of str
        "pos" or "neg".
    texts : list of str
    are_real : bool
    """

    labels: list[str]
    texts: list[str]
    are_real: bool


def load_reviews(folder: str | None) -> Reviews:
    """Read the reviews of a folder, or draw 3,000 texts if it has none."""
    path = Path(folder or ".") / FILE
    return read_reviews(path) if path.is_file() else draw_reviews(3_000, 80)


def read_reviews(path: Path) -> Reviews:
    """Read a file whose lines have topic, label, file and text."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        fields = [line.split(maxsplit=3) for line in file]
    return Reviews([f[1] for f in fields], [f[3] for f in fields], are_real=True)


def draw_reviews(n: int, length: int) -> Reviews:
    """Draw words by Zipf's law; those that praise or blame are likelier in one kind."""
    rng = ps.RRandom(1)
    words = np.array(
        [f"{kind}{j}" for kind, size in KINDS.items() for j in range(size)]
    )
    sizes = list(KINDS.values())
    zipf = np.concatenate([1.0 / (10.0 + np.arange(size)) for size in sizes])
    labels = [("neg", "pos")[int(u < 0.5)] for u in rng.runif(n)]
    texts = []
    for label in labels:
        prob = zipf * np.repeat(SHARES[label], sizes)
        texts.append(
            " ".join(words[rng.sample_int(len(words), length, True, prob) - 1])
        )
    return Reviews(labels, texts, are_real=False)
