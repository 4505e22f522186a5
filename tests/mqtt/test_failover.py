"""The node that publishes is killed (`python -m tests.soak --failovers 50` does it more often)."""

from __future__ import annotations

from pathlib import Path

from tests.mqtt.failovers import fail_overs
from tests.mqtt.mosquitto import Mosquitto
from tests.node.loops import run


def test_another_takes_over_soon_and_never_goes_back_in_the_game(mosquitto: Mosquitto, tmp_path: Path) -> None:
    async def main() -> None:
        gaps_s = [one.gap_s async for one in fail_overs(mosquitto, tmp_path, 3)]
        assert len(gaps_s) == 3
        assert max(gaps_s) < 5.0

    run(main())
