"""Earlier reports: kept, read, compared. Exports and published figures."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.bench import history
from engine.bench.change import change
from engine.bench.document import document, markdown, verdict_sentence
from engine.bench.history import add_to_history, read_history
from engine.bench.published import beside, read_published
from engine.bench.records import LeftOut, Report, Roofline
from engine.bench.text import published_lines, table
from engine.protocol.bench import BenchTest
from engine.protocol.types import LoadOptions
from tests.engine.benchmark.making import DECODE, PP, TG, outcome, report, variant


def test_reports_come_back_in_order(tmp_path: Path) -> None:
    file = tmp_path / "data" / "benchmarks.jsonl"
    assert read_history(file) == ()
    first, second = report(variant("", outcome(DECODE, 1.0)), taken=1.0), report(taken=2.0)
    add_to_history(file, first)
    add_to_history(file, second)
    assert read_history(file) == (first, second)


def test_lines_that_make_no_sense_harm_nothing(tmp_path: Path) -> None:
    file = tmp_path / "benchmarks.jsonl"
    newer = {**msgspec.to_builtins(report(taken=3.0)), "version": 9, "unheard_of": [1]}
    odd = {**msgspec.to_builtins(report(taken=4.0)), "protocol": "of-tomorrow"}
    file.write_bytes(b'{"taken": "x"}\n\xff\xfe\n' + json.dumps(newer).encode() + b"\n" + json.dumps(odd).encode())
    add_to_history(file, report(taken=5.0))
    assert [found.taken for found in read_history(file)] == [3.0, 5.0]


@given(st.binary(max_size=300))
def test_any_bytes_are_a_history(data: bytes) -> None:
    assert all(isinstance(history._decode(line), Report | None) for line in data.splitlines())


def test_the_older_half_goes_when_there_is_too_much(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "benchmarks.jsonl"
    one = report(variant("", outcome(DECODE, 1.0)))
    monkeypatch.setattr(history, "MOST_BYTES", 12 * len(msgspec.json.encode(one)))
    for number in range(30):
        add_to_history(file, msgspec.structs.replace(one, taken=float(number)))
    kept = [found.taken for found in read_history(file)]
    assert 5 <= len(kept) <= 12
    assert kept == sorted(kept)
    assert kept[-1] == 29.0


def test_the_effect_of_an_update_is_seen() -> None:
    before = report(variant("", outcome(PP, 10.0), outcome(TG, 40.0)), taken=1.0, build="0.4.0")
    after = report(variant("", outcome(PP, 10.0), outcome(TG, 44.0)), taken=2.0, build="0.5.0")
    (now,) = after.variants
    found = change((before,), after, now, now.tests[1])
    assert found is not None
    assert found.decode == pytest.approx(0.1)
    assert (found.build, found.driver) == (True, False)
    assert change((before, after), after, now, now.tests[1]) == found, "a report is not its own past"
    reading = change((before,), after, now, now.tests[0])
    assert reading is not None
    assert reading.prefill == pytest.approx(0.0)


def test_a_new_driver_is_told() -> None:
    old = variant("", outcome(TG, 40.0))
    assert old.place is not None
    new = msgspec.structs.replace(old, place=msgspec.structs.replace(old.place, driver="libvulkan_radeon.so of 2027"))
    after = report(new, taken=2.0)
    found = change((report(old, taken=1.0),), after, new, new.tests[0])
    assert found is not None
    assert found.driver


@pytest.mark.parametrize(
    "other",
    [
        report(variant("", outcome(BenchTest(generated=128, depth=4096), 40.0)), taken=1.0),
        report(variant("", outcome(TG, 40.0), options=LoadOptions(n_ubatch=64)), taken=1.0),
        report(variant("", outcome(TG, 40.0), flash_attention=False), taken=1.0),
        report(variant("", outcome(TG, 40.0), place=None), taken=1.0),
        report(variant("", outcome(TG, 40.0)), taken=9.0),
    ],
    ids=["other test", "other option", "other kernels", "unknown place", "later"],
)
def test_other_setups_are_not_compared(other: Report) -> None:
    after = report(variant("", outcome(TG, 44.0)), taken=2.0)
    assert change((other,), after, after.variants[0], after.variants[0].tests[0]) is None


def test_how_the_device_was_named_makes_no_difference() -> None:
    before = report(
        variant("Vulkan", outcome(TG, 40.0), options=LoadOptions(device="0000:03:00.0", n_ctx=16896)), taken=1
    )
    after = report(variant("", outcome(TG, 40.0), options=LoadOptions(n_ctx=640)), taken=2.0)
    assert change((before,), after, after.variants[0], after.variants[0].tests[0]) is not None


def test_the_document_of_nothing_has_all_keys() -> None:
    assert set(document(report())) >= {
        "runs",
        "prefill_tps",
        "decode_tps",
        "device",
        "backend",
        "build",
        "roofline_tps",
    }


def test_texts_name_all_there_is_to_know() -> None:
    ceiling = Roofline(n_bytes=3_500_000_000, tps=274.0, bandwidth=960e9, source="the vendor's figure")
    fast = variant("Vulkan", outcome(TG, 180.0, 182.0, power=300.0, roofline=ceiling))
    made = report(
        fast,
        variant("ROCm", outcome(TG, 160.0, 161.0)),
        variant("CPU", error="It crashed."),
        left_out=(LeftOut(BenchTest(generated=128, depth=16384), "No room."),),
        finished=False,
    )
    for text in (table(made, ()), markdown(made)):
        for piece in ("181.0", "180.0", "66%", "300.0", "0.60", "It crashed.", "No room.", "tg128 @ d16384"):
            assert piece in text, piece
        assert verdict_sentence(made) in text
    assert "Vulkan is the fastest" in verdict_sentence(made)
    assert "stopped before its end" in markdown(made)


def test_published_figures_have_sources_and_fit_cards() -> None:
    figures = read_published()
    assert len(figures) > 20
    assert all(figure.source and (figure.prefill or figure.decode) for figure in figures)
    own = beside(figures, ["AMD Radeon RX 7900 XTX (RADV NAVI31)"], ["ROCm"])
    assert {figure.card for figure in own} == {"RX 7900 XTX"}
    assert own[0].backend == "ROCm"
    assert {figure.card for figure in beside(figures, ["AMD Radeon RX 7900 XT"], [])} == {"RX 7900 XT"}
    assert {figure.card for figure in beside(figures, ["AMD Custom GPU 0405"], [])} == {"Steam Deck"}
    assert len(beside(figures, ["AMD EPYC"], ["CPU"])) == 3
    assert "MLC post" in published_lines(own)
    assert published_lines(()) == ""


def test_without_the_asset_there_are_none(tmp_path: Path) -> None:
    assert read_published(tmp_path / "none.json") == ()
    (tmp_path / "bad.json").write_text("{")
    assert read_published(tmp_path / "bad.json") == ()
