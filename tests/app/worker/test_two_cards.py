"""Two cards that the engine numbers in either order, and one that is taken out: the stored address decides."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from app.notices import Severity
from app.worker.teller import DEVICE_NOTICE
from engine.loading.fallback import fallback
from engine.protocol.frames import Loaded
from engine.protocol.types import DeviceInfo, DeviceKind, LoadOptions, ModelInfo
from tests.app.worker.conftest import Bench
from tests.fakes.fake_worker import CPU, GIB, GPU

BIG, SMALL = "0000:03:00.0", "0000:0b:00.0"


def cards(*addresses: str) -> list[dict[str, Any]]:
    """Vulkan0, Vulkan1, ... at these addresses, and the CPU; as the fake worker's script takes them."""
    memory = {BIG: 24 * GIB, SMALL: 8 * GIB}
    found = [
        msgspec.structs.replace(
            GPU, id=f"Vulkan{n}", name=f"Radeon at {pci}", pci=pci, memory_total=memory[pci], memory_free=memory[pci]
        )
        for n, pci in enumerate(addresses)
    ]
    return [msgspec.to_builtins(device) for device in [*found, CPU]]


def load(bench: Bench, **options: Any) -> ModelInfo:
    answer = bench.load(options=LoadOptions(**options))
    bench.until_ended(answer)
    assert isinstance(answer.end, Loaded), answer.end
    return answer.end.model


ORDERS = [(BIG, SMALL), (SMALL, BIG)]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("wanted", [BIG, SMALL])
def test_an_address_means_the_same_card_in_both_orders(make_bench: Any, order: tuple[str, ...], wanted: str) -> None:
    bench = make_bench(devices=cards(*order))
    model = load(bench, device=wanted)
    assert model.device.pci == wanted
    assert model.device.id == f"Vulkan{order.index(wanted)}"
    assert bench.notices == []


@pytest.mark.parametrize("order", ORDERS)
def test_by_itself_the_card_with_more_room_in_both_orders(make_bench: Any, order: tuple[str, ...]) -> None:
    assert load(make_bench(devices=cards(*order))).device.pci == BIG


@pytest.mark.parametrize("order", ORDERS)
def test_several_cards_in_the_order_that_was_asked_for(make_bench: Any, order: tuple[str, ...]) -> None:
    model = load(make_bench(devices=cards(*order)), devices=(SMALL, BIG), shares=(1.0, 3.0))
    assert [device.pci for device in model.devices] == [SMALL, BIG]


def test_the_numbers_change_between_two_starts(make_bench: Any) -> None:
    """A crash, a driver update: the engine comes back and counts the other way round."""
    runs = [{"devices": cards(*order), "generate": {"signal": "SIGKILL"}} for order in ORDERS]
    runs[1].pop("generate")
    bench = make_bench(runs=runs)
    assert load(bench, device=SMALL).device.id == "Vulkan1"
    bench.until_ended(bench.ask())
    again = bench.ask()
    bench.until_ended(again)
    assert again.failure == ""
    assert (bench.service.model.device.id, bench.service.model.device.pci) == ("Vulkan0", SMALL)


def test_a_card_that_was_taken_out_falls_back_with_a_notice_until_it_is_back(make_bench: Any) -> None:
    bench = make_bench(runs=[{"devices": cards(BIG)}, {"devices": cards(SMALL, BIG)}])
    assert load(bench, device=SMALL).device.pci == BIG
    (notice,) = bench.notices
    assert (notice.key, notice.severity) == (DEVICE_NOTICE, Severity.WARN)
    assert notice.text == f"The device {SMALL} was not found; Radeon at {BIG} is used instead."
    bench.service.stop()
    bench.until(lambda: bench.service.pid is None)
    assert load(bench, device=SMALL).device.pci == SMALL
    assert bench.withdrawn[-1] == DEVICE_NOTICE
    assert len(bench.notices) == 1


def test_with_no_card_left_it_is_the_processor_with_a_notice(make_bench: Any) -> None:
    bench = make_bench(devices=cards())
    assert load(bench, device=BIG).device.kind is DeviceKind.CPU
    assert f"The device {BIG} was not found" in bench.notices[-1].text


def test_one_of_two_is_gone(make_bench: Any) -> None:
    bench = make_bench(devices=cards(BIG))
    model = load(bench, devices=(SMALL, BIG), shares=(1.0, 1.0))
    assert [device.pci for device in model.devices] == [BIG]
    assert f"The device {SMALL} was not found" in bench.notices[-1].text


def info(device: DeviceInfo, *warnings: str) -> ModelInfo:
    return ModelInfo(
        path="/m.gguf",
        name="m",
        architecture="llama",
        quant="Q4_0",
        n_params=1,
        size_bytes=1,
        n_ctx=1,
        n_ctx_train=1,
        n_layers=1,
        gpu_layers=1,
        device=device,
        devices=(device,),
        device_warnings=warnings,
    )


@pytest.mark.parametrize(
    ("options", "device"),
    [
        (LoadOptions(), CPU),
        (LoadOptions(device="cpu"), CPU),
        (LoadOptions(device="Vulkan0"), GPU),
        (LoadOptions(device=GPU.pci), GPU),
        (LoadOptions(device=f"{GPU.pci}/ROCm"), GPU),
    ],
)
def test_no_fallback(options: LoadOptions, device: DeviceInfo) -> None:
    assert fallback(options, info(device, "The model is split by layers.")) == ""


def test_the_cpu_by_safer_settings_is_no_fallback() -> None:
    """The worker was asked for the CPU then and has nothing to say."""
    assert fallback(LoadOptions(device=GPU.pci), info(CPU)) == ""
