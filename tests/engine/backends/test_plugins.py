"""Which plugin files are loaded, and what is said about those that are not. The files are real, ggml is played."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from engine.backends.build_record import BuildRecord
from engine.backends.plugins import names_off
from tests.engine.backends.played import FakeGgml, Machine


def names(files: Sequence[Path]) -> list[str]:
    return [file.name for file in files]


def test_the_cpu_comes_last_and_base_libraries_are_no_plugins(machine: Machine) -> None:
    machine.put(machine.own, "base", "cpu", "vulkan", "rpc", "new")
    (machine.own / "libllama.so").write_text("x")
    (machine.own / "libggml.so").write_text("x")
    ggml = FakeGgml()
    infos = machine.load(ggml)
    assert names(ggml.loaded) == ["libggml-rpc.so", "libggml-vulkan.so", "libggml-new.so", "libggml-cpu.so"]
    assert [(info.name, info.loaded, info.error) for info in infos] == [
        ("RPC", True, None),
        ("Vulkan", True, None),
        ("new", True, None),
        ("CPU", True, None),
    ]


def test_the_users_plugin_stands_before_the_engines_own(machine: Machine) -> None:
    machine.put(machine.own, "vulkan", "cpu")
    machine.put(machine.users, "vulkan", "hip")
    ggml = FakeGgml()
    infos = machine.load(ggml)
    vulkan = machine.users / "libggml-vulkan.so"
    assert ggml.loaded == [machine.users / "libggml-hip.so", vulkan, machine.own / "libggml-cpu.so"]
    assert [info.path for info in infos if info.name == "Vulkan"] == [str(vulkan)]


def test_a_broken_one_of_the_user_does_not_take_the_engines_own_away(machine: Machine) -> None:
    machine.put(machine.own, "vulkan", "cpu")
    (machine.users / "libggml-vulkan.so").write_bytes(b"<html>not found</html>")
    ggml = FakeGgml()
    (info,) = [info for info in machine.load(ggml) if info.name == "Vulkan"]
    assert (info.loaded, Path(info.path).parent) == (True, machine.own)
    assert info.error == f"{machine.users / 'libggml-vulkan.so'} is not used: It is no shared library."
    assert ggml.loaded == [machine.own / "libggml-vulkan.so", machine.own / "libggml-cpu.so"]


def test_both_refused_give_both_reasons_in_one_record(machine: Machine) -> None:
    for folder in (machine.own, machine.users):
        machine.put(folder, "vulkan")
    (machine.users / "libggml-vulkan.so").write_bytes(b"")
    (machine.own / "libggml-vulkan.so").write_bytes(b"no library at all, and longer than a header of one must be" * 2)
    (info,) = [info for info in machine.load(FakeGgml()) if info.name == "Vulkan"]
    assert (info.loaded, info.path) == (False, str(machine.own / "libggml-vulkan.so"))
    assert info.error == (
        f"It is no shared library. {machine.users / 'libggml-vulkan.so'} is not used: The file is empty."
    )


def test_a_library_that_is_no_plugin(machine: Machine) -> None:
    machine.toys.put(machine.users / "libggml-foo.so", "NO_ENTRY")
    ggml = FakeGgml()
    found = machine.load(ggml)[-1]
    assert (found.name, found.loaded, ggml.loaded) == ("foo", False, [])
    assert found.error == "It is no plugin of ggml: it has no ggml_backend_init."


def test_a_plugin_of_another_build_is_not_tried(machine: Machine) -> None:
    plugin = machine.toys.put(machine.users / "libggml-hip.so")
    record = {"llama_cpp_python": "0.3.35", "bytes": plugin.stat().st_size, "rocm": "6.4.1"}
    (machine.users / "libggml-hip.json").write_text(json.dumps(record))
    ggml = FakeGgml()
    found = next(info for info in machine.load(ggml, engine="0.3.36") if info.name == "ROCm")
    assert found.error == (
        "It was built for another llama.cpp (llama-cpp-python 0.3.35); this engine has 0.3.36. "
        "Build it again: packaging/build-backend hip"
    )
    assert ggml.loaded == []
    assert next(i for i in machine.load(ggml, engine="0.3.35") if i.name == "ROCm").loaded


@pytest.mark.parametrize("content", ["{", "[]", json.dumps({"llama_cpp_python": "0.3.35", "bytes": 7})])
def test_a_record_that_does_not_belong_to_the_file_counts_for_nothing(machine: Machine, content: str) -> None:
    machine.put(machine.users, "hip")
    (machine.users / "libggml-hip.json").write_text(content)
    assert next(info for info in machine.load(FakeGgml(), engine="0.3.36") if info.name == "ROCm").loaded


@pytest.mark.parametrize("off", ["Vulkan", " vulkan ,ROCm", "VULKAN,,"])
def test_what_is_switched_off_is_not_even_opened(machine: Machine, off: str) -> None:
    machine.put(machine.own, "vulkan", "cpu")
    machine.put(machine.users, "vulkan")
    ggml = FakeGgml()
    infos = machine.load(ggml, off=names_off(off))
    assert names(ggml.loaded) == ["libggml-cpu.so"]
    assert {info.error for info in infos if info.name == "Vulkan"} == {"It is switched off in the settings."}


def test_a_backend_of_an_unknown_kind_is_switched_off_by_the_name_that_it_gives_itself(machine: Machine) -> None:
    machine.put(machine.users, "vk9")
    ggml = FakeGgml(called={"libggml-vk9.so": "Fancy"})
    found = machine.load(ggml, off=names_off("fancy"))[-1]
    assert (found.loaded, found.error) == (False, "It is switched off in the settings.")
    assert len(ggml.unloaded) == 1


def test_the_cpu_cannot_be_switched_off(machine: Machine) -> None:
    machine.put(machine.own, "cpu")
    assert machine.load(FakeGgml(), off=names_off("CPU"))[-1].loaded


def test_a_second_copy_of_a_backend_under_another_name_is_taken_out_again(machine: Machine) -> None:
    machine.put(machine.users, "vulkan", "zz")
    ggml = FakeGgml(called={"libggml-zz.so": "Vulkan"})
    infos = machine.load(ggml)
    second = infos[-1]
    assert (second.name, second.loaded) == ("zz", False)
    assert second.error == f"Vulkan is loaded already, from {machine.users / 'libggml-vulkan.so'}."
    assert [registered.name for registered in ggml.unloaded] == ["Vulkan"]
    assert infos[0].loaded


def test_a_link_to_the_engines_own_is_that_plugin_once(machine: Machine) -> None:
    machine.put(machine.own, "vulkan")
    for name in ("libggml-vulkan.so", "libggml-also.so"):
        (machine.users / name).symlink_to(machine.own / "libggml-vulkan.so")
    ggml = FakeGgml()
    infos = machine.load(ggml)
    assert names(ggml.loaded) == ["libggml-vulkan.so"]
    assert [info.name for info in infos] == ["Vulkan"]


def test_vulkan_that_was_not_built_says_why(machine: Machine) -> None:
    machine.put(machine.own, "cpu")
    infos = machine.load(FakeGgml(), build=BuildRecord(vulkan=False, vulkan_reason="glslc is too old"))
    assert [(info.name, info.error) for info in infos] == [
        ("Vulkan", "Vulkan was not built: glslc is too old"),
        ("CPU", None),
    ]


def test_the_variant_that_suits_the_processor_best(machine: Machine) -> None:
    for name, value in (("old", 1), ("best", 7), ("never", 0), ("good", 5)):
        machine.toys.put(machine.own / f"libggml-cpu-{name}.so", f"SCORE={value}")
    shutil.copy(machine.own / "libggml-cpu-best.so", machine.own / "libggml-cpu-cut.so")
    os.truncate(machine.own / "libggml-cpu-cut.so", 5000)
    ggml = FakeGgml()
    machine.load(ggml)
    assert names(ggml.loaded) == ["libggml-cpu-best.so"]


def test_the_next_variant_when_the_best_is_refused(machine: Machine) -> None:
    for name, value in (("old", 1), ("best", 7)):
        machine.toys.put(machine.own / f"libggml-cpu-{name}.so", f"SCORE={value}")
    ggml = FakeGgml(refuse=("libggml-cpu-best.so",))
    infos = machine.load(ggml)
    assert names(ggml.loaded) == ["libggml-cpu-best.so", "libggml-cpu-old.so"]
    assert [(info.name, info.loaded) for info in infos if info.name == "CPU"] == [("CPU", True)]


def test_variants_that_cannot_run_here(machine: Machine) -> None:
    for name in ("haswell", "zen4"):
        machine.toys.put(machine.own / f"libggml-cpu-{name}.so", "SCORE=0")
    ggml = FakeGgml(refuse=("libggml-cpu-haswell.so", "libggml-cpu-zen4.so"))
    found = [info for info in machine.load(ggml) if info.name == "CPU"]
    assert [(info.loaded, info.error) for info in found] == [
        (False, "This processor lacks the instructions that it needs.")
    ]


def test_two_files_of_one_kind_without_a_score_are_tried_by_name(machine: Machine) -> None:
    machine.put(machine.users, "hip", "hip-rocm7")
    ggml = FakeGgml(refuse=("libggml-hip-rocm7.so",))
    found = [info for info in machine.load(ggml) if info.name == "ROCm"]
    assert [info.path for info in found] == [str(machine.users / "libggml-hip.so")]


def test_loaded_without_a_device_says_why(machine: Machine) -> None:
    machine.put(machine.users, "hip", "rpc")
    said = {"ROCm": "No device: /dev/kfd is not there."}
    infos = machine.load(FakeGgml(devices=0), why_none=said.get)
    assert [(i.name, i.loaded, i.error) for i in infos if i.name != "Vulkan"] == [
        ("ROCm", True, "No device: /dev/kfd is not there."),
        ("RPC", True, None),
    ]


def test_a_folder_that_is_not_there_or_is_a_file(machine: Machine) -> None:
    machine.put(machine.own, "cpu")
    machine.users.rmdir()
    assert [info.name for info in machine.load(FakeGgml())] == ["Vulkan", "CPU"]
    machine.users.write_text("a file")
    assert [info.name for info in machine.load(FakeGgml())] == ["Vulkan", "CPU"]


def test_a_name_of_any_bytes_can_be_sent(machine: Machine) -> None:
    name = os.fsdecode(b"libggml-\xff\xfe.so")
    machine.toys.put(machine.users / name)
    for refuse in ((), (name,)):
        infos = machine.load(FakeGgml(refuse=refuse, called={name: "Odd"}))
        assert msgspec.json.encode(infos)
        assert infos[-1].loaded is not bool(refuse)


def test_a_plugin_linked_to_another_base(machine: Machine) -> None:
    for name in ("libggml-base.so.0", "libggml-base.so"):
        machine.toys.put(machine.users / "libggml-hip.so", links=name)
        ggml = FakeGgml()
        found = next(info for info in machine.load(ggml, base="libggml-base.so.0") if info.name == "ROCm")
        assert found.loaded is (name == "libggml-base.so.0")
        assert bool(ggml.loaded) is found.loaded
    assert found.error == (
        "It was built for another llama.cpp: it needs libggml-base.so, this engine has libggml-base.so.0."
    )
