"""Which steps a benchmark takes, what is left out, and how long it says it takes."""

from __future__ import annotations

import pytest

from engine.bench.course import Course
from engine.bench.progress import Step
from engine.bench.protocols import check_pair, fitting, suite_of
from engine.bench.records import NEEDED, Order, Protocol, Race, Variant
from engine.bench.variants import variants_of, with_winner
from engine.errors import VrambleError
from engine.memory.fit import fit_devices
from engine.protocol.bench import BenchSample
from engine.protocol.frames import Bench, Benched, Failed, Load, Loaded, Progress
from engine.protocol.types import DeviceInfo, DeviceKind, FlashAttention, KvType, LoadOptions, ModelInfo
from tests.engine.benchmark.making import CPU, GIB, GPU, device, fit_model

INFO = ModelInfo(
    path="/m.gguf", name="m", architecture="llama", quant="Q4_0", n_params=1, size_bytes=1, n_ctx=1, n_ctx_train=1,
    n_layers=1, gpu_layers=2, device=GPU, devices=(GPU,),
)  # fmt: skip
ROCM = device("ROCm0", backend="ROCm")


class Clock:
    """Seconds that pass only when told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def order(*labels: str, protocol: Protocol = Protocol.DECODE512, runs: int = 3) -> Order:
    variants = tuple(Variant(label=label, options=LoadOptions()) for label in labels)
    return Order(path="/m.gguf", protocol=protocol, variants=variants, tests=suite_of(protocol), runs=runs)


def step(course: Course, number: int, seconds: float = 0.0, clock: Clock | None = None) -> Step | None:
    """Let the next step succeed."""
    request = course.next(number)
    if request is None:
        return None
    if clock is not None:
        clock.now += seconds
    if isinstance(request, Load):
        course.take(Loaded(id=number, model=INFO, seconds=1.0))
    elif isinstance(request, Bench):
        empty = request.test is None
        sample = BenchSample() if empty else BenchSample(prompt_s=0.1, generated_s=2.0)
        course.take(Benched(id=number, sample=sample, ram=20e9 if empty else None))
    return course.step


def names(course: Course) -> list[str]:
    """All steps, when everything goes well."""
    found: list[str] = []
    for number in range(1, 1000):
        made = step(course, number)
        if made is None:
            return found
        label = "" if made.variant is None else course.order.variants[made.variant].label
        what = made.test.name if made.test else "load" if made.variant is not None else "ram"
        found.append(f"{label} {what}".strip())
    raise AssertionError("it never ends")


def test_one_variant_is_loaded_once() -> None:
    course = Course(order("A"))
    assert names(course) == ["ram", "A load", *["A pp1+tg512"] * 3]
    (result,) = course.results()
    assert len(result.tests[0].samples) == 3
    assert course.ram == 20e9


def test_variants_take_turns() -> None:
    assert names(Course(order("A", "B", runs=2))) == ["ram", *["A load", "A pp1+tg512", "B load", "B pp1+tg512"] * 2]


def test_only_the_first_run_after_a_load_warms_up() -> None:
    course = Course(order("A"))
    warm = []
    for number in range(1, 6):
        request = course.next(number)
        if isinstance(request, Bench) and request.test:
            warm.append(request.warm)
        course.take(Loaded(id=number, model=INFO, seconds=1) if isinstance(request, Load) else Benched(id=number))
    assert warm == [False, True, True]


def test_a_variant_that_fails_is_out_and_the_others_go_on() -> None:
    course = Course(order("A", "B", runs=2))
    step(course, 1)
    course.next(2)
    course.take(Failed(id=2, code="not-gguf", message="It is broken.", next_step="Get another."))
    assert names(course) == ["B load", "B pp1+tg512"] * 2
    first, second = course.results()
    assert first.error == "It is broken. Get another."
    assert len(second.tests[0].samples) == 2


def test_the_deepest_tests_are_given_up_for_memory() -> None:
    course = Course(order("A", protocol=Protocol.LLAMA_BENCH, runs=1))
    step(course, 1)
    lengths = []
    for number in (2, 3):
        request = course.next(number)
        assert isinstance(request, Load)
        lengths.append(request.options.n_ctx)
        course.take(Failed(id=number, code="out-of-memory", message="Too much."))
    assert lengths == [16896, 4608]
    assert names(course) == ["A load", "A pp512", "A tg128"]
    assert {item.test.depth for item in course.left_out} == {4096, 16384}


def test_memory_that_is_short_at_depth_0_too_ends_it() -> None:
    course = Course(order("A"))
    step(course, 1)
    course.next(2)
    course.take(Failed(id=2, code="out-of-memory", message="Too much."))
    assert course.next(3) is None
    assert course.first_error == "Too much."


def test_a_cancel_ends_it_where_it_is() -> None:
    course = Course(order("A"))
    for number in (1, 2, 3):
        step(course, number)
    course.next(4)
    course.take(Failed(id=4, code="cancelled", message="."))
    assert course.next(5) is None
    assert course.cancelled
    assert len(course.results()[0].tests[0].samples) == 1
    assert not course.results()[0].error


def test_the_time_left_follows_from_what_steps_took() -> None:
    clock = Clock()
    course = Course(order("A", runs=4), clock)
    assert course.seconds_left is None
    step(course, 1, 1.0, clock)
    step(course, 2, 5.0, clock)
    step(course, 3, 12.0, clock)
    step(course, 4, 10.0, clock)
    assert course.seconds_left == pytest.approx(20.0), "two runs like the last one"
    course.next(5)
    course.take(Progress(id=5, stage="bench", done=1, total=2))
    assert course.seconds_left == pytest.approx(15.0)
    before = course.fraction
    course.take(Progress(id=5, stage="bench", done=2, total=2))
    assert before < course.fraction < 1
    course.take(Benched(id=5))
    step(course, 6, 10.0, clock)
    assert course.next(7) is None
    assert course.fraction == pytest.approx(1.0)


def test_tests_that_the_model_is_not_made_for_are_left_out() -> None:
    variants = variants_of(Race.NONE, LoadOptions(), (GPU, CPU))
    room = fit_devices((GPU, CPU))
    taken, left = fitting(Protocol.LLAMA_BENCH, variants, fit_model(context_length=8192), room)
    assert [test.depth for test in taken] == [0, 0, 4096, 4096]
    assert "8192 tokens" in left[0].reason
    assert fitting(Protocol.LLAMA_BENCH, variants, fit_model(), room)[1] == ()
    assert fitting(Protocol.LLAMA_BENCH, variants, None, room)[1] == ()


def test_tests_that_memory_has_no_room_for_are_left_out() -> None:
    small = device(memory_total=GIB, memory_free=450 << 20)
    little_ram = device("CPU", DeviceKind.CPU, memory_total=GIB, memory_free=GIB // 2)
    variants = variants_of(Race.NONE, LoadOptions(), (small, little_ram))
    big_cache = fit_model(caches=fit_model().caches * 8, n_layers=16)
    taken, left = fitting(Protocol.LLAMA_BENCH, variants, big_cache, fit_devices((small, little_ram)))
    assert {test.depth for test in taken} <= {0, 4096}
    assert "GiB" in left[-1].reason


def test_devices_are_named_so_that_they_stay_the_same() -> None:
    found = variants_of(Race.DEVICES, LoadOptions(n_gpu_layers=0), (GPU, ROCM, CPU))
    assert [(v.label, v.options.device, v.options.n_gpu_layers) for v in found] == [
        ("Vulkan", "0000:03:00.0/Vulkan", -1),
        ("ROCm", "0000:03:00.0/ROCm", -1),
        ("CPU", "cpu", 0),
    ]
    second = device("Vulkan1", pci="0000:09:00.0", name="RX 6600")
    labels = [v.label for v in variants_of(Race.DEVICES, LoadOptions(), (GPU, second))]
    assert labels == [f"Vulkan: {GPU.name}", "Vulkan: RX 6600"]


def test_a_race_needs_two() -> None:
    unusable: DeviceInfo = device("Vulkan1", usable=False)
    for race, options, devices in (
        (Race.DEVICES, LoadOptions(), (CPU, unusable)),
        (Race.FLASH_ATTENTION, LoadOptions(kv_type_k=KvType.Q8_0, kv_type_v=KvType.Q8_0), (GPU,)),
    ):
        with pytest.raises(VrambleError) as caught:
            variants_of(race, options, devices)
        assert caught.value.code == "nothing-to-compare"


def test_micro_batches_fit_into_the_batch() -> None:
    found = variants_of(Race.MICRO_BATCH, LoadOptions(n_batch=256, n_ubatch=256), ())
    assert [(v.options.n_ubatch, v.options.n_batch) for v in found] == [(64, 256), (128, 256), (256, 256), (512, 512)]


def test_guesses_are_compared_with_the_draft_model_that_there_is() -> None:
    given = LoadOptions(ngram=True, n_draft=4)
    ways = [(v.options.ngram, v.options.draft) for v in variants_of(Race.GUESSES, given, ())]
    assert ways == [(False, None), (True, None)]
    given = LoadOptions(draft="/small.gguf", n_ctx=512)
    found = variants_of(Race.GUESSES, given, ())
    assert [(v.options.ngram, v.options.draft) for v in found] == [(False, None), (True, None), (False, "/small.gguf")]
    assert {v.options.n_ctx for v in found} == {512}
    assert len({v.label for v in found}) == 3
    kept = with_winner(LoadOptions(draft="/small.gguf", n_ctx=8192), Race.GUESSES, found[1].options)
    assert kept == LoadOptions(ngram=True, n_ctx=8192)


@pytest.mark.parametrize("race", Race)
@pytest.mark.parametrize("protocol", Protocol)
def test_a_race_needs_tests_that_decide_it(race: Race, protocol: Protocol) -> None:
    if NEEDED.get(race, protocol) is protocol:
        check_pair(race, protocol)
        return
    with pytest.raises(VrambleError, match="nobody can guess" if race is Race.GUESSES else "micro-batches") as told:
        check_pair(race, protocol)
    assert NEEDED[race].value in told.value.next_step


def test_keeping_a_winner_changes_nothing_else() -> None:
    winner = LoadOptions(flash_attention=FlashAttention.OFF, n_ctx=513, n_ubatch=64)
    kept = with_winner(LoadOptions(n_ctx=8192), Race.FLASH_ATTENTION, winner)
    assert kept == LoadOptions(n_ctx=8192, flash_attention=FlashAttention.OFF)
