"""Vulkan is built where it can be; where not, one sentence says why."""

import pytest
from vramble_setup import newer_debian, vulkan_tools
from vramble_setup.report import SetupError
from vramble_setup.vulkan_tools import NoVulkan, VulkanTools, find, header_version, needs_newer, os_release


@pytest.fixture
def system(tmp_path, monkeypatch):
    """A system whose parts the test lays down itself."""
    monkeypatch.delenv("VRAMBLE_NO_VULKAN", raising=False)
    monkeypatch.setattr(vulkan_tools, "_loader", lambda: tmp_path / "libvulkan.so.1")
    monkeypatch.setattr(vulkan_tools, "os_release", lambda: {"ID": "ubuntu", "VERSION_ID": "24.04"})
    monkeypatch.setattr(vulkan_tools, "SYSTEM_HEADERS", tmp_path / "vulkan_core.h")
    monkeypatch.setattr(vulkan_tools, "SPIRV_HEADERS", tmp_path / "SPIRV-HeadersConfig.cmake")
    monkeypatch.setenv("PATH", str(tmp_path))
    return tmp_path


def lay_down(system, header: int) -> None:
    (system / "vulkan_core.h").write_text(f"#define VK_HEADER_VERSION {header}\n")
    (system / "SPIRV-HeadersConfig.cmake").touch()
    glslc = system / "glslc"
    glslc.write_text("#!/bin/sh\necho shaderc v2023.8\n")
    glslc.chmod(0o755)


def test_a_complete_system_builds_vulkan(system):
    lay_down(system, 275)
    found = find(system, system / "log")
    assert found == VulkanTools((), "system headers 275, shaderc v2023.8")


def test_old_headers_are_named(system):
    lay_down(system, 239)
    found = find(system, system / "log")
    assert isinstance(found, NoVulkan)
    assert "239" in found.reason
    assert "too old" in found.reason


@pytest.mark.parametrize(
    ("gone", "named"),
    [("vulkan_core.h", "Vulkan headers"), ("SPIRV-HeadersConfig.cmake", "SPIR-V"), ("glslc", "glslc")],
)
def test_what_is_missing_is_named(system, gone, named):
    lay_down(system, 309)
    (system / gone).unlink()
    found = find(system, system / "log")
    assert isinstance(found, NoVulkan)
    assert named in found.reason


def test_it_can_be_switched_off(system, monkeypatch):
    monkeypatch.setenv("VRAMBLE_NO_VULKAN", "1")
    found = find(system, system / "log")
    assert isinstance(found, NoVulkan)
    assert "VRAMBLE_NO_VULKAN" in found.reason


def test_without_a_loader_there_is_no_vulkan(system, monkeypatch):
    monkeypatch.setattr(vulkan_tools, "_loader", lambda: None)
    assert isinstance(find(system, system / "log"), NoVulkan)


def test_a_debian_12_that_cannot_fetch_goes_on_without(system, monkeypatch):
    release = {"ID": "debian", "VERSION_CODENAME": "bookworm"}
    monkeypatch.setattr(vulkan_tools, "os_release", lambda: release)

    def refuse(*arguments, **options):
        raise SetupError("No network.", "Connect it.")

    monkeypatch.setattr(newer_debian, "unpack_packages", refuse)
    found = find(system / "cache", system / "log")
    assert isinstance(found, NoVulkan)
    assert "could not be fetched" in found.reason
    assert not list((system / "cache").glob("*trixie-?"))


def test_only_debian_12_needs_newer_tools():
    assert needs_newer({"ID": "debian", "VERSION_CODENAME": "bookworm"})
    assert not needs_newer({"ID": "debian", "VERSION_CODENAME": "trixie"})
    assert not needs_newer({"ID": "ubuntu", "VERSION_CODENAME": "noble"})
    assert not needs_newer({})


def test_os_release_is_read_with_and_without_quotes(tmp_path):
    file = tmp_path / "os-release"
    file.write_text('ID=debian\nVERSION_ID="12"\n# x\n')
    assert os_release(file) == {"ID": "debian", "VERSION_ID": "12"}
    assert os_release(tmp_path / "none") == {}


def test_the_header_version(tmp_path):
    file = tmp_path / "vulkan_core.h"
    assert header_version(file) is None
    file.write_text("#define VK_HEADER_VERSION_COMPLETE x\n#define VK_HEADER_VERSION 309\n")
    assert header_version(file) == 309
