"""What the header says about devices and models."""

from __future__ import annotations

import msgspec
import pytest

from engine.protocol.frames import Hello
from engine.protocol.types import BackendInfo, DeviceKind
from tests.ui.shell.standins import HELLO, HELLO_CPU, PROCESSOR, RADEON, model_info
from ui.chat import words
from ui.chat.device_label import device_view

DOCTOR = "To see what is missing, run this in a terminal: vramble doctor"
ONLY_SOFTWARE = "Runs on the CPU: the only graphics driver found is a software one (llvmpipe)."


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("AMD Radeon RX 7900 XTX (RADV NAVI31)", "RX 7900 XTX"),
        ("AMD Radeon RX 6800 (RADV NAVI21)", "RX 6800"),
        ("AMD Radeon Graphics (RADV PHOENIX)", "Radeon Graphics"),
        ("AMD Custom GPU 0405 (RADV VANGOGH)", "Custom GPU 0405"),
        ("AMD Radeon PRO W7900", "PRO W7900"),
        ("Radeon 780M", "780M"),
        ("Intel(R) Arc(TM) A770 Graphics (DG2)", "Arc A770 Graphics"),
        ("llvmpipe (LLVM 15.0.6, 256 bits)", "llvmpipe"),
        ("(odd)", "(odd)"),
    ],
)
def test_cards_are_called_as_people_call_them(name: str, short: str) -> None:
    assert words.short_device(name) == short


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0"), (9999, "9999"), (16384, "16k"), (12700, "12.4k"), (131072, "128k")]
)
def test_tokens(count: int, text: str) -> None:
    assert words.tokens_text(count) == text


def test_nothing_is_claimed_before_the_worker_spoke() -> None:
    view = device_view(None, None, None)
    assert (view.text, view.warn, view.reason) == ("", False, "")


def test_the_card_that_would_be_used_is_named() -> None:
    view = device_view(HELLO, None, 12.0)
    assert view.text == "RX 7900 XTX · Vulkan"
    assert not view.warn


def test_a_loaded_model_tells_its_own_device_and_speed() -> None:
    view = device_view(HELLO, model_info(), 41.23)
    assert view.text == "RX 7900 XTX · Vulkan · 41.2 tok/s"


def test_the_processor_is_a_warning_with_a_reason() -> None:
    view = device_view(HELLO_CPU, None, None)
    assert (view.text, view.warn) == ("CPU", True)
    assert "Runs on the CPU: the Vulkan backend could not be loaded (libvulkan.so.1 is not installed)." in view.reason
    reason = "Runs on the CPU: the model was loaded with 0 GPU layers."
    view = device_view(HELLO, model_info(device=PROCESSOR, device_reason=reason), None)
    assert (view.text, view.warn, view.reason) == ("CPU", True, reason)


def test_software_rendering_is_a_warning_too() -> None:
    software = msgspec.structs.replace(RADEON, kind=DeviceKind.SOFTWARE, name="llvmpipe (LLVM 15)")
    view = device_view(HELLO, model_info(device=software), None)
    assert view.text == "llvmpipe · Vulkan"
    assert view.warn


def test_without_any_reason_there_is_still_a_sentence() -> None:
    reason = words.cpu_reason(Hello(protocol=1, pid=1, engine="", devices=(PROCESSOR,)))
    assert reason.splitlines() == ["Runs on the CPU: Vulkan is not part of this installation.", DOCTOR]


@pytest.mark.parametrize(
    ("cards", "cause"),
    [(0, f"{ONLY_SOFTWARE} No AMD graphics card was found."), (1, ONLY_SOFTWARE), (None, ONLY_SOFTWARE)],
)
def test_a_software_driver_alone_is_one_clear_sentence(cards: int | None, cause: str) -> None:
    """The same before and after a load."""
    software = msgspec.structs.replace(
        RADEON, kind=DeviceKind.SOFTWARE, name="llvmpipe (LLVM 15.0.6, 256 bits)", usable=False, reason="It is slow."
    )
    vulkan = BackendInfo(name="Vulkan", path="", loaded=True)
    hello = Hello(protocol=1, pid=1, engine="", backends=(vulkan,), devices=(PROCESSOR, software), amd_cards=cards)
    assert words.cpu_reason(hello).splitlines() == [cause, DOCTOR]
    loaded = model_info(device=PROCESSOR, device_reason=ONLY_SOFTWARE)
    assert device_view(hello, loaded, None).reason == device_view(hello, None, None).reason == words.cpu_reason(hello)


def test_an_unusable_card_gives_its_reason_once() -> None:
    card = msgspec.structs.replace(RADEON, usable=False, reason="The driver is too old")
    hello = Hello(protocol=1, pid=1, engine="", devices=(card, card, PROCESSOR))
    assert words.cpu_reason(hello).splitlines() == ["The driver is too old.", DOCTOR]
    assert words.chosen_device(hello) == PROCESSOR


def test_before_a_load_the_device_is_the_one_that_the_engine_would_take() -> None:
    """As `engine.backends.choice`: never a software driver, of two cards the one with more free memory."""
    software = msgspec.structs.replace(RADEON, kind=DeviceKind.SOFTWARE, name="llvmpipe")
    assert words.chosen_device(Hello(protocol=1, pid=1, engine="", devices=(software, PROCESSOR))) == PROCESSOR
    small = msgspec.structs.replace(RADEON, id="Vulkan1", name="Small", memory_free=1, memory_total=2)
    assert words.chosen_device(Hello(protocol=1, pid=1, engine="", devices=(small, RADEON, PROCESSOR))) == RADEON


def test_layers_on_the_processor_are_told() -> None:
    assert words.layers_text(model_info(gpu_layers=20)) == "20 of 36 layers on the GPU"
    assert words.layers_text(model_info()) == ""
    assert words.layers_text(model_info(device=PROCESSOR)) == ""
    assert "20 of 36" in "\n".join(device_view(HELLO, model_info(gpu_layers=20), None).details)


@pytest.mark.parametrize(
    ("text", "shown"), [("plain", "plain"), ("\u202eabc", "\u2068\u202eabc\u2069"), ("שלום", "\u2068שלום\u2069")]
)
def test_titles_cannot_turn_their_neighbours_around(text: str, shown: str) -> None:
    assert words.isolated(text) == shown
