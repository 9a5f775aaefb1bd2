"""``vramble fit`` as a process: recorded machines, a scripted worker, a Hub on this machine."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.downloads.headers import FIRST
from engine.memory.sizes import GIB
from tests.app.commands.conftest import one_line
from tests.fakes import sparse_gguf
from tests.fakes.local_hub import LocalHub
from tests.fakes.sparse_gguf import Sizes
from tests.fakes.sysroot import build_sysroot
from tests.fakes.tiny_gguf import tiny_llama

KEYS = {"weights", "kv", "compute", "total", "room", "verdict", "gpu_layers", "n_layers", "reason"}
MEDIUM = Sizes(layers=32, width=4096, heads=32, kv_heads=8, head=128, ff=14336, vocabulary=1000)
CPU_ONLY = [
    {
        "id": "CPU",
        "backend": "CPU",
        "name": "p",
        "pci": None,
        "kind": "cpu",
        "memory_total": 16 * GIB,
        "memory_free": 8 * GIB,
        "usable": True,
    }
]

Fit = Callable[..., dict[str, Any]]


@pytest.fixture
def eight(tmp_path: Path) -> str:
    """An 8B-shaped model in Q4_K: 3.7 GiB of weights that take no disk."""
    return str(sparse_gguf.llama(MEDIUM, "Q4_K").write(tmp_path / "Eight-8B-Q4_K.gguf"))


@pytest.fixture
def on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Puts the command on a recorded machine."""
    return lambda name: monkeypatch.setenv("VRAMBLE_SYSROOT", str(build_sysroot(name, tmp_path / name)))


@pytest.fixture
def fit(vramble: Callable[..., Any]) -> Fit:
    def run(*arguments: str) -> dict[str, Any]:
        done = vramble("fit", *arguments, "--json")
        assert done.returncode == 0, done.stderr
        return dict(json.loads(done.stdout))

    return run


def test_it_fits(fit: Fit, fake_worker, on, eight: str) -> None:
    on("rx7900xtx")
    found = fit(eight, "--ctx", "8192")
    assert found.keys() >= KEYS
    assert found["verdict"] == "fits"
    assert found["kv"] == 32 * 8192 * 2048 * 2
    assert found["weights"] + found["kv"] + found["compute"] + found["image"] == found["total"]
    assert found["total"] <= found["room"] == 25753026560 - 10307921510 - GIB
    assert (found["gpu_layers"], found["n_layers"]) == (33, 33)
    assert found["suggestions"] == []
    assert 100 < found["speed_tps"] < 200, "960 GB/s, and some 4 GiB to read for a token"


def test_kv_types(fit: Fit, fake_worker, on, eight: str) -> None:
    on("rx7900xtx")
    quantised = fit(eight, "--ctx", "8192", "--kv", "q8_0")
    assert quantised["kv"] == 32 * 8192 * 2048 * 34 // 32
    assert quantised["options"]["kv_type_v"] == "q8_0"


def test_partly_and_what_would_help(fit: Fit, fake_worker, on, eight: str) -> None:
    on("rx7900xtx")
    found = fit(eight, "--ctx", "131072")
    assert found["verdict"] == "partly"
    assert 0 < found["gpu_layers"] < 33
    assert found["proposal"]["n_gpu_layers"] == found["gpu_layers"]
    assert {item["kind"] for item in found["suggestions"]} == {"kv", "context", "layers"}
    assert all(item["total"] <= found["room"] for item in found["suggestions"])


def test_flags_of_a_suggestion_do_what_it_says(vramble, fit: Fit, fake_worker, on, eight: str) -> None:
    on("rx7900xtx")
    done = vramble("fit", eight, "--ctx", "131072")
    assert done.returncode == 0
    line = next(line for line in done.stdout.splitlines() if "--ctx" in line)
    context = line.split("--ctx ")[1].split()[0]
    assert fit(eight, "--ctx", context)["verdict"] in ("fits", "tight")
    assert done.stdout.splitlines()[0].startswith("Eight")
    assert "partly: Needs" in done.stdout


def test_the_engine_is_asked(fit: Fit, fake_worker, on, eight: str) -> None:
    on("rx7900xtx")
    mib = 1 << 20
    memory = [{"device": "Vulkan0", "compute": 300 * mib}, {"device": "CPU", "compute": 20 * mib}]
    fake_worker(dry_run={"memory": memory})
    found = fit(eight)
    assert found["exact"]
    assert found["compute"] == 300 * mib
    assert fit(eight, "--estimate")["compute"] != 300 * mib


@pytest.mark.parametrize("code", ["load-failed", "bad-load-options"])
def test_an_engine_that_cannot_say(vramble, fake_worker, on, eight: str, code: str) -> None:
    on("rx7900xtx")
    fake_worker(dry_run={"fail": {"code": code, "message": "It went wrong.", "next_step": "Do that."}})
    done = vramble("fit", eight, "--json")
    if code == "bad-load-options":
        assert done.returncode == 1, "the load would be refused as well"
        assert "It went wrong." in one_line(done.stderr)
    else:
        assert done.returncode == 0
        assert "It went wrong." in done.stderr
        assert not json.loads(done.stdout)["exact"]


def test_an_engine_that_dies_of_it(fit: Fit, fake_worker, on, eight: str) -> None:
    on("rx7900xtx")
    fake_worker(dry_run={"signal": "SIGABRT", "stderr": ["GGML_ASSERT(x) failed"]})
    assert fit(eight)["verdict"] == "fits"


def test_the_ram_of_a_deck(fit: Fit, fake_worker, on, eight: str) -> None:
    fake_worker(devices=CPU_ONLY)
    on("steam_deck")
    found = fit(eight)
    assert (found["gpu_layers"], found["verdict"]) == (0, "fits" if found["total"] <= found["room"] else "no")
    assert "RAM" in found["reason"]


def test_an_image_encoder(fit: Fit, fake_worker, on, eight: str, tmp_path: Path) -> None:
    on("rx7900xtx")
    projector = tmp_path / "mmproj.gguf"
    sparse_gguf.write_sparse(
        projector,
        [("general.architecture", 8, "clip"), ("general.type", 8, "mmproj")],
        [sparse_gguf.Weight("v.blk.0.ffn.weight", (1024, 4096))],
    )
    found = fit(eight, "--mmproj", str(projector))
    assert found["image"] == 1024 * 4096 * 2
    assert found["total"] == fit(eight)["total"] + found["image"]


@pytest.mark.parametrize("content", [b"", b"Dear all,", tiny_llama()[:-5000]], ids=["empty", "text", "cut"])
def test_files_that_are_no_model(vramble, fake_worker, tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(content)
    done = vramble("fit", str(path), "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert one_line(done.stderr).startswith("vramble: broken.gguf: ")


def test_wrong_use(vramble) -> None:
    assert vramble("fit").returncode == 2
    assert vramble("fit", "x.gguf", "--kv", "q3").returncode == 2


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    monkeypatch.setenv("VRAMBLE_HOME", str(tmp_path / "home"))
    with LocalHub() as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        yield server


SMALL = Sizes(layers=4, width=256, heads=4, kv_heads=4, ff=512, vocabulary=2000, context=8192)
REPO = "maker/small-GGUF"


def test_a_model_that_is_not_downloaded(fit: Fit, fake_worker, on, hub: LocalHub, tmp_path: Path) -> None:
    on("rx7900xtx")
    path = sparse_gguf.llama(SMALL, "Q4_0").write(tmp_path / "small-Q4_0.gguf")
    hub.add(REPO, "small-Q4_0.gguf", path.read_bytes())
    remote, local = fit(f"hf:{REPO}/small-Q4_0.gguf"), fit(str(path))
    assert remote.pop("bytes_read") == FIRST < path.stat().st_size
    assert local.pop("bytes_read") == 0
    assert remote == local
    assert not list((tmp_path / "home").rglob("*.gguf")), "nothing is kept"


def test_another_quant_of_the_repository(fit: Fit, vramble, fake_worker, on, hub: LocalHub, tmp_path: Path) -> None:
    on("rx7900xtx")
    for kind in ("F16", "Q8_0", "Q4_0"):
        hub.add(REPO, f"small-{kind}.gguf", sparse_gguf.llama(SMALL, kind).write(tmp_path / kind).read_bytes())
    gpu = {**CPU_ONLY[0], "id": "Vulkan0", "backend": "Vulkan", "name": "Little", "kind": "gpu"}
    mib = 1 << 20
    fake_worker(devices=[{**gpu, "memory_total": 15 * mib, "memory_free": 15 * mib}, *CPU_ONLY])
    options = ("--ctx", "1024", "--estimate")
    found = fit(f"hf:{REPO}/small-F16.gguf", *options)
    assert found["verdict"] == "partly"
    assert [item["quant"] for item in found["quants"]] == ["Q8_0", "Q4_0"], "the largest that fits first"
    assert "Take Q4_0" in vramble("fit", f"hf:{REPO}/small-F16.gguf", *options).stdout


def test_a_repository_without_a_file_name(vramble, fake_worker, on, hub: LocalHub, tmp_path: Path) -> None:
    on("rx7900xtx")
    for kind in ("Q8_0", "Q4_0"):
        hub.add(REPO, f"small-{kind}.gguf", sparse_gguf.llama(SMALL, kind).write(tmp_path / kind).read_bytes())
    done = vramble("fit", f"hf:{REPO}", "--json")
    assert done.returncode == 0, done.stderr
    assert "taking Q4_0" in done.stderr


def test_what_the_hub_does_not_have(vramble, fake_worker, hub: LocalHub) -> None:
    done = vramble("fit", f"hf:{REPO}/nothing.gguf")
    assert (done.returncode, done.stdout) == (1, "")
    one_line(done.stderr)
