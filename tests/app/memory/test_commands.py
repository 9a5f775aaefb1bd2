from __future__ import annotations

import argparse
import io
from pathlib import Path

import msgspec
import pytest

from app.memory import commands
from tests.fakes.sysroot import build_sysroot, machines


class Terminal:
    """Runs the command on a recorded machine."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.monkeypatch = folder, monkeypatch
        self.pauses: list[float] = []
        self.code: int | None = None

    def run(self, machine: str, *arguments: str, rounds: int = 1) -> str:
        """What it printed; ``rounds`` pauses before Ctrl+C."""
        root = self.folder / machine
        if not root.exists():
            build_sysroot(machine, root)
        self.monkeypatch.setenv("VRAMBLE_SYSROOT", str(root))
        parser = argparse.ArgumentParser()
        commands.add_parser(parser.add_subparsers())
        parsed = parser.parse_args(["memory", *arguments])
        assert parsed.func is commands.run

        def pause(seconds: float) -> None:
            self.pauses.append(seconds)
            if len(self.pauses) >= rounds:
                raise KeyboardInterrupt

        out = io.StringIO()
        self.code = commands.run(parsed, out, pause)
        return out.getvalue()


@pytest.fixture
def terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Terminal:
    return Terminal(tmp_path, monkeypatch)


def test_the_table_of_a_desktop(terminal: Terminal) -> None:
    lines = terminal.run("rx7900xtx").splitlines()
    assert terminal.code == 0
    assert lines[0] == "AMD Radeon RX 7900 XTX  (0000:03:00.0, gfx1100, 96 CUs, 960 GB/s)"
    assert lines[1:9] == [
        "  VRAM      9.6 of  24.0 GiB",
        "  GTT       0.4 of  15.6 GiB",
        "  room     13.4 GiB",
        "  busy       96 %, memory 41 %",
        "  clock    2219 MHz, memory 1249 MHz",
        "  power     211 W of 290 W",
        "  edge       63 °C, junction 81 °C, memory 78 °C",
        "  fan       980 rpm",
    ]
    assert lines[lines.index("System memory") :][:5] == [
        "System memory",
        "  RAM      11.2 of  31.2 GiB",
        "  program      processes      RAM  GiB",
        "  firefox              3      2.1",
        "  code                 1      0.7",
    ]


def test_a_sleeping_card_and_an_apu_are_called_so(terminal: Terminal) -> None:
    text = terminal.run("laptop_sleeping_dgpu")
    assert "AMD Radeon RX 7600S  (0000:03:00.0, gfx1102, 32 CUs, asleep)" in text
    assert "AMD Radeon 780M Graphics  (0000:64:00.0, gfx1103, 12 CUs, 102 GB/s, shares the RAM)" in text
    sleeping = text.split("\n\n")[0]
    assert "busy" not in sleeping
    assert "power" not in sleeping


def test_without_a_card_there_is_no_0(terminal: Terminal) -> None:
    text = terminal.run("no_gpu")
    assert text.splitlines()[0] == "no GPU memory data"
    assert " 0.0" not in text


def test_a_card_without_memory_data_says_so(terminal: Terminal) -> None:
    terminal.run("rx7900xtx")
    for path in (terminal.folder / "rx7900xtx/sys/class/drm/card1/device").glob("mem_info_*"):
        path.unlink()
    text = terminal.run("rx7900xtx")
    assert "  no GPU memory data\n" in text
    assert not [line for line in text.splitlines() if line.startswith(("  VRAM", "  GTT", "  room"))]


def test_one_unknown_figure_is_a_word(terminal: Terminal) -> None:
    terminal.run("rx7900xtx")
    (terminal.folder / "rx7900xtx/sys/class/drm/card1/device/mem_info_vram_used").unlink()
    text = terminal.run("rx7900xtx")
    assert "  VRAM  unknown of  24.0 GiB\n" in text
    assert "  room  unknown GiB\n" not in text
    assert "  room  unknown\n" in text


@pytest.mark.parametrize("machine", machines())
def test_json_is_one_document(terminal: Terminal, machine: str) -> None:
    document = msgspec.json.decode(terminal.run(machine, "--json"))
    assert set(document) >= {"gpus", "ram"}


def test_watch_prints_again_until_ctrl_c(terminal: Terminal) -> None:
    text = terminal.run("no_gpu", "--watch", rounds=3)
    assert terminal.code == 0
    assert terminal.pauses == [1.0, 1.0, 1.0]
    assert text.count("no GPU memory data") == 3


def test_watched_json_is_one_object_a_line(terminal: Terminal) -> None:
    lines = terminal.run("steam_deck", "--watch", "--json", rounds=2).splitlines()
    assert [msgspec.json.decode(line)["gpus"][0]["pci"] for line in lines] == ["0000:04:00.0"] * 2


def test_many_processes_are_summed_up(terminal: Terminal) -> None:
    root = build_sysroot("rx7900xtx", terminal.folder / "rx7900xtx")
    for pid in range(5000, 5020):
        folder = root / f"proc/{pid}"
        (folder / "fd").mkdir(parents=True)
        (folder / "fdinfo").mkdir()
        (folder / "comm").write_text("app\n")
        (folder / "fd/3").symlink_to("/dev/dri/renderD128")
        rows = f"drm-pdev:\t0000:03:00.0\ndrm-client-id:\t{pid}\ndrm-memory-vram:\t1024 KiB\n"
        (folder / "fdinfo/3").write_text(rows)
    assert "  and 15 more\n" in terminal.run("rx7900xtx")


def test_a_deck_tells_of_zram_waiting_and_the_battery(terminal: Terminal) -> None:
    lines = terminal.run("cards/steam_deck_oled").splitlines()
    assert "  power      14 W of 15 W" in lines
    assert lines[lines.index("System memory") :] == [
        "System memory",
        "  RAM      13.1 of  14.5 GiB",
        "  swap      2.7 of   8.2 GiB",
        "  zram      2.7 in   0.8 GiB of RAM",
        "  wait     14.5 % of ten seconds in which programs waited for memory",
        "Battery",
        "  charge    41 % discharging, 17.8 W",
    ]


def test_what_was_pushed_out_and_what_the_processor_does_not_see(terminal: Terminal) -> None:
    assert "  process                     VRAM      GTT  evicted  GiB\n" in terminal.run("cards/rx9070xt")
    assert "      4242  python3            4.5      4.5      4.2\n" in terminal.run("cards/rx9070xt")
    assert "  VRAM      0.5 of   4.0 GiB, 0.2 GiB visible to the processor\n" in terminal.run("cards/rx580")


def test_json_has_the_new_figures_beside_the_promised_ones(terminal: Terminal) -> None:
    document = msgspec.json.decode(terminal.run("cards/rx9070xt", "--json"))
    (gpu,) = document["gpus"]
    assert (gpu["power_w"], gpu["temperature_c"], gpu["busy_percent"]) == (298.0, 62.0, 97)
    assert (gpu["junction_c"], gpu["memory_c"], gpu["power_cap_w"], gpu["fan_rpm"]) == (85.0, 88.0, 304.0, 896)
    assert (gpu["core_mhz"], gpu["memory_mhz"], gpu["memory_busy_percent"], gpu["compute_units"]) == (
        2167,
        1258,
        61,
        64,
    )
    assert gpu["visible_vram"] == {"total": 17095983104, "used": 16911433728}
    assert gpu["processes"][1]["evicted"] == 4456448 * 1024
    deck = msgspec.json.decode(terminal.run("cards/steam_deck_oled", "--json"))
    assert deck["ram"]["stall"] == {"some": 14.52, "full": 6.11}
    assert deck["ram"]["zram"] == {"stored": 2908749824, "taken": 812646400}
    assert deck["battery"]["percent"] == 41
    assert deck["sandboxed"] is False
    desktop = msgspec.json.decode(terminal.run("rx7900xtx", "--json"))
    assert desktop["programs"][0] == {"name": "firefox", "ram": 557056 * 4096, "processes": 3, "ours": False}
