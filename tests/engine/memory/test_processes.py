from __future__ import annotations

import shutil
from pathlib import Path

from engine.memory.holders import Family
from engine.memory.processes import CATCH_UP, LISTED_AT_LEAST, YOUNG_LOOKS, ProcessScanner
from engine.memory.tree import Tree, read_file
from tests.fakes.sysroot import Entry, write

PCI = "0000:03:00.0"
MIB = 1 << 20


def add_process(root: Path, pid: int, clients: dict[int, int], name: str = "game", mib: int = 1) -> None:
    """A process whose files (number -> client id) are DRM files, beside two others."""
    write(root, Entry(f"proc/{pid}/comm", name + "\n"))
    write(root, Entry(f"proc/{pid}/fd/0", link="/dev/null"))
    write(root, Entry(f"proc/{pid}/fd/1", link="socket:[12]"))
    for number, client in clients.items():
        write(root, Entry(f"proc/{pid}/fd/{number}", link="/dev/dri/renderD128"))
        rows = f"drm-pdev:\t{PCI}\ndrm-client-id:\t{client}\ndrm-memory-vram:\t{mib * 1024} KiB\n"
        write(root, Entry(f"proc/{pid}/fdinfo/{number}", rows))


def held(scanner: ProcessScanner, worker: int | None = None, whole: bool = False) -> dict[int, int]:
    """Process id to VRAM in MiB."""
    return {
        holder.pid: sum(use.vram or 0 for use in holder.clients) // MIB for holder in scanner.scan(worker, whole=whole)
    }


def test_a_client_behind_several_files_counts_once_and_several_clients_add_up(tmp_path: Path) -> None:
    add_process(tmp_path, 10, {5: 1, 6: 1, 7: 2}, mib=4)
    assert held(ProcessScanner(Tree(tmp_path))) == {10: 8}


def test_a_client_shared_by_two_processes_counts_once(tmp_path: Path) -> None:
    add_process(tmp_path, 10, {5: 1})
    add_process(tmp_path, 20, {5: 1, 6: 2})
    assert held(ProcessScanner(Tree(tmp_path))) == {10: 1, 20: 1}
    assert held(ProcessScanner(Tree(tmp_path)), worker=20) == {20: 2}


def test_equal_client_ids_on_two_cards_are_two_clients(tmp_path: Path) -> None:
    add_process(tmp_path, 10, {5: 1, 6: 2})
    fdinfo = tmp_path / "proc/10/fdinfo/6"
    fdinfo.write_text(fdinfo.read_text().replace("drm-client-id:\t2", "drm-client-id:\t1").replace(PCI, "0000:04:00.0"))
    assert held(ProcessScanner(Tree(tmp_path))) == {10: 2}


def test_many_processes_are_examined_in_turn_new_ones_first_and_quicker_at_the_begin(tmp_path: Path) -> None:
    for pid in range(100, 160):
        add_process(tmp_path, pid, {5: pid})
    scanner = ProcessScanner(Tree(tmp_path), examined_each_time=2)
    counts = [len(held(scanner)) for _ in range(2)]
    assert counts[0] == 2 * CATCH_UP
    assert counts[0] < counts[1] <= 4 * CATCH_UP
    add_process(tmp_path, 999, {5: 1})
    assert 999 in held(scanner)
    for _ in range(12):
        found = held(scanner)
    assert len(found) == 61


def test_after_the_begin_only_a_few_are_examined_in_a_sample(tmp_path: Path) -> None:
    for pid in range(100, 160):
        add_process(tmp_path, pid, {})
    looked: list[str] = []

    class Watched(Tree):
        def listing(self, path: str) -> list[str]:
            looked.append(path)
            return super().listing(path)

    scanner = ProcessScanner(Watched(tmp_path), examined_each_time=2)
    scanner.scan(whole=True)
    looked.clear()
    scanner.scan()
    assert sum(path.endswith("/fd") for path in looked) == 2


def test_the_list_of_processes_is_asked_for_only_when_one_was_started_or_now_and_then(tmp_path: Path) -> None:
    add_process(tmp_path, 10, {5: 1})
    write(tmp_path, Entry("proc/loadavg", "0.20 0.18 0.12 1/80 1000\n"))
    scanner = ProcessScanner(Tree(tmp_path))
    assert held(scanner) == {10: 1}
    add_process(tmp_path, 20, {5: 2})
    assert held(scanner) == {10: 1}, "the kernel says that none was started"
    write(tmp_path, Entry("proc/loadavg", "0.20 0.18 0.12 1/80 1001\n"))
    assert held(scanner) == {10: 1, 20: 1}
    shutil.rmtree(tmp_path / "proc/10")
    assert held(scanner) == {20: 1}
    add_process(tmp_path, 30, {5: 3})
    seen = [30 in held(scanner) for _ in range(LISTED_AT_LEAST + 1)]
    assert seen[-1]


def test_a_process_whose_open_files_are_the_same_is_not_gone_through_again(tmp_path: Path) -> None:
    add_process(tmp_path, 10, {5: 1})
    followed: list[str] = []

    class Watched(Tree):
        def link(self, path: str) -> str | None:
            followed.append(path)
            return super().link(path)

    scanner = ProcessScanner(Watched(tmp_path))
    rounds = []
    for _ in range(5):
        held(scanner)
        rounds.append(len(followed))
        followed.clear()
    assert rounds == [3, 0, 0, 0, 3], "every fourth look is a whole one"
    add_process(tmp_path, 10, {6: 2})
    assert held(scanner) == {10: 2}


def test_a_young_process_is_looked_at_again_soon_because_programs_open_the_card_later(tmp_path: Path) -> None:
    for pid in range(100, 300):
        write(tmp_path, Entry(f"proc/{pid}/comm", "old\n"))
    scanner = ProcessScanner(Tree(tmp_path), examined_each_time=4)
    held(scanner, whole=True)
    for _ in range(YOUNG_LOOKS):
        held(scanner, whole=True)
    write(tmp_path, Entry("proc/999/comm", "game\n"))
    assert held(scanner) == {}
    add_process(tmp_path, 999, {5: 1})
    rounds = 1
    while 999 not in held(scanner):
        rounds += 1
        assert rounds <= 5


def test_the_worker_is_found_again_at_once_when_its_files_changed(tmp_path: Path) -> None:
    for pid in range(100, 130):
        add_process(tmp_path, pid, {5: pid})
    scanner = ProcessScanner(Tree(tmp_path), 1)
    assert held(scanner, worker=101)[101] == 1
    add_process(tmp_path, 101, {5: 500}, mib=7)
    held(scanner, worker=101)
    assert held(scanner, worker=101)[101] == 7
    add_process(tmp_path, 101, {6: 501}, mib=2)
    for _ in range(10):
        found = held(scanner, worker=101)
    assert found[101] == 9


def test_whole_looks_through_all_at_once_and_the_worker_never_waits(tmp_path: Path) -> None:
    for pid in range(100, 130):
        add_process(tmp_path, pid, {5: pid})
    assert len(held(ProcessScanner(Tree(tmp_path), 3), whole=True)) == 30
    scanner = ProcessScanner(Tree(tmp_path), 1)
    assert 101 in held(scanner, worker=101)


def test_a_process_that_ends_is_forgotten(tmp_path: Path) -> None:
    add_process(tmp_path, 10, {5: 1})
    add_process(tmp_path, 20, {5: 2})
    scanner = ProcessScanner(Tree(tmp_path))
    assert held(scanner) == {10: 1, 20: 1}
    shutil.rmtree(tmp_path / "proc/10")
    assert held(scanner) == {20: 1}


def test_a_file_that_is_now_another_client_is_not_counted_for_the_old_one(tmp_path: Path) -> None:
    for pid in range(100, 104):
        add_process(tmp_path, pid, {5: pid})
    scanner = ProcessScanner(Tree(tmp_path), examined_each_time=1)
    held(scanner, whole=True)
    add_process(tmp_path, 100, {5: 77}, mib=9)
    assert held(scanner) == {101: 1, 102: 1, 103: 1}
    for _ in range(4):
        found = held(scanner)
    assert found == {100: 9, 101: 1, 102: 1, 103: 1}


def test_a_process_that_opens_the_card_later_is_found_in_its_turn(tmp_path: Path) -> None:
    write(tmp_path, Entry("proc/10/comm", "late\n"))
    scanner = ProcessScanner(Tree(tmp_path))
    assert held(scanner) == {}
    add_process(tmp_path, 10, {5: 1})
    assert held(scanner) == {10: 1}


def test_names_are_printable(tmp_path: Path) -> None:
    add_process(tmp_path, 10, {5: 1}, name="od\td\x1b[31m\u202e")
    (holder,) = ProcessScanner(Tree(tmp_path)).scan()
    assert holder.name == "od?d?[31m?"


def test_only_drm_files_are_read(tmp_path: Path) -> None:
    for pid in range(100, 110):
        add_process(tmp_path, pid, {5: 1} if pid == 100 else {})
        for number in range(10, 40):
            write(tmp_path, Entry(f"proc/{pid}/fd/{number}", link=f"/home/u/{number}"))
            write(tmp_path, Entry(f"proc/{pid}/fdinfo/{number}", "pos: 0\n"))
    opened = []

    def read(path: str) -> bytes:
        opened.append(path)
        return read_file(path)

    scanner = ProcessScanner(Tree(tmp_path, read))
    scanner.scan(whole=True)
    assert sorted({path.rpartition("/")[2] for path in opened}) == ["5", "comm"]


def test_whose_a_process_is_is_looked_up_once(tmp_path: Path) -> None:
    for pid, above in ((10, 5), (5, 1), (20, 99), (99, 1)):
        write(tmp_path, Entry(f"proc/{pid}/stat", f"{pid} (a) S {above} 1 1\n"))
    opened: list[str] = []

    def read(path: str) -> bytes:
        opened.append(path)
        return read_file(path)

    family = Family(Tree(tmp_path, read), own=99)
    assert family.ours([10, 20], None) == {20}
    count = len(opened)
    assert family.ours([10, 20], None) == {20}
    assert len(opened) == count
    assert family.ours([10, 20], 5) == {10, 20}, "another worker, another answer"
    assert family.ours([10], None) == set()
