"""What decides a plugin's build, what is recorded of it, and that it is proved to load before it is installed."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import pytest
from vramble_setup import build_cache, cmake_build
from vramble_setup.backend import loading, plugin_build, source_archive
from vramble_setup.backend.plugin_build import PluginPlan
from vramble_setup.report import SetupError

from engine.backends.elf import numbers
from engine.backends.plugin_record import read_record
from tests.engine.backends.test_elf import engine_library

PLAN = PluginPlan(
    backend="hip",
    version="0.3.36",
    archive_hash="0" * 64,
    options={"GGML_HIP": "ON", "CMAKE_HIP_ARCHITECTURES": "gfx1100"},
    where={"CMAKE_HIP_COMPILER": "/opt/rocm/llvm/bin/clang++"},
    tools={"hip": "6.4.43484", "clang": "clang version 21"},
    toolchain={"compiler": "g++ 16", "libc": "glibc 2.43"},
    gfx=("gfx1100",),
)


@pytest.mark.parametrize(
    "change",
    [
        {"version": "0.3.37"},
        {"archive_hash": "1" * 64},
        {"options": {"GGML_HIP": "ON", "GGML_CUDA_FA": "OFF"}},
        {"tools": {"hip": "7.0", "clang": "clang version 21"}},
        {"toolchain": {"compiler": "g++ 16", "libc": "glibc 2.36"}},
        {"gfx": ("gfx1100", "gfx1030")},
    ],
)
def test_whatever_matters_changes_the_key(change):
    assert dataclasses.replace(PLAN, **change).key() != PLAN.key()


def test_where_the_tools_lie_does_not_change_the_key():
    assert dataclasses.replace(PLAN, where={"CMAKE_HIP_COMPILER": "/usr/bin/clang++"}).key() == PLAN.key()


def test_the_record_is_read_by_the_engine(tmp_path):
    plugin = tmp_path / PLAN.file
    plugin.write_bytes(engine_library("libggml-rpc.so").read_bytes())
    facts = plugin_build.record_of(PLAN, plugin, "0.5.0")
    plugin.with_suffix(".json").write_text(json.dumps(facts))
    record = read_record(plugin)
    assert (record.llama_cpp_python, record.gfx, record.rocm) == ("0.3.36", ("gfx1100",), "6.4.43484")
    assert record.bytes == plugin.stat().st_size
    assert record.glibc_needed is not None
    assert numbers(record.glibc_needed) >= (2, 14)
    libraries = facts["libraries"]
    assert isinstance(libraries, list)
    assert "libggml-base.so.0" in libraries
    assert facts["sha256"] == build_cache.sha256_of(plugin)


def test_a_build_that_left_nothing_to_load(tmp_path):
    plugin = tmp_path / PLAN.file
    plugin.write_text("no library")
    with pytest.raises(SetupError, match="What was built cannot be loaded: It is no shared library"):
        plugin_build.record_of(PLAN, plugin, None)


def test_a_plugin_is_loaded_in_a_process_of_its_own(tmp_path):
    found = loading.load(engine_library("libggml-base.so"), engine_library("libggml-cpu.so"), tmp_path / "log")
    assert (found.name, found.api) == ("CPU", 2)
    assert len(found.devices) == 1


def test_a_plugin_that_does_not_load_says_why(tmp_path, toys):
    base, log = engine_library("libggml-base.so"), tmp_path / "log"
    missing = toys.build(links="libamdhip64-nowhere.so.6")
    with pytest.raises(SetupError, match=r"does not load here: libamdhip64-nowhere\.so\.6: cannot open shared object"):
        loading.load(base, missing, log)
    with pytest.raises(SetupError, match=r"it ended the process \(signal 6\)"):
        loading.load(base, toys.build("AT_LOAD=abort()"), log)
    assert "libamdhip64-nowhere" in log.read_text()


def test_one_that_hangs_is_given_up(tmp_path, toys, monkeypatch):
    monkeypatch.setattr(loading, "SECONDS", 0.5)
    with pytest.raises(SetupError, match="loading it took more than"):
        loading.load(engine_library("libggml-base.so"), toys.build("AT_START=pause()"), tmp_path / "log")


def test_a_given_archive_is_checked(tmp_path):
    archive = tmp_path / "mine.tar.gz"
    archive.write_bytes(b"something")
    log = tmp_path / "log"
    fetch = source_archive.fetcher(tmp_path, tmp_path / "cache", "0" * 64, archive, log)
    with pytest.raises(SetupError, match="not the pinned one"):
        cmake_build.unpack_source("0.3.36", "0" * 64, tmp_path / "source", log, fetch)
    gone = source_archive.fetcher(tmp_path, tmp_path / "cache", "0" * 64, tmp_path / "gone", log)
    with pytest.raises(SetupError, match="There is no file"):
        gone(tmp_path)


def test_the_archive_is_fetched_once(tmp_path, monkeypatch):
    asked = []

    def fake(command, log, what, *, env):
        asked.append(command)
        folder = Path(command[command.index("-d") + 1])
        (folder / "llama_cpp_python-0.3.36.tar.gz").write_bytes(b"the source")

    monkeypatch.setattr(source_archive, "logged", fake)
    digest = build_cache.sha256_of(_write(tmp_path / "x", b"the source"))
    fetch = source_archive.fetcher(tmp_path, tmp_path / "cache", digest, None, tmp_path / "log")
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        fetch(tmp_path / name)
        assert [path.read_bytes() for path in (tmp_path / name).glob(cmake_build.ARCHIVES)] == [b"the source"]
    assert len(asked) == 1
    assert "--require-hashes" in asked[0]


def _write(path, content):
    path.write_bytes(content)
    return path
