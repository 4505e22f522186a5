"""Confidence intervals of 95 % for rates and means.

Rates: the score interval, E. B. Wilson, "Probable Inference, the Law of Succession, and Statistical Inference",
Journal of the American Statistical Association 22 (1927), 209 to 212. Means: the normal approximation, mean ± z s/√n
with the sample's own deviation s, which wants some 30 values or more.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist, fmean, stdev
from typing import Final

LEVEL: Final = 0.95
_Z: Final = NormalDist().inv_cdf((1 + LEVEL) / 2)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rate or a mean of `n` values, and the ends of its interval; NaN where there are too few values for it."""

    value: float
    low: float
    high: float
    n: int


def rate(successes: int, n: int) -> Estimate:
    """How often something happened in `n` independent cases."""
    if not n:
        return Estimate(math.nan, math.nan, math.nan, 0)
    share, wide = successes / n, _Z * _Z / n
    middle = share + wide / 2
    half = _Z * math.sqrt(share * (1 - share) / n + wide / (4 * n))
    low, high = (middle - half) / (1 + wide), (middle + half) / (1 + wide)
    return Estimate(share, max(0.0, min(low, share)), min(1.0, max(high, share)), n)  # rounding errors at 0 and 1


def mean(values: Sequence[float]) -> Estimate:
    """The mean of independent values."""
    n = len(values)
    if not n:
        return Estimate(math.nan, math.nan, math.nan, 0)
    middle = fmean(values)
    half = _Z * stdev(values) / math.sqrt(n) if n > 1 else math.nan
    return Estimate(middle, middle - half, middle + half, n)
