"""Benchmarks of the window: order of steps, the chat's model gives way, races, cancels, deaths."""

from __future__ import annotations

import pytest

from app.bench.service import Phase
from engine.bench.history import read_history
from engine.bench.records import Protocol, Race
from engine.client.session import WorkerState
from engine.protocol.types import FlashAttention
from tests.app.benchmark.conftest import MakeBench
from tests.fakes.tiny_gguf import tiny_llama
from tests.ui.shell.standins import model_info


def test_three_runs_after_one_load(make_bench: MakeBench) -> None:
    bench = make_bench(bench={"speed": 40.0, "power": 80.0})
    report = bench.measure()
    (variant,) = report.variants
    (outcome,) = variant.tests
    assert len(bench.frames("load")) == 1
    assert bench.frames("load")[0]["options"]["n_ctx"] == 513
    assert [frame["warm"] for frame in bench.frames("bench")[1:]] == [False, True, True]
    assert outcome.decode is not None
    assert outcome.decode.median == pytest.approx(40)
    assert outcome.tokens_per_joule == pytest.approx(0.5)
    assert variant.place is not None
    assert (variant.place.backend, variant.place.driver) == ("Vulkan", "libvulkan_fake.so of 2026-01-02")
    assert report.finished
    assert not bench.link.running
    assert read_history(bench.file) == (report,)


def test_the_header_gives_the_roofline_and_leaves_tests_out(make_bench: MakeBench) -> None:
    bench = make_bench(bench={"ram": 10e9})
    bench.model.write_bytes(tiny_llama())
    report = bench.measure(protocol=Protocol.LLAMA_BENCH, device="CPU", runs=1)
    (variant,) = report.variants
    assert [outcome.test.name for outcome in variant.tests] == ["pp512", "tg128"]
    assert [item.test.depth for item in report.left_out] == [4096, 4096, 16384, 16384]
    assert variant.main is not None
    assert variant.main.roofline is not None
    assert variant.main.roofline.tps == pytest.approx(10e9 / variant.main.roofline.n_bytes, rel=1e-3)
    assert bench.frames("load")[0]["options"]["device"] == "cpu"


def test_variants_of_a_race_take_turns_and_the_winner_is_kept(make_bench: MakeBench) -> None:
    bench = make_bench(bench={"speed": {"Vulkan": 50.0, "CPU": 10.0}})
    report = bench.measure(race=Race.DEVICES, devices=("Vulkan0", "CPU"), runs=2)
    assert [frame["options"]["device"] for frame in bench.frames("load")] == ["0000:03:00.0", "cpu"] * 2
    vulkan, cpu = report.variants
    assert [len(variant.tests[0].samples) for variant in (vulkan, cpu)] == [2, 2]
    assert not bench.service.is_kept(vulkan)
    bench.service.keep(vulkan)
    assert bench.service.is_kept(vulkan)
    kept = bench.options.kept[bench.model]
    assert (kept.device, kept.n_ctx) == ("0000:03:00.0", 4096), "only what the race was about"


def test_flash_attention_on_and_off(make_bench: MakeBench) -> None:
    bench = make_bench()
    bench.measure(race=Race.FLASH_ATTENTION, runs=1)
    assert [frame["options"]["flash_attention"] for frame in bench.frames("load")] == ["on", "off"]
    bench.service.keep(bench.reports[-1].variants[1])
    assert bench.options.kept[bench.model].flash_attention is FlashAttention.OFF


def test_the_models_of_the_chat_gives_way_and_says_so(make_bench: MakeBench) -> None:
    bench = make_bench()
    bench.worker.set_model(model_info())
    bench.worker.set_state(WorkerState.READY)
    bench.measure(runs=1)
    assert bench.worker.unloads == 1
    assert bench.service.unloaded == "Qwen3 8B"


def test_it_waits_until_the_memory_is_given_back(make_bench: MakeBench) -> None:
    bench = make_bench()
    bench.worker.set_model(model_info())
    bench.worker.set_state(WorkerState.READY)
    bench.worker.unload = lambda: bench.worker.set_model(None)  # type: ignore[method-assign]
    bench.start(runs=1)
    bench.qtbot.waitUntil(lambda: bench.service.unloaded != "")
    assert not bench.link.running
    bench.worker.set_state(WorkerState.STOPPING)
    assert not bench.link.running
    bench.worker.set_state(WorkerState.STOPPED)
    bench.wait()
    assert bench.reports


def test_not_while_the_chat_answers(make_bench: MakeBench) -> None:
    bench = make_bench()
    bench.worker.set_state(WorkerState.GENERATING)
    bench.start()
    assert [error.code for error in bench.errors] == ["bench-busy"]
    assert not bench.service.running


def test_a_message_meanwhile_ends_it_and_what_was_measured_stays(make_bench: MakeBench) -> None:
    bench = make_bench(bench=[{}, {}, {"gate": "/nowhere"}])
    bench.start(runs=3)
    bench.qtbot.waitUntil(lambda: len(bench.frames("bench")) == 3, timeout=60_000)
    bench.worker.set_state(WorkerState.LOADING)
    bench.wait()
    assert bench.service.interrupted
    (report,) = bench.reports
    assert not report.finished
    assert len(report.variants[0].tests[0].samples) == 1


def test_it_makes_room_before_the_chats_worker_has_started(make_bench: MakeBench) -> None:
    bench = make_bench(bench=[{}, {"silence": True}])
    bench.start()
    bench.qtbot.waitUntil(lambda: len(bench.frames("bench")) == 2, timeout=60_000)
    bench.worker.set_state(WorkerState.STARTING)
    assert bench.service.phase is Phase.RUNNING, "it starts only to tell its devices"
    bench.worker.idle = False
    bench.worker.set_state(WorkerState.STARTING)
    assert bench.service.interrupted
    bench.wait()
    assert not bench.link.running
    assert not bench.frames("cancel"), "nobody waits for an answer"


def test_cancelled_before_the_first_figure(make_bench: MakeBench) -> None:
    bench = make_bench(load={"gate": "/nowhere"})
    bench.start()
    bench.qtbot.waitUntil(lambda: bool(bench.frames("load")), timeout=60_000)
    bench.service.cancel()
    bench.wait()
    assert not bench.reports
    assert bench.stops == 1
    assert not bench.errors, "the user knows that it was stopped"
    assert not bench.file.exists()


def test_cancelled_at_once(make_bench: MakeBench) -> None:
    bench = make_bench()
    bench.start()
    bench.service.cancel()
    bench.wait()
    assert not bench.link.running
    assert not bench.journal_file.exists()


def test_a_variant_that_ends_the_worker_is_out_and_the_others_go_on(make_bench: MakeBench) -> None:
    dies = {"load": {"signal": "SIGABRT", "after": 1}}
    bench = make_bench(runs=[dies, {}])
    report = bench.measure(race=Race.DEVICES, devices=("Vulkan0", "CPU"), runs=2)
    first, second = report.variants
    assert first.error
    assert not first.tests
    assert len(second.tests[0].samples) == 2


def test_a_load_that_fails_is_told(make_bench: MakeBench) -> None:
    fail = {"code": "not-gguf", "message": "This is no model.", "next_step": "Choose another file.", "detail": ""}
    bench = make_bench(load={"fail": fail})
    bench.start()
    bench.wait()
    (error,) = bench.errors
    assert "This is no model." in error.sentence


def test_without_memory_for_the_deepest_test_the_others_are_made(make_bench: MakeBench) -> None:
    fail = {"code": "out-of-memory", "message": "Too much.", "next_step": "", "detail": ""}
    bench = make_bench(load=[{"fail": fail}, {}])
    report = bench.measure(protocol=Protocol.LLAMA_BENCH, runs=1)
    assert [frame["options"]["n_ctx"] for frame in bench.frames("load")] == [16896, 4608]
    assert [item.reason for item in report.left_out] == ["Too much."] * 2
    assert {outcome.test.depth for outcome in report.variants[0].tests} == {0, 4096}


def test_nothing_to_compare(make_bench: MakeBench) -> None:
    bench = make_bench()
    bench.start(race=Race.DEVICES, devices=("CPU",))
    bench.wait()
    bench.start(race=Race.MICRO_BATCH)
    bench.wait()
    bench.start(race=Race.GUESSES, protocol=Protocol.LLAMA_BENCH)
    bench.wait()
    assert [error.code for error in bench.errors] == ["nothing-to-compare"] * 3


def test_earlier_reports_are_there_after_a_restart(make_bench: MakeBench) -> None:
    bench = make_bench()
    report = bench.measure(runs=1)
    later = make_bench()
    later.archive.open()
    later.qtbot.waitUntil(lambda: bool(later.archive.reports))
    assert later.archive.reports == (report,)
    assert len(later.archive.beside(report)) == 3, "for orientation"
