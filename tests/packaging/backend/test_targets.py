"""What a HIP plugin is built for: names given, the kernel's topology, the user's override."""

from __future__ import annotations

import pytest
from vramble_setup.backend import targets
from vramble_setup.report import SetupError

from engine.memory import kfd
from tests.fakes.sysroot import build_sysroot


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("gfx1100", ("gfx1100",)),
        ("gfx1100,gfx1030", ("gfx1100", "gfx1030")),
        (" GFX90A; gfx1100  gfx90a", ("gfx90a", "gfx1100")),
        ("gfx908:sramecc+:xnack-", ("gfx908:sramecc+:xnack-",)),
        ("gfx11-generic,gfx10-3-generic", ("gfx11-generic", "gfx10-3-generic")),
    ],
)
def test_names(text, names):
    assert targets.parse(text) == names


@pytest.mark.parametrize(
    "text", ["", " , ", "gfx", "RX7900", "gfx1100,7900", "gfx1100; rm -rf /", "gfx11000", "gfx1100:"]
)
def test_what_is_no_name_is_refused(text):
    with pytest.raises(SetupError, match="--gfx takes names such as gfx1100"):
        targets.parse(text)


@pytest.mark.parametrize(
    ("machine", "names"),
    [
        ("rx7900xtx", ("gfx1100",)),
        ("laptop_sleeping_dgpu", ("gfx1102", "gfx1103")),
        ("steam_deck", ("gfx1033",)),
        ("strix_halo", ("gfx1151",)),
    ],
)
def test_this_machines(machine, names, tmp_path):
    build_sysroot(machine, tmp_path)
    assert targets.of_machine({"VRAMBLE_SYSROOT": str(tmp_path)}) == names


@pytest.mark.parametrize("machine", ["no_gpu", "raphael_rx7800xt"])
def test_no_card_in_the_topology(machine, tmp_path):
    build_sysroot(machine, tmp_path)
    with pytest.raises(SetupError, match="shows no AMD GPU to compute with") as caught:
        targets.of_machine({"VRAMBLE_SYSROOT": str(tmp_path)})
    assert "--gfx gfx1100" in caught.value.advice


def test_the_override_is_what_rocm_will_see(tmp_path):
    build_sysroot("steam_deck", tmp_path)
    environment = {"VRAMBLE_SYSROOT": str(tmp_path), "HSA_OVERRIDE_GFX_VERSION": "10.3.0"}
    assert targets.of_machine(environment) == ("gfx1030",)


@pytest.mark.parametrize("text", ["1030", "10.3", "10.3.x", "1.2.3", "10.3.16"])
def test_an_override_that_is_none(text):
    with pytest.raises(SetupError, match="is no version such as"):
        targets.of_machine({"HSA_OVERRIDE_GFX_VERSION": text})


@pytest.mark.parametrize(
    "broken", ["", "gfx_target_version x", "simd_count 4\ngfx_target_version 99999999999999999999"]
)
def test_a_topology_that_makes_no_sense(broken, tmp_path):
    node = tmp_path / targets.NODES / "1"
    node.mkdir(parents=True)
    (node / "properties").write_text(broken)
    with pytest.raises(SetupError):
        targets.of_machine({"VRAMBLE_SYSROOT": str(tmp_path)})


@pytest.mark.parametrize(
    "version", [0, 70000, 80003, 90006, 90008, 90010, 90012, 90402, 100303, 110501, 120001, 999999]
)
def test_the_names_are_those_of_the_memory_view(version):
    assert targets.gfx_name(version) == kfd.gfx_name(version)
