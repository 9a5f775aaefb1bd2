"""How long one move of a slider in the load dialog takes, until memory and speed are painted anew.

Each move of context, layers, experts and KV type is timed in the real dialog over sparse files of real shapes: the
forecast, the bars, the sentence and the button. Use, in the checkout:

    QT_QPA_PLATFORM=offscreen .venv/bin/python -m tests.bench.fit_slider [--moves 60]
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from PySide6.QtWidgets import QApplication, QWidget

from app.jobs import SerialRunner
from app.load.service import LoadService
from app.notices import Notices
from app.settings.store import SettingsStore
from engine.memory.fit import fit_devices
from engine.protocol.types import KvType
from tests.app.chat.cranked import Cranked
from tests.fakes import sparse_gguf as sparse
from tests.fakes.sparse_gguf import Sizes
from tests.ui.shell.standins import HELLO
from ui.load.dialog import LoadDialog
from ui.theme import Theme, ThemeMode

AIM_MS = 50.0
SHAPES = {
    "8B": sparse.llama(Sizes(32, 4096, 32, 8, 128, 14336, 128256), "Q4_K"),
    "70B": sparse.llama(Sizes(80, 8192, 64, 8, 128, 28672, 128256), "Q4_K"),
    "30B-A3B": sparse.moe(Sizes(48, 2048, 32, 4, 128, 768, 151936), "Q4_K", experts=128, used=8),
}
KINDS = (KvType.F16, KvType.Q8_0, KvType.Q4_0)


def moves(dialog: LoadDialog, number: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """What a user does, as often as ``number`` for each control."""
    draft = dialog._draft
    rows = {"context": "n_ctxSlider", "layers": "n_gpu_layersSlider", "experts": "n_cpu_moeSlider"}
    for name, slider_name in rows.items():
        slider = dialog.findChild(QWidget, slider_name)
        assert slider is not None
        for step in range(number):
            place = slider.minimum() + step * 7919 % (slider.maximum() - slider.minimum() + 1)  # type: ignore[attr-defined]
            yield name, lambda slider=slider, place=place: slider.setValue(place)  # type: ignore[misc]
    for step in range(number):
        kind = KINDS[step % len(KINDS)]
        yield "KV type", lambda kind=kind: draft.change(kv_type_k=kind, kv_type_v=kind)  # type: ignore[misc]


def measure(number: int, folder: Path) -> dict[tuple[str, str], list[float]]:
    """Milliseconds by model and control."""
    app = QApplication.instance() or QApplication([])
    assert isinstance(app, QApplication)
    theme = Theme(ThemeMode.LIGHT)
    theme.apply(app)
    found: dict[tuple[str, str], list[float]] = {}
    for model, shape in SHAPES.items():
        path = shape.write(folder / f"{model}.gguf")
        headers = Cranked()
        store = SettingsStore(folder / "settings.json", SerialRunner(Cranked()), Notices())
        service = LoadService(store, headers, lambda: HELLO.devices, lambda: fit_devices(HELLO.devices), lambda: ())
        dialog = LoadDialog(service.draft(path), theme)
        headers.drain()
        dialog.show()
        app.processEvents()
        for name, move in moves(dialog, number):
            begin = time.perf_counter()
            move()
            app.processEvents()
            found.setdefault((model, name), []).append((time.perf_counter() - begin) * 1000)
        dialog.close()
    return found


def main() -> int:
    """Print a table; 1 when the slowest moves take longer than the aim."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--moves", type=int, default=60)
    with tempfile.TemporaryDirectory() as folder:
        found = measure(parser.parse_args().moves, Path(folder))
    print(f"{'model':10}{'control':10}{'median':>9}{'p95':>9}{'max':>9}  ms")
    for (model, name), times in found.items():
        print(f"{model:10}{name:10}{statistics.median(times):9.1f}{p95(times):9.1f}{max(times):9.1f}")
    everything = [value for times in found.values() for value in times]
    print(f"{'all':20}{statistics.median(everything):9.1f}{p95(everything):9.1f}{max(everything):9.1f}")
    return 0 if p95(everything) <= AIM_MS else 1


def p95(times: list[float]) -> float:
    """The value that 95 of 100 do not exceed."""
    return sorted(times)[int(len(times) * 0.95)]


if __name__ == "__main__":
    raise SystemExit(main())
