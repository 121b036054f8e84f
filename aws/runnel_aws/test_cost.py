"""The estimate."""

from __future__ import annotations

import pytest

from .cost import cost_table, estimate, machine_price, repeat_hours
from .errors import AwsError
from .regions import thesis_regions
from .session_plan import session_hours
from .testkit import small_config, worker_config

ALL = thesis_regions()


def test_prices_are_known_for_all_regions() -> None:
    cost = estimate(small_config(regions=ALL, sizes=(32, 64)))
    assert set(cost.regions) == set(ALL)
    assert all(usd > 0 for usd in cost.regions.values())


def test_is_hours_times_machines_times_price() -> None:
    config = small_config(regions=("us-east-1",), sizes=(10,), repeats=2, tracker_region="us-east-1")
    cost = estimate(config, hours_per_repeat=1.0)
    # A quarter of an hour until they are there, then two hours.
    hourly = 0.0208 + 0.005 + 16 * 0.08 / 730
    assert cost.regions["us-east-1"] == pytest.approx(10 * 2.25 * hourly)
    assert cost.tracker == pytest.approx(2.5 * (0.085 + 0.005 + 16 * 0.08 / 730))
    assert cost.total == pytest.approx(sum(cost.regions.values()) + cost.tracker)


def test_a_series_as_in_the_thesis() -> None:
    cost = estimate(small_config(regions=ALL, sizes=(32, 64, 128, 256, 512, 1024, 2048), repeats=10))
    assert 100 < cost.total < 300
    assert repeat_hours(2048) > repeat_hours(32)


def test_the_table_has_every_region_the_total_and_its_caveats() -> None:
    config = small_config()
    table = cost_table(config, estimate(config))
    for part in (*config.regions, "tracker", "total", "Prices change", "2025"):
        assert part in table


def test_workers_cost_their_machines_for_the_longest_that_sessions_take() -> None:
    config = worker_config(sizes=(3,), repeats=2)
    cost = estimate(config)
    hours = 0.25 + 2 * session_hours(config)
    assert cost.tracker == 0
    assert cost.hours == pytest.approx(hours)
    assert cost.total == pytest.approx(3 * hours * machine_price("t3.xlarge", "eu-west-1"))
    table = cost_table(config, cost)
    assert "tracker" not in table and f"{cost.total:.2f}" in table


def test_the_price_is_not_told_of_sessions_that_cannot_be() -> None:
    with pytest.raises(AwsError, match="headless"):
        estimate(worker_config(emulate_arguments=("--arms", "headless")), 1.0)


def test_a_machine_without_a_price_is_named() -> None:
    with pytest.raises(AwsError) as error:
        estimate(small_config(instance_type="m5.24xlarge"))
    assert "m5.24xlarge" in str(error.value)
