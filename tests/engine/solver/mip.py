"""A whole-number program for HiGHS, whose presolve stays off: with it, 1.14 and 1.16 call feasible ones infeasible."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import highspy
import numpy as np

Terms = list[tuple[int | None, int]]  # variables with their factors
_GAP = 0.5  # all costs are whole, so nothing better is left


class Program:
    """Maximise the sum of cost times variable. A variable that can only be 0 is None, and ignored in rows."""

    def __init__(self) -> None:
        self._costs: list[float] = []
        self._uppers: list[float] = []
        self._lows: list[float] = []
        self._highs: list[float] = []
        self._starts = [0]
        self._indexes: list[int] = []
        self._factors: list[float] = []

    def variable(self, upper: int, cost: int = 0) -> int | None:
        """A new whole variable from 0 to `upper`."""
        if upper <= 0:
            return None
        self._costs.append(cost)
        self._uppers.append(upper)
        return len(self._costs) - 1

    def row(self, low: float, terms: Iterable[tuple[int | None, int]], high: float = highspy.kHighsInf) -> None:
        """A new condition: the sum of factor times variable is between `low` and `high`."""
        factors: dict[int, int] = {}
        for variable, factor in terms:
            if variable is not None:
                factors[variable] = factors.get(variable, 0) + factor
        if not factors and low <= 0 <= high:
            return
        self._lows.append(low)
        self._highs.append(high)
        self._indexes += factors
        self._factors += factors.values()
        self._starts.append(len(self._indexes))

    def solve(self, limit_s: float | None = None) -> list[int] | None:
        """The variables at an optimum (0 for those that are None), None if there is no solution.

        Raises `TimeoutError`, and `RuntimeError` if HiGHS does not say.
        """
        if not self._costs:
            return [] if all(low <= 0 <= high for low, high in zip(self._lows, self._highs, strict=True)) else None
        lp = highspy.HighsLp()
        lp.num_col_, lp.num_row_ = len(self._costs), len(self._lows)
        lp.col_cost_ = np.array(self._costs, dtype=float)
        lp.col_lower_, lp.col_upper_ = np.zeros(len(self._costs)), np.array(self._uppers, dtype=float)
        lp.row_lower_, lp.row_upper_ = np.array(self._lows, dtype=float), np.array(self._highs, dtype=float)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        lp.a_matrix_.start_ = np.array(self._starts, dtype=np.int32)
        lp.a_matrix_.index_ = np.array(self._indexes, dtype=np.int32)
        lp.a_matrix_.value_ = np.array(self._factors, dtype=float)
        lp.integrality_ = [highspy.HighsVarType.kInteger] * len(self._costs)
        lp.sense_ = highspy.ObjSense.kMaximize
        highs = highspy.Highs()  # type: ignore[no-untyped-call] # as it comes
        settings: Mapping[str, bool | int | float | str] = {
            "output_flag": False,
            "threads": 1,
            "presolve": "off",
            "mip_rel_gap": 0.0,
            "mip_abs_gap": _GAP,
        }
        for name, value in settings.items():
            highs.setOptionValue(name, value)
        if limit_s is not None:
            highs.setOptionValue("time_limit", limit_s)
        highs.passModel(lp)
        highs.run()
        status = highs.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            return None
        if status == highspy.HighsModelStatus.kTimeLimit:
            raise TimeoutError
        if status != highspy.HighsModelStatus.kOptimal:
            raise RuntimeError(f"HiGHS says {highs.modelStatusToString(status)}")
        return [round(value) for value in highs.getSolution().col_value]
