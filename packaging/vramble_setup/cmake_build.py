"""Unpacks the pinned source archive of the engine and drives CMake on it, with ccache where there is one."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from vramble_setup import build_cache
from vramble_setup.commands import logged
from vramble_setup.report import Progress, SetupError

FIXED_OPTIONS = {
    "CMAKE_BUILD_TYPE": "Release",
    "GGML_BACKEND_DL": "ON",
    "GGML_NATIVE": "OFF",
    "GGML_RPC": "ON",
    "GGML_CCACHE": "OFF",
    "LLAMA_USE_PREBUILT_UI": "OFF",
}
FEWEST_STEPS = 50
KIB_PER_JOB = 1_500_000
NINJA_STEP = re.compile(r"\[(\d+)/(\d+)\]")
ARCHIVES = "llama_cpp_python-*.tar.gz"


def pinned(requirements: Path) -> tuple[str, str]:
    """Version and sha256 of llama-cpp-python in the requirements file."""
    text = requirements.read_text(encoding="utf-8")
    found = re.search(r"llama-cpp-python==(\S+)\s+\\?\s*--hash=sha256:([0-9a-f]{64})", text)
    if not found:
        raise SetupError(f"{requirements} pins no llama-cpp-python.", "Restore the file from git.")
    return found.group(1), found.group(2)


def unpack_source(version: str, archive_hash: str, place: Path, log: Path, fetch: Callable[[Path], None]) -> Path:
    """The unpacked source below `place`. `fetch(place)` puts the archive there; another one than pinned is refused."""
    place.mkdir()
    fetch(place)
    archives = sorted(place.glob(ARCHIVES))
    if not archives or build_cache.sha256_of(archives[0]) != archive_hash:
        raise SetupError(
            "The source archive of llama-cpp-python is missing or not the pinned one.",
            "Try again; if it stays so, check the network and the package index.",
        )
    logged(["tar", "-xzf", archives[0], "-C", place], log, "Unpacking the source of the engine")
    archives[0].unlink()
    return place / f"llama_cpp_python-{version}"


def configure(
    source: Path, objects: Path, options: Mapping[str, str], log: Path, what: str, *, languages: Sequence[str] = ()
) -> None:
    """Runs CMake. `languages`: those besides C and C++ that ccache is put before."""
    chosen = {**options, "SKBUILD_PLATLIB_DIR": str(objects / "unused")}
    if launcher := shutil.which("ccache"):
        chosen.update({f"CMAKE_{language}_COMPILER_LAUNCHER": launcher for language in ("C", "CXX", *languages)})
    defines = [f"-D{name}={value}" for name, value in sorted(chosen.items())]
    command: list[str | Path] = ["cmake", "-G", "Ninja", "-S", source, "-B", objects, *defines]
    logged(command, log, what, env=_environment(source))


def compile_targets(objects: Path, targets: Sequence[str], parallel: int, log: Path, what: str) -> None:
    """Builds the targets and shows how far it is. `what` is the title, such as "Building llama.cpp"."""
    progress = Progress(what)

    def follow(line: str) -> None:
        found = NINJA_STEP.match(line)
        # A build within the build (the shader tool) counts by itself, with a handful of steps.
        if found and int(found.group(2)) >= FEWEST_STEPS:
            progress.at(int(found.group(1)), int(found.group(2)))

    command: list[str | Path] = ["cmake", "--build", objects, "--parallel", str(parallel), "--target", *targets]
    logged(command, log, what, env=_environment(objects), on_line=follow)
    progress.end()


def jobs(meminfo: Path = Path("/proc/meminfo")) -> int:
    """As many compilers at once as there are processors and memory for."""
    processors = len(os.sched_getaffinity(0))
    try:
        found = re.search(r"MemAvailable:\s+(\d+) kB", meminfo.read_text(encoding="utf-8"))
    except OSError:
        found = None
    by_memory = int(found.group(1)) // KIB_PER_JOB if found else processors
    return max(1, min(processors + 1, by_memory))


def llama_version(source: Path) -> str | None:
    """Version of llama.cpp in the unpacked source."""
    text = (source / "vendor/llama.cpp/CMakeLists.txt").read_text(encoding="utf-8")
    parts = re.findall(r"LLAMA_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text)
    return ".".join(parts[:3]) if len(parts) >= 3 else None


def _environment(base: Path) -> dict[str, str]:
    """The environment of the compiler: ccache then finds the same file in another folder too."""
    environment = dict(os.environ)
    environment["CCACHE_BASEDIR"] = str(base.parent)
    environment["CCACHE_NOHASHDIR"] = "1"
    for name in ("CMAKE_ARGS", "CFLAGS", "CXXFLAGS", "LDFLAGS"):
        environment.pop(name, None)
    return environment
