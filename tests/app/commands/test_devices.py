"""``vramble devices``."""

from __future__ import annotations

import json

from tests.app.commands.conftest import one_line

DEVICE = {"backend": "Vulkan", "memory_total": None, "memory_free": None, "usable": False}


def test_json_has_exactly_the_promised_keys(vramble, fake_worker) -> None:
    done = vramble("devices", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert document.keys() == {"backends", "devices"}
    assert {tuple(backend) for backend in document["backends"]} == {("name", "path", "loaded", "error")}
    keys = {"id", "backend", "name", "pci", "kind", "memory_total", "memory_free", "usable", "reason", "driver"}
    assert [device.keys() for device in document["devices"]] == [keys, keys]
    assert document["devices"][1]["pci"] == "0000:03:00.0"


def test_unknown_memory_is_null_and_said_so(vramble, fake_worker) -> None:
    software = {**DEVICE, "id": "Software0", "name": "llvmpipe", "pci": None, "kind": "software", "reason": "Slow."}
    fake_worker(devices=[software])
    assert json.loads(vramble("devices", "--json").stdout)["devices"][0]["memory_total"] is None
    shown = vramble("devices").stdout
    assert "memory unknown" in shown
    assert "not used: Slow." in shown


def test_table_names_devices_and_absent_backends(vramble, fake_worker) -> None:
    absent = {"name": "HIP", "path": "/b/libggml-hip.so", "loaded": False, "error": "libamdhip64.so.6 is missing"}
    fake_worker(backends=[{"name": "CPU", "path": "/b/c.so", "loaded": True}, absent])
    lines = vramble("devices").stdout.splitlines()
    assert lines[1] == "Vulkan0  gpu  0000:03:00.0  8.0 GiB, 7.0 GiB free   Fake Radeon"
    assert lines[-2:] == ["Backends: CPU", "  not loaded: HIP: libamdhip64.so.6 is missing"]


def test_a_loaded_backend_without_a_device_says_why(vramble, fake_worker) -> None:
    idle = {"name": "ROCm", "path": "/b/libggml-hip.so", "loaded": True, "error": "No device: /dev/kfd is not there."}
    fake_worker(backends=[idle])
    assert vramble("devices").stdout.splitlines()[-2:] == [
        "Backends: ROCm",
        "  ROCm: No device: /dev/kfd is not there.",
    ]


def test_no_devices_at_all(vramble, fake_worker) -> None:
    fake_worker(devices=[], backends=[])
    done = vramble("devices")
    assert (done.returncode, done.stdout) == (0, "Backends: none\n")


def test_an_engine_that_dies_is_one_line(vramble, fake_worker, monkeypatch) -> None:
    monkeypatch.setenv("VRAMBLE_WORKER_COMMAND", "/bin/sh -c 'echo log >&2; kill -ILL $$'")
    done = vramble("devices", "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert one_line(done.stderr).startswith("vramble: This processor lacks instructions")


def test_an_engine_that_cannot_be_started(vramble, monkeypatch) -> None:
    monkeypatch.setenv("VRAMBLE_WORKER_COMMAND", "/nonexistent/worker")
    done = vramble("devices")
    assert done.returncode == 1
    assert one_line(done.stderr) == "vramble: The engine could not be started. Install Vramble again."


def test_an_engine_that_could_not_be_loaded_says_why(vramble, fake_worker) -> None:
    fail = {"code": "library-missing", "message": "libvulkan.so.1 is missing.", "next_step": "Install it."}
    fake_worker(engine="", devices=[], backends=[], list_devices={"fail": fail})
    done = vramble("devices", "--json")
    assert (done.returncode, done.stdout) == (1, "")
    assert one_line(done.stderr) == "vramble: libvulkan.so.1 is missing. Install it."


def test_the_real_engine_lists_this_machine(vramble) -> None:
    done = vramble("devices", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert "CPU" in {backend["name"] for backend in document["backends"] if backend["loaded"]}
    (processor,) = [device for device in document["devices"] if device["kind"] == "cpu"]
    assert processor["usable"]
    assert processor["memory_total"] > 2**28
