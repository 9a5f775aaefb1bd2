"""What decides the build, its key, and what happens when Vulkan does not compile."""

import dataclasses
from pathlib import Path

import pytest
from vramble_setup import cmake_build, llama_build
from vramble_setup.cmake_build import pinned, unpack_source
from vramble_setup.commands import CommandError
from vramble_setup.cpu_level import level_from_flags
from vramble_setup.llama_build import Plan, build, facts_of
from vramble_setup.report import SetupError
from vramble_setup.vulkan_tools import NoVulkan, VulkanTools

CHECKOUT = Path(__file__).parents[2]
PLAN = Plan(
    version="0.3.36",
    archive_hash="0" * 64,
    cpu=level_from_flags("x86_64", ["sse4_2", "avx"]),
    vulkan=VulkanTools((("Vulkan_LIBRARY", "/somewhere"),), "headers 309"),
    toolchain={"compiler": "g++ 12"},
)


def test_the_pin_is_read_from_the_requirements():
    version, digest = pinned(CHECKOUT / "requirements" / "llama.txt")
    assert version == "0.3.36"
    assert len(digest) == 64


def test_a_requirements_file_without_the_pin_is_refused(tmp_path):
    file = tmp_path / "llama.txt"
    file.write_text("llama-cpp-python\n")
    with pytest.raises(SetupError):
        pinned(file)


def test_backends_are_plugins_and_nothing_is_guessed_from_the_machine():
    options = PLAN.options()
    assert options["GGML_BACKEND_DL"] == "ON"
    assert options["GGML_NATIVE"] == "OFF"
    assert options["GGML_RPC"] == "ON"
    assert options["GGML_VULKAN"] == "ON"
    assert options["GGML_AVX"] == "ON"
    assert options["GGML_AVX2"] == "OFF"


@pytest.mark.parametrize(
    "change",
    [
        {"version": "0.3.37"},
        {"cpu": level_from_flags("x86_64", ["sse4_2"])},
        {"vulkan": NoVulkan("no")},
        {"vulkan": VulkanTools((), "headers 310")},
        {"toolchain": {"compiler": "g++ 14"}},
    ],
)
def test_whatever_matters_changes_the_key(change):
    assert dataclasses.replace(PLAN, **change).key() != PLAN.key()


def test_where_the_tools_lie_does_not_change_the_key():
    elsewhere = VulkanTools((("Vulkan_LIBRARY", "/elsewhere"),), "headers 309")
    assert dataclasses.replace(PLAN, vulkan=elsewhere).key() == PLAN.key()


def test_the_reason_for_no_vulkan_is_recorded():
    facts = facts_of(dataclasses.replace(PLAN, vulkan=NoVulkan("No glslc.")))
    assert facts["vulkan"] is False
    assert facts["vulkan_reason"] == "No glslc."
    assert facts_of(PLAN)["vulkan_reason"] is None


@pytest.fixture
def entries(monkeypatch, tmp_path):
    """Plans in the order in which they were built. Those in `broken` fail."""
    tried: list[Plan] = []
    broken: list[bool] = []

    def entry(plan, root, fetch):
        tried.append(plan)
        if plan.has_vulkan in broken:
            raise CommandError("Building failed.", "See the log.")
        return tmp_path / plan.key()

    monkeypatch.setattr(llama_build, "_entry", entry)
    return tried, broken


def test_vulkan_that_does_not_compile_gives_a_build_for_the_processor(entries, tmp_path):
    tried, broken = entries
    broken.append(True)
    _, used = build(PLAN, tmp_path, lambda folder: None)
    assert isinstance(used.vulkan, NoVulkan)
    assert "did not compile" in used.vulkan.reason
    assert [plan.has_vulkan for plan in tried] == [True, False]
    build(PLAN, tmp_path, lambda folder: None)
    assert [plan.has_vulkan for plan in tried] == [True, False, False], "it was not tried again"


def test_a_build_that_fails_either_way_is_not_blamed_on_vulkan(entries, tmp_path):
    _, broken = entries
    broken += [True, False]
    with pytest.raises(CommandError):
        build(PLAN, tmp_path, lambda folder: None)
    assert list(tmp_path.iterdir()) == []


def test_little_memory_means_few_compilers_at_once(tmp_path):
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 16000000 kB\nMemAvailable:    900000 kB\n")
    assert cmake_build.jobs(meminfo) == 1
    meminfo.write_text("MemAvailable: 900000000 kB\n")
    assert cmake_build.jobs(meminfo) >= 2
    assert cmake_build.jobs(tmp_path / "none") >= 1


def test_a_wrong_source_archive_is_refused(tmp_path):
    def fetch(folder: Path) -> None:
        (folder / "llama_cpp_python-0.3.36.tar.gz").write_bytes(b"something else")

    with pytest.raises(SetupError, match="not the pinned one"):
        unpack_source(PLAN.version, PLAN.archive_hash, tmp_path / "source", tmp_path / "log", fetch)
