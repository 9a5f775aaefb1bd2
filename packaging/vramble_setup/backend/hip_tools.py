"""Finds ROCm and proves that it can compile, before a build of half an hour is begun."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from vramble_setup.commands import output
from vramble_setup.report import SetupError
from vramble_setup.vulkan_tools import os_release

OLDEST_HIP = (6, 1)
LIBRARIES = ("hip", "rocblas", "hipblas")
PROBE = """#include <hip/hip_runtime.h>
__global__ void twice(float *values) { values[threadIdx.x] *= 2; }
"""
PACKAGES = {
    "debian": "apt install hipcc librocblas-dev libhipblas-dev",
    "ubuntu": "apt install hipcc librocblas-dev libhipblas-dev",
    "fedora": "dnf install hipcc rocm-hip-devel rocblas-devel hipblas-devel",
    "arch": "pacman -S rocm-hip-sdk",
}
TOO_OLD = {"bookworm": "Debian 12's own (HIP 5.2)", "trixie": "Debian 13's own (HIP 5.7)"}
NEWER = "AMD's packages put a newer ROCm into /opt/rocm; docs/backends.md shows a root folder of Debian testing."
ON_STEAMOS = "SteamOS has no ROCm of its own; Vulkan needs none. A plugin built elsewhere needs that ROCm beside it."


@dataclass(frozen=True)
class HipTools:
    """Root of ROCm, its clang, and their versions as they say them themselves."""

    root: Path
    clang: Path
    clang_version: str
    hip_version: str

    def options(self) -> dict[str, str]:
        """What CMake is told about where the tools lie; outside the system's folders the plugin has to know it too."""
        found = {"CMAKE_HIP_COMPILER": str(self.clang), "CMAKE_PREFIX_PATH": str(self.root)}
        if self.root not in (Path("/usr"), Path("/")):
            found["CMAKE_MODULE_LINKER_FLAGS"] = f"-Wl,-rpath,{self.root}/lib"
        return found

    def identity(self) -> dict[str, str]:
        """What belongs in the key of the build."""
        return {"clang": self.clang_version, "hip": self.hip_version}


def find(environ: Mapping[str, str], *, rccl: bool) -> HipTools:
    """The tools of the ROCm installation. Raises SetupError that says what is missing and how to get it."""
    config = _hipconfig(environ)
    root = Path(output([config, "--rocmpath"]) or config.parent.parent)
    version = re.match(r"\d+\.\d+[.\d]*", output([config, "--version"]))
    if version is None:
        raise SetupError(f"{config} does not say its version.", "Install ROCm again.")
    if tuple(map(int, version[0].split(".")[:2])) < OLDEST_HIP:
        raise SetupError(f"This ROCm brings HIP {version[0]}; llama.cpp needs 6.1 or newer.", NEWER)
    clang = _clang(config, environ)
    for name in (*LIBRARIES, "rccl") if rccl else LIBRARIES:
        _require_library(root, name)
    return HipTools(root, clang, _first_line(output([clang, "--version"])), version[0])


def how_to_install() -> str:
    """What to type on this distribution, as a sentence."""
    release = os_release()
    if release.get("ID") == "steamos":
        return ON_STEAMOS
    if old := TOO_OLD.get(release.get("VERSION_CODENAME", "")):
        return f"{old} is too old. {NEWER}"
    for name in (release.get("ID", ""), *release.get("ID_LIKE", "").split()):
        if name in PACKAGES:
            return f"As root: {PACKAGES[name]}"
    return "Install hipcc, rocBLAS and hipBLAS with their headers."


def _hipconfig(environ: Mapping[str, str]) -> Path:
    folders = [Path(environ[name]) / "bin" for name in ("ROCM_PATH", "HIP_PATH") if environ.get(name)]
    folders.append(Path("/opt/rocm/bin"))
    path = os.pathsep.join([*map(str, folders), environ.get("PATH", os.defpath)])
    config, hipcc = shutil.which("hipconfig", path=path), shutil.which("hipcc", path=path)
    if not config or not hipcc:
        raise SetupError(
            "hipcc was not found: ROCm with its compiler is not installed, or lies in a folder that is not known.",
            f"{how_to_install()}\nIf it is installed, set ROCM_PATH to its folder.",
        )
    return Path(config)


def _clang(config: Path, environ: Mapping[str, str]) -> Path:
    folder = environ.get("HIP_CLANG_PATH") or output([config, "--hipclangpath"])
    clang = Path(folder) / "clang++"
    version = output([clang, "--version"]) if folder else ""
    if "clang" not in version:
        raise SetupError(
            f"hipcc works with the clang in {folder or 'an unknown folder'}, and there is none that starts.",
            f"Install that version of clang{_debian_clang(folder)}.",
        )
    return clang


def _debian_clang(folder: str) -> str:
    number = re.search(r"llvm-(\d+)", folder)
    return f" (on Debian and Ubuntu: the package clang-{number[1]})" if number else ""


def _require_library(root: Path, name: str) -> None:
    places = ("lib/cmake", "lib64/cmake", "lib/*/cmake", "share/cmake")
    if any(True for place in places for _ in root.glob(f"{place}/{name}/{name}-config.cmake")):
        return
    if name == "rccl":
        raise SetupError(
            f"RCCL with its headers was not found below {root}.",
            "Install it (rccl-dev in AMD's packages), or build without --rccl: only several GPUs at once use it.",
        )
    raise SetupError(f"The ROCm library {name} with its headers is missing.", how_to_install())


def prove(tools: HipTools, gfx: Sequence[str]) -> None:
    """Compiles a few lines for each target. Raises SetupError with the compiler's own words."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "probe.hip"
        source.write_text(PROBE, encoding="utf-8")
        for name in gfx:
            goal = ("-o", Path(folder) / "probe.o")
            words: list[str | Path] = [tools.clang, "-x", "hip", f"--offload-arch={name}", "-c", source, *goal]
            done = subprocess.run(words, capture_output=True, text=True, errors="replace", check=False)
            if done.returncode != 0:
                raise SetupError(
                    f"{tools.clang} cannot compile HIP for {name}: {_complaint(done.stderr)}.", _advice(done.stderr)
                )


def without_kernels(tools: HipTools, gfx: Sequence[str]) -> list[str]:
    """The targets for which this rocBLAS ships no kernels; it ends the process on such a card. Empty if not known."""
    for place in ("lib/rocblas", "lib64/rocblas", "lib/*/rocblas"):
        files = " ".join(file.name for folder in tools.root.glob(place) for file in folder.rglob("*gfx*"))
        if files:
            return [name for name in gfx if name.split(":")[0] not in files and "generic" not in name]
    return []


def _complaint(stderr: str) -> str:
    errors = [line for line in stderr.splitlines() if "error:" in line]
    words = errors[0].split("error:", 1)[1] if errors else "it ended without a word"
    return re.split(r"; (?:format|provide)", words)[0].strip().rstrip(".")


def _advice(stderr: str) -> str:
    if "target ID" in stderr or "unsupported HIP gpu architecture" in stderr:
        return "Check the name; a card that is newer than this ROCm needs a newer one."
    if "device librar" in stderr:
        return "clang and ROCm's device libraries are of different versions: install the pair that belongs together."
    return f"clang and ROCm must belong together. {how_to_install()}"


def _first_line(text: str) -> str:
    return text.splitlines()[0] if text else ""
