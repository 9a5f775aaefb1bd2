"""ROCm that is there, that is not, and that does not fit together: one clear sentence each. Scripts play ROCm."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from vramble_setup.backend import hip_tools
from vramble_setup.report import SetupError

HIPCONFIG = """#!/bin/sh
case $1 in
    --rocmpath) printf %s "{root}" ;;
    --version) printf %s "{version}" ;;
    --hipclangpath) printf %s "{clang}" ;;
esac
"""
CLANG = """#!/bin/sh
case "$*" in
    --version) echo "Debian clang version 21.1.8 (13)" ;;
    *{bad}*) echo "warning: something" >&2; echo "clang++: error: {complaint}" >&2; exit 1 ;;
esac
"""


class Rocm:
    """An installation below a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.clang = root / "llvm-21" / "bin"
        self.hipconfig()
        self.script(root / "bin" / "hipcc", "#!/bin/sh\n")
        self.compiler()
        for name in ("hip", "rocblas", "hipblas"):
            self.library(name)

    def script(self, path: Path, text: str) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def hipconfig(self, version: str = "6.4.43484-9999") -> None:
        text = HIPCONFIG.format(root=self.root, version=version, clang=self.clang)
        self.script(self.root / "bin" / "hipconfig", text)

    def compiler(self, bad: str = "nothing-is-bad", complaint: str = "") -> None:
        self.script(self.clang / "clang++", CLANG.format(bad=bad, complaint=complaint))

    def library(self, name: str) -> Path:
        file = self.root / "lib" / "x86_64-linux-gnu" / "cmake" / name / f"{name}-config.cmake"
        file.parent.mkdir(parents=True)
        file.touch()
        return file

    def environment(self) -> dict[str, str]:
        return {"ROCM_PATH": str(self.root), "PATH": "/usr/bin:/bin"}

    def find(self, *, rccl: bool = False) -> hip_tools.HipTools:
        return hip_tools.find(self.environment(), rccl=rccl)


@pytest.fixture
def rocm(tmp_path: Path) -> Rocm:
    return Rocm(tmp_path / "rocm")


def test_what_is_found(rocm: Rocm) -> None:
    found = rocm.find()
    assert found.root == rocm.root
    assert found.clang == rocm.clang / "clang++"
    assert found.identity() == {"clang": "Debian clang version 21.1.8 (13)", "hip": "6.4.43484"}
    hip_tools.prove(found, ["gfx1100"])


def test_the_plugin_knows_where_a_rocm_outside_the_system_lies(rocm: Rocm) -> None:
    found = rocm.find()
    assert found.options()["CMAKE_MODULE_LINKER_FLAGS"] == f"-Wl,-rpath,{rocm.root}/lib"
    assert "CMAKE_MODULE_LINKER_FLAGS" not in dataclasses.replace(found, root=Path("/usr")).options()


def test_no_rocm_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hip_tools, "os_release", lambda: {"ID": "linuxmint", "ID_LIKE": "ubuntu debian"})
    with pytest.raises(SetupError, match="hipcc was not found") as caught:
        hip_tools.find({"PATH": str(tmp_path), "ROCM_PATH": str(tmp_path)}, rccl=False)
    assert "apt install hipcc librocblas-dev libhipblas-dev" in caught.value.advice
    assert "ROCM_PATH" in caught.value.advice


@pytest.mark.parametrize(
    ("release", "words"),
    [
        ({"ID": "arch"}, "pacman -S rocm-hip-sdk"),
        ({"ID": "fedora"}, "dnf install"),
        ({"ID": "steamos", "ID_LIKE": "arch"}, "Vulkan needs none"),
        ({"ID": "debian", "VERSION_CODENAME": "trixie"}, "Debian 13's own (HIP 5.7) is too old. AMD's packages"),
        ({"ID": "debian", "VERSION_CODENAME": "forky"}, "apt install hipcc librocblas-dev libhipblas-dev"),
        ({"ID": "slackware"}, "Install hipcc, rocBLAS and hipBLAS"),
    ],
)
def test_how_to_install(release: dict[str, str], words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hip_tools, "os_release", lambda: release)
    assert words in hip_tools.how_to_install()


def test_a_rocm_that_is_too_old(rocm: Rocm) -> None:
    rocm.hipconfig(version="5.7.31921-d1770ee1b")
    with pytest.raises(SetupError, match=r"brings HIP 5\.7\.31921; llama\.cpp needs 6\.1"):
        rocm.find()


def test_a_rocm_that_says_no_version(rocm: Rocm) -> None:
    rocm.hipconfig(version="")
    with pytest.raises(SetupError, match="does not say its version"):
        rocm.find()


def test_no_clang_where_hipcc_expects_it(rocm: Rocm) -> None:
    (rocm.clang / "clang++").unlink()
    with pytest.raises(SetupError, match="there is none that starts") as caught:
        rocm.find()
    assert "the package clang-21" in caught.value.advice


@pytest.mark.parametrize("name", ["hip", "rocblas", "hipblas"])
def test_a_library_that_is_missing(rocm: Rocm, name: str) -> None:
    next(rocm.root.glob(f"lib/*/cmake/{name}/*.cmake")).unlink()
    with pytest.raises(SetupError, match=f"The ROCm library {name} with its headers is missing"):
        rocm.find()


def test_rccl_only_when_it_is_asked_for(rocm: Rocm) -> None:
    with pytest.raises(SetupError, match="RCCL with its headers was not found") as caught:
        rocm.find(rccl=True)
    assert "without --rccl" in caught.value.advice
    rocm.library("rccl")
    assert rocm.find(rccl=True).root == rocm.root


@pytest.mark.parametrize(
    ("complaint", "sentence", "advice"),
    [
        ("invalid target ID 'gfx1999'; format is a processor name", "invalid target ID 'gfx1999'.", "Check the name"),
        (
            "cannot find ROCm device library; provide its path via '--rocm-path'",
            "cannot find ROCm device library.",
            "of different versions",
        ),
        ("unknown argument: '-x'", "unknown argument: '-x'.", "must belong together"),
    ],
)
def test_a_compiler_that_cannot(rocm: Rocm, complaint: str, sentence: str, advice: str) -> None:
    rocm.compiler(bad="gfx1999", complaint=complaint)
    found = rocm.find()
    hip_tools.prove(found, ["gfx1100"])
    with pytest.raises(SetupError) as caught:
        hip_tools.prove(found, ["gfx1100", "gfx1999"])
    assert caught.value.message == f"{found.clang} cannot compile HIP for gfx1999: {sentence}"
    assert advice in caught.value.advice


def test_targets_without_kernels_in_rocblas(rocm: Rocm) -> None:
    found = rocm.find()
    assert hip_tools.without_kernels(found, ["gfx1151"]) == [], "not known"
    library = rocm.root / "lib" / "x86_64-linux-gnu" / "rocblas" / "4.4.1" / "library"
    library.mkdir(parents=True)
    for name in ("gfx1030", "gfx1100"):
        (library / f"TensileLibrary_Type_SS_fallback_{name}.hsaco").touch()
    targets = ["gfx1100", "gfx1151", "gfx1030:xnack-", "gfx11-generic"]
    assert hip_tools.without_kernels(found, targets) == ["gfx1151"]
