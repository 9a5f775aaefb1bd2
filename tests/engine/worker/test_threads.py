"""Physical cores from a recorded topology."""

from __future__ import annotations

from pathlib import Path

from engine.worker.threads import physical_cores


def topology(root: Path, cores: list[tuple[int, int]]) -> Path:
    for cpu, (package, core) in enumerate(cores):
        folder = root / f"cpu{cpu}" / "topology"
        folder.mkdir(parents=True)
        (folder / "physical_package_id").write_text(f"{package}\n")
        (folder / "core_id").write_text(f"{core}\n")
    return root


def test_two_threads_on_a_core_count_once(tmp_path: Path) -> None:
    folder = topology(tmp_path, [(0, 0), (0, 1), (0, 0), (0, 1)])
    assert physical_cores(folder, {0, 1, 2, 3}) == 2


def test_only_allowed_cpus_count(tmp_path: Path) -> None:
    folder = topology(tmp_path, [(0, 0), (0, 1), (1, 0), (1, 1)])
    assert physical_cores(folder, {1, 2}) == 2


def test_without_topology_each_cpu_counts(tmp_path: Path) -> None:
    assert physical_cores(tmp_path, {0, 1, 2}) == 3
    assert physical_cores(tmp_path, set()) == 1
