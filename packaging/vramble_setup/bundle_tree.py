"""Puts together what the build made: the package for an environment, and the parts for llama-bench.

Each library is there once, as a real file; its other names are links. Two copies of one library in a
process would have two lists of backends, and a model would then find none of them.
"""

from __future__ import annotations

import base64
import hashlib
import re
import shutil
from pathlib import Path

from vramble_setup.report import SetupError

PACKAGE_LIBRARIES = re.compile(r"lib(llama|mtmd|ggml|ggml-base|ggml-cpu|ggml-rpc|ggml-vulkan)\.so[.0-9]*")
# What llama-bench and llama-batched-bench are built from, besides the engine's own libraries.
BENCH_SOURCES = (
    "cmake",
    "common",
    "ggml/cmake",
    "ggml/include",
    "include",
    "src",
    "tools/batched-bench",
    "tools/llama-bench",
    "vendor",
)


def make_site(source: Path, objects: Path, site: Path, version: str) -> None:
    """Fills `site` with the package `llama_cpp` and its metadata."""
    shutil.copytree(
        source / "llama_cpp",
        site / "llama_cpp",
        ignore=shutil.ignore_patterns("server", "__pycache__", "lib"),
    )
    copy_libraries(objects, site / "llama_cpp" / "lib", PACKAGE_LIBRARIES)
    info = site / f"llama_cpp_python-{version}.dist-info"
    info.mkdir()
    shutil.copy2(source / "PKG-INFO", info / "METADATA")
    shutil.copy2(source / "LICENSE.md", info / "LICENSE.md")
    shutil.copy2(source / "vendor/llama.cpp/LICENSE", info / "LICENSE.llama.cpp")
    wheel = "Wheel-Version: 1.0\nGenerator: vramble\nRoot-Is-Purelib: false\nTag: py3-none-any\n"
    (info / "WHEEL").write_text(wheel, encoding="utf-8")
    (info / "INSTALLER").write_text("pip\n", encoding="utf-8")
    (info / "RECORD").write_text(record_of(site, info), encoding="utf-8")


def copy_libraries(built: Path, place: Path, wanted: re.Pattern[str]) -> None:
    """Copies the wanted libraries: real files as they are, links as links, nothing twice."""
    place.mkdir(parents=True, exist_ok=True)
    for file in sorted(built.rglob("*.so*")):
        goal = place / file.name
        if not wanted.fullmatch(file.name) or goal.is_symlink() or goal.exists():
            continue
        if file.is_symlink():
            goal.symlink_to(file.readlink())
        else:
            shutil.copy2(file, goal)
    for link in place.iterdir():
        if link.is_symlink() and not link.exists():
            raise SetupError(
                f"The build left {link.name} pointing to nothing.",
                "Run `./dev clean --cache` and try again.",
            )


def record_of(site: Path, info: Path) -> str:
    """The RECORD of all files below `site`, so that pip can remove the package again."""
    lines = []
    for file in sorted(path for path in site.rglob("*") if not path.is_dir()):
        name = file.relative_to(site).as_posix()
        digest = base64.urlsafe_b64encode(hashlib.sha256(file.read_bytes()).digest())
        size = file.stat().st_size
        lines.append(f"{name},sha256={digest.decode().rstrip('=')},{size}")
    lines.append(f"{(info / 'RECORD').relative_to(site).as_posix()},,")
    return "\n".join(lines) + "\n"


def make_bench(source: Path, bench: Path) -> None:
    """Keeps the sources of llama-bench, so that it can be built from the tree the engine is from."""
    llama = source / "vendor" / "llama.cpp"
    for part in BENCH_SOURCES:
        shutil.copytree(llama / part, bench / part)
