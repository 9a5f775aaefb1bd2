"""Programs that the set-up runs: what they print is kept, and they end when the set-up ends."""

import time

import pytest
from vramble_setup.commands import CommandError, logged, output


def test_output_of_a_missing_or_failing_program_is_empty():
    assert output(["sh", "-c", "echo hello"]) == "hello"
    assert output(["sh", "-c", "echo hello; exit 1"]) == ""
    assert output(["no-such-program"]) == ""


def test_a_failure_shows_the_end_of_the_log_and_where_it_is(tmp_path):
    log = tmp_path / "logs" / "log"
    with pytest.raises(CommandError) as caught:
        logged(["sh", "-c", "seq 100; echo trouble >&2; exit 3"], log, "Counting")
    assert caught.value.message.startswith("Counting failed:")
    assert "trouble" in caught.value.message
    assert "  50\n" not in caught.value.message
    assert str(log) in caught.value.advice
    assert "50\n" in log.read_text()


def test_a_program_that_is_not_there_is_named(tmp_path):
    with pytest.raises(CommandError, match="no-such-program cannot be started"):
        logged(["no-such-program"], tmp_path / "log", "Trying")


def test_an_interrupt_ends_all_that_the_program_started(tmp_path):
    alive = tmp_path / "alive"
    script = f"(while :; do date > {alive}; sleep 0.1; done) & echo started; wait"

    def interrupt(line: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        logged(["sh", "-c", script], tmp_path / "log", "Working", on_line=interrupt)
    alive.unlink(missing_ok=True)
    time.sleep(0.5)
    assert not alive.exists()
