"""When a worker is due, and how it waits after a run that came to nothing."""

from __future__ import annotations

from sessions.observing.clocks import MOST_STEPS, BackOff, Gauge


def test_a_gauge_says_how_far_it_is() -> None:
    assert (Gauge(9, 10).due, Gauge(9, 10).left) == (False, 1)
    assert (Gauge(10, 10).due, Gauge(12, 10).left) == (True, 0)


def test_an_empty_run_waits_for_another_threshold_of_text() -> None:
    back_off = BackOff()
    assert not back_off.holds(0, 10)
    back_off.found_nothing(0, Gauge(12, 10))
    assert back_off.holds(0, 21)
    assert not back_off.holds(0, 22)


def test_it_waits_no_longer_once_the_watermark_has_moved() -> None:
    back_off = BackOff()
    back_off.found_nothing(5, Gauge(12, 10))
    assert not back_off.holds(6, 10)


def test_failures_wait_twice_as_long_each_time_up_to_a_limit() -> None:
    back_off = BackOff()
    waits = []
    for _ in range(6):
        back_off.failed(0, Gauge(0, 10))
        waits.append(next(tokens for tokens in range(1_000) if not back_off.holds(0, tokens)))
    assert waits == [10, 20, 40, 80, 80, 80]
    assert waits[-1] == 10 * MOST_STEPS


def test_success_forgets_everything() -> None:
    back_off = BackOff()
    for _ in range(3):
        back_off.failed(0, Gauge(0, 10))
    back_off.clear()
    assert not back_off.holds(0, 0)
    back_off.failed(0, Gauge(0, 10))
    assert not back_off.holds(0, 10)


def test_empty_runs_are_counted_at_one_watermark() -> None:
    back_off = BackOff()
    back_off.found_nothing(3, Gauge(10, 10))
    back_off.found_nothing(3, Gauge(20, 10))
    assert back_off.empty_runs == 2
    back_off.found_nothing(4, Gauge(10, 10))
    assert back_off.empty_runs == 1
