"""Every way in which a worker dies: one sentence and a button, for whoever waits and for the window."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest

from app.jobs import SerialRunner
from app.notices import Severity
from app.worker.kill_witness import KillWitness
from app.worker.safe_mode import WORDS
from engine.client.memory_trouble import MemoryState
from engine.client.session import WorkerState
from tests.app.worker.test_safe_mode import MakeWorld, World, make_world
from tests.app.worker.test_standstill import Hand, Loop
from tests.engine.client import test_death as logs

__all__ = ["make_world"]

AGAIN = "Load again"


@dataclass(frozen=True)
class Way:
    """What the worker does, and what the user gets to see."""

    name: str
    code: str
    sentence: str
    button: str
    event: dict[str, Any] = field(default_factory=lambda: {"signal": "SIGABRT"})
    log: str = ""

    def __str__(self) -> str:
        return self.name


LOST, FULL = "The graphics driver lost the GPU", "The GPU memory was not enough."
NO_RAM = "The memory of the computer was not enough."
CHECK = "The engine stopped because one of its own checks failed."

WAYS = (
    Way("Vulkan: device lost", "device-lost", LOST, WORDS, log=logs.VK_LOST),
    Way("RADV: context lost", "device-lost", LOST, WORDS, log=logs.RADV_LOST),
    Way("HIP: hang of the GPU", "device-lost", LOST, WORDS, log=logs.HIP_HANG),
    Way("HIP: page fault", "device-lost", LOST, WORDS, log=logs.HIP_FAULT),
    Way("HIP: launch failure", "device-lost", LOST, WORDS, log=logs.HIP_LAUNCH),
    Way("Vulkan: device memory", "out-of-device-memory", FULL, WORDS, log=logs.VK_MEMORY),
    Way("RADV: command submission", "out-of-device-memory", FULL, WORDS, log=logs.RADV_FULL),
    Way("HIP: device memory", "out-of-device-memory", FULL, WORDS, log=logs.HIP_FULL),
    Way("HIP: no code for this GPU", "gpu-not-supported", "The ROCm backend holds no code", AGAIN, log=logs.ROCBLAS),
    Way("Vulkan: host memory", "out-of-memory", NO_RAM, AGAIN, log=logs.VK_HOST),
    Way("allocator", "out-of-memory", NO_RAM, AGAIN, log=logs.HOST_MEMORY),
    Way("assertion", "engine-assert", CHECK, WORDS, log=logs.ASSERT),
    Way("fatal error", "engine-assert", CHECK, WORDS, log=logs.FATAL),
    Way("abort without a word", "worker-aborted", "The engine aborted", WORDS),
    Way("crash", "worker-crashed", "The engine crashed.", WORDS, {"signal": "SIGSEGV"}),
    Way("illegal instruction", "processor-too-old", "This processor lacks", AGAIN, {"signal": "SIGILL"}),
    Way("drive pulled out", "model-unreadable", "The engine could not read", AGAIN, {"signal": "SIGBUS"}),
    Way("killed", "killed", "The engine was killed, most likely", AGAIN, {"signal": "SIGKILL"}),
    Way("ended from outside", "worker-ended", "The engine was ended from outside", AGAIN, {"signal": "SIGTERM"}),
    Way("silent exit", "worker-ended", "The engine ended by itself.", AGAIN, {"exit": 0}),
    Way("exit code", "worker-ended", "The engine ended with exit code 3.", AGAIN, {"exit": 3}),
)


def die(world: World, way: Way) -> None:
    """The worker dies in the middle of an answer, whose text stays."""
    world.until_ended(world.load())
    answer = world.ask("a b c d e f")
    world.until_ended(answer)
    assert (answer.text, answer.failure) == ("a b c ", way.code)


VARIANTS = {
    "RADV: context lost",
    "HIP: page fault",
    "HIP: launch failure",
    "RADV: command submission",
    "Vulkan: host memory",
    "fatal error",
    "exit code",
}
"""The same deaths in the words of another library: also in `tests.engine.client.test_death`, without a process."""


@pytest.mark.parametrize(
    "way", [pytest.param(w, marks=[pytest.mark.slow] if w.name in VARIANTS else []) for w in WAYS], ids=str
)
def test_one_sentence_and_a_button(make_world: MakeWorld, way: Way) -> None:
    world = make_world(generate={"after": 3, "stderr": way.log.splitlines(), **way.event})
    die(world, way)
    (notice,) = world.notices
    assert notice.text.startswith(way.sentence)
    assert (notice.severity, [action.label for action in notice.actions]) == (Severity.ERROR, [way.button])


@pytest.mark.parametrize("way", [WAYS[0], WAYS[-1]], ids=str)
def test_the_button_leads_to_the_next_answer(make_world: MakeWorld, way: Way) -> None:
    world = make_world(runs=[{"generate": {"after": 3, "stderr": way.log.splitlines(), **way.event}}, {}])
    die(world, way)
    world.notices[-1].actions[0].run()
    world.until_state(WorkerState.READY)
    again = world.ask("still there")
    world.until_ended(again)
    assert again.text == "still there"


def test_a_load_by_the_button_that_fails_is_told(make_world: MakeWorld) -> None:
    gone = {"code": "missing-file", "message": "The file is gone.", "next_step": "Insert the card."}
    world = make_world(runs=[{"generate": {"after": 3, "signal": "SIGBUS"}}, {"load": {"fail": gone}}])
    die(world, Way("", "model-unreadable", "", AGAIN))
    world.notices[-1].actions[0].run()
    world.until(lambda: len(world.notices) == 2)
    assert world.notices[-1].text == "The file is gone. Insert the card."


def test_a_hang_has_them_too(make_world: MakeWorld) -> None:
    world = make_world(runs=[{"generate": {"after": 3, "silence": True}}, {}])
    world.until_ended(world.load())
    hand = Hand(world)
    answer = world.ask("a b c d e f")
    world.until(lambda: len(answer.deltas) == 3)
    hand.turn(300)
    world.until_ended(answer)
    assert (answer.text, answer.failure) == ("a b c ", "hang")
    assert [action.label for action in world.notices[-1].actions] == [WORDS]


def test_a_worker_that_never_came_up_can_be_started_again(make_world: MakeWorld) -> None:
    world = make_world(runs=[{"hello": False, "stderr": ["ModuleNotFoundError: x"], "eof": "exit"}, {}])
    world.service.start()
    world.until(lambda: world.starts() == 1)
    process = world.service._link._process
    assert process is not None
    process.kill()
    world.until_state(WorkerState.CRASHED)
    assert [action.label for action in world.notices[-1].actions] == ["Start again"]
    world.notices[-1].actions[0].run()
    world.until_state(WorkerState.IDLE)


QUIET = MemoryState(oom_kills=0, pressure=0.0, swap_left=0.8)
PRESSED = MemoryState(oom_kills=0, pressure=38.5, swap_left=0.03)


@pytest.mark.parametrize(
    ("name", "after", "code", "sentence"),
    [
        ("SIGTERM", PRESSED, "killed", "The engine was ended while memory was short"),
        ("SIGKILL", PRESSED, "killed", "The engine was ended while memory was short"),
        ("SIGKILL", MemoryState(oom_kills=1), "killed", "The system ended the engine because memory ran out."),
        ("SIGTERM", QUIET, "worker-ended", "The engine was ended from outside (SIGTERM)."),
        ("SIGKILL", QUIET, "killed", "The engine was killed from outside; memory does not seem to have been short."),
    ],
)
def test_who_killed_it(make_world: MakeWorld, name: str, after: MemoryState, code: str, sentence: str) -> None:
    """earlyoom asks by SIGTERM first; the kernel and systemd-oomd do not ask."""
    world = make_world(runs=[{"generate": {"after": 3, "signal": name}}, {}])
    states = [QUIET, after, QUIET]
    runner = SerialRunner(Loop(), world.service)
    world.service._link._witness = KillWitness(runner, lambda: states.pop(0), world.service)
    die(world, Way("", code, sentence, AGAIN))
    assert world.notices[-1].text.startswith(sentence)
    assert world.service.state is WorkerState.CRASHED
    answer = world.ask("still there")
    world.until_ended(answer)
    assert answer.text == "still there"


def stuck_witness(world: World) -> list[Any]:
    """The kernel gives no answer; what it was asked."""
    held: list[Any] = []

    class Stuck(Loop):
        def submit(self, work: Any) -> None:
            held.append(work)

    world.service._link._witness = KillWitness(SerialRunner(Stuck(), world.service), lambda: QUIET, world.service)
    return held


def test_a_runner_that_is_stuck_holds_no_answer_up(make_world: MakeWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.worker.kill_witness.LONGEST_MS", 50)
    world = make_world(runs=[{"generate": {"after": 3, "signal": "SIGKILL"}}, {}])
    stuck_witness(world)
    die(world, Way("", "killed", "", AGAIN))
    again = world.ask("still there")
    world.until_ended(again)
    assert again.text == "still there"


def test_the_end_of_the_program_does_not_wait_for_the_witness(make_world: MakeWorld) -> None:
    """The kernel is being asked when the window closes: every request still gets its end."""
    world = make_world(generate={"after": 3, "signal": "SIGKILL"})
    held = stuck_witness(world)
    world.until_ended(world.load())
    answer = world.ask("a b c d e f")
    world.until(lambda: len(held) == 2)
    assert not answer.ends
    world.service.shutdown()
    assert answer.ends
    assert answer.text == "a b c "
