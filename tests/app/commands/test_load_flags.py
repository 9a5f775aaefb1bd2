"""Load options of ``vramble chat``."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from app.chat.load_flags import add_load_flags, read_load_flags, wants_warnings, with_profile
from app.cli import run
from engine.errors import VrambleError
from engine.loading.profile import GIB
from engine.protocol.types import (
    DeviceInfo,
    DeviceKind,
    FlashAttention,
    KvType,
    LoadOptions,
    LoraAdapter,
    RopeScaling,
    SplitMode,
)
from tests.app.commands.conftest import one_line
from tests.fakes.fake_worker import journal_entries
from tests.fakes.tiny_gguf import SMALL, small_llama
from tests.fakes.tiny_variants import lora_adapter


def parsed(line: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_load_flags(parser)
    parser.set_defaults(parser=parser)
    return parser.parse_args(line.split())


def options(line: str) -> LoadOptions:
    return read_load_flags(parsed(line))


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", {}),
        ("--kv-type q8_0", {"kv_type_k": KvType.Q8_0, "kv_type_v": KvType.Q8_0}),
        ("--kv-type F16,q4_0", {"kv_type_k": KvType.F16, "kv_type_v": KvType.Q4_0}),
        ("--flash-attention on --kv-on-cpu", {"flash_attention": FlashAttention.ON, "kv_on_cpu": True}),
        ("--batch 64 --micro-batch 32 --threads 2", {"n_batch": 64, "n_ubatch": 32, "n_threads": 2}),
        ("--parallel 4", {"n_parallel": 4}),
        ("--mmap", {"mmap": True}),
        ("--no-mmap --cpu-moe 12", {"mmap": False, "n_cpu_moe": 12}),
        ("--devices b,a --shares 3,1", {"devices": ("b", "a"), "shares": (3.0, 1.0)}),
        ("--devices a,b --split tensor", {"devices": ("a", "b"), "split": SplitMode.TENSOR}),
        ("--rope-freq-base 1e6 --rope-freq-scale .5", {"rope_freq_base": 1e6, "rope_freq_scale": 0.5}),
        ("--rope-scaling yarn --yarn-orig-ctx 4096", {"rope_scaling": RopeScaling.YARN, "yarn_orig_ctx": 4096}),
        ("--yarn-ext-factor 0 --yarn-attn-factor 1", {"yarn_ext_factor": 0.0, "yarn_attn_factor": 1.0}),
        ("--yarn-beta-fast 32 --yarn-beta-slow 1", {"yarn_beta_fast": 32.0, "yarn_beta_slow": 1.0}),
        ("--mmproj /models/mmproj.gguf", {"mmproj": "/models/mmproj.gguf"}),
        ("--ngram --draft-max 4 --draft-min 2", {"ngram": True, "n_draft": 4, "n_draft_min": 2}),
        ("--draft-gpu-layers 0 --draft-p-min 0.75", {"draft_gpu_layers": 0, "draft_p_min": 0.75}),
        (
            "--lora /a.gguf --lora /b:c.gguf:0.5 --lora /d.gguf:-1",
            {
                "lora": (
                    LoraAdapter(path="/a.gguf"),
                    LoraAdapter(path="/b:c.gguf", scale=0.5),
                    LoraAdapter(path="/d.gguf", scale=-1.0),
                )
            },
        ),
    ],
)
def test_flags_become_options(line: str, expected: dict[str, Any]) -> None:
    assert options(line) == LoadOptions(**expected)


def test_each_option_of_a_load_has_a_flag() -> None:
    """An option that only the window could set is one that scripts miss."""
    line = (
        "--ctx 1 --gpu-layers 1 --device a --batch 1 --micro-batch 1 --threads 1 --flash-attention on --kv q8_0"
        " --kv-on-cpu --cpu-moe 1 --no-mmap --rope-scaling yarn --rope-freq-base 1 --rope-freq-scale .5"
        " --yarn-orig-ctx 1 --yarn-ext-factor 0 --yarn-attn-factor 2 --yarn-beta-fast 2 --yarn-beta-slow 2 --parallel 2"
        " --lora /a --draft-gpu-layers 1 --ngram --draft-max 2 --draft-min 2 --draft-p-min .5 --mmproj /m"
    )
    several = msgspec.structs.asdict(options("--devices a,b --shares 1,2 --split row"))
    given = msgspec.structs.asdict(options(line)) | {name: several[name] for name in ("devices", "shares", "split")}
    unchanged = {name for name, value in msgspec.structs.asdict(LoadOptions()).items() if given[name] == value}
    assert unchanged == {"draft"}, "and that one is a model that has to be there: the next test"


def test_a_draft_model_is_named_as_models_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "small.gguf").write_bytes(small_llama())
    assert options("--draft small.gguf").draft == str(tmp_path / "small.gguf")
    with pytest.raises(VrambleError):
        parsed("--draft gone.gguf")


def test_a_colon_in_the_name_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "v:2").touch()
    assert options("--lora v:2").lora == (LoraAdapter(path=str(tmp_path / "v:2")),)
    assert options("--lora w:2").lora == (LoraAdapter(path=str(tmp_path / "w"), scale=2.0),)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--kv-type q5_0", "'q5_0' is none of f16, q8_0, q4_0"),
        ("--kv-type f16,f16,f16", "more than keys and values"),
        ("--kv-type q8_0 --flash-attention off", "need flash attention"),
        ("--flash-attention maybe", "none of auto, on, off"),
        ("--batch 0", "at least 1"),
        ("--batch 70000", "The batch has to be from 1 to 65536"),
        ("--batch 128 --micro-batch 256", "--micro-batch cannot be larger than --batch"),
        ("--threads 1000", "The number of threads has to be"),
        ("--cpu-moe -1", "at least 0"),
        ("--parallel 17", "16"),
        ("--devices a,,b", "has an empty place"),
        ("--devices a,b --shares 1", "There are 1 shares for 2 devices."),
        ("--devices a,b --shares 1,x", "'x' is no number"),
        ("--devices a,b --shares 1,-1", "-1 has to be 0 or more"),
        ("--devices a,b --shares 0,0", "one of them above 0"),
        ("--shares 1,2", "--shares needs --devices"),
        ("--devices a,b --device a", "cannot be used together"),
        ("--devices a,b --split columns", "none of layer, row, tensor"),
        ("--devices a,b --split tensor --flash-attention off", "needs flash attention"),
        ("--rope-freq-base nan", "has to be finite"),
        ("--rope-freq-scale inf", "has to be finite"),
        ("--rope-scaling cubic", "none of model, none, linear, yarn"),
        ("--yarn-ext-factor 2", "has to be from 0 to 1, not 2"),
        ("--lora a.gguf:much", "'much' is no number"),
        ("--lora :1", "names no file"),
        ("--lora a.gguf:1000", "The scale of a LoRA adapter has to be"),
        ("--lora a.gguf --lora a.gguf:0.5", "named twice"),
        ("--mmap=yes", "ignored explicit argument"),
        ("--profile fast", "invalid choice"),
    ],
)
def test_wrong_use_is_2_and_a_sentence(line: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["chat", "model", "--prompt", "x", *line.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert words in err


def test_flags_reach_the_worker(vramble, fake_worker, model, tmp_path) -> None:
    journal = tmp_path / "journal.jsonl"
    fake_worker(journal=str(journal))
    line = "--kv-type q8_0,q4_0 --devices b,a --shares 3,1 --no-mmap --lora /x.gguf:2 --rope-scaling yarn"
    assert vramble("chat", model, "--prompt", "x", *line.split()).returncode == 0
    (load,) = [e["frame"] for e in journal_entries(journal) if e.get("frame", {}).get("type") == "load"]
    sent = load["options"]
    assert (sent["kv_type_k"], sent["kv_type_v"], sent["mmap"]) == ("q8_0", "q4_0", False)
    assert (sent["devices"], sent["shares"], sent["rope_scaling"]) == (["b", "a"], [3.0, 1.0], "yarn")
    assert sent["lora"] == [{"path": "/x.gguf", "scale": 2.0}]


CPU = DeviceInfo(
    id="CPU",
    backend="CPU",
    name="CPU",
    pci=None,
    kind=DeviceKind.CPU,
    memory_total=None,
    memory_free=9 * GIB,
    usable=True,
)
APU = DeviceInfo(
    id="Vulkan0",
    backend="Vulkan",
    name="Deck",
    pci="0000:04:00.0",
    kind=DeviceKind.IGPU,
    memory_total=None,
    memory_free=9 * GIB,
    usable=True,
)


@pytest.mark.parametrize(
    ("line", "size", "expected"),
    [
        ("", 7, {}),
        ("--profile none", 7, {}),
        ("--profile auto", 4, {"n_ubatch": 128, "mmap": False}),
        ("--profile auto", 7, {"n_ubatch": 128, "mmap": False, "kv_type_k": KvType.Q8_0, "kv_type_v": KvType.Q8_0}),
        ("--profile auto --micro-batch 512 --kv-type f16 --mmap", 7, {"mmap": True}),
        (
            "--profile auto --flash-attention off",
            7,
            {"n_ubatch": 128, "mmap": False, "flash_attention": FlashAttention.OFF},
        ),
        ("--profile auto --device cpu", 7, {"device": "cpu"}),
        ("--profile auto --gpu-layers 0", 7, {"n_gpu_layers": 0}),
    ],
)
def test_a_profile_is_asked_for_and_flags_go_before_it(tmp_path, line, size, expected) -> None:
    model = tmp_path / "model.gguf"
    with model.open("wb") as file:
        file.truncate(size * GIB)
    arguments = parsed(line)
    found = with_profile(read_load_flags(arguments), arguments, [CPU, APU], model)
    assert found == LoadOptions(**expected)


def test_warnings_are_for_those_who_asked_in_detail() -> None:
    assert not wants_warnings(parsed("--ctx 512 --gpu-layers 3 --device cpu"))
    for line in ("--devices a,b", "--kv-type q8_0", "--no-mmap", "--profile auto", "--kv-on-cpu"):
        assert wants_warnings(parsed(line))


GREEDY = ("--prompt", "ab ba", "--temp", "0", "--ctx", "256", "--max-tokens", "8", "--json", "--threads", "1")


@pytest.fixture
def small(tmp_path: Path) -> str:
    path = tmp_path / "small.gguf"
    path.write_bytes(small_llama())
    return str(path)


@pytest.mark.slow
def test_the_real_worker_takes_them(vramble, small, tmp_path) -> None:
    adapter = tmp_path / "style.gguf"
    adapter.write_bytes(lora_adapter(SMALL))
    texts = []
    for flags in ("", f"--lora {adapter}:0", f"--lora {adapter}", "--kv-type q8_0 --batch 64 --rope-scaling yarn"):
        done = vramble("chat", small, *GREEDY, *flags.split())
        assert done.returncode == 0, done.stderr
        texts.append(json.loads(done.stdout)["text"])
    assert texts[0] == texts[1] != texts[2]


def test_devices_that_are_gone_are_said(vramble, small) -> None:
    done = vramble("chat", small, *GREEDY, "--devices", "0000:fe:00.0,0000:ff:00.0")
    assert done.returncode == 0
    assert "The device 0000:fe:00.0 was not found." in done.stderr
    assert json.loads(done.stdout)["generated_tokens"] > 0


def test_an_adapter_that_is_gone_is_one_line(vramble, small) -> None:
    done = vramble("chat", small, *GREEDY, "--lora", "/nowhere/style.gguf")
    assert (done.returncode, done.stdout) == (1, "")
    assert one_line(done.stderr).startswith("vramble: The LoRA adapter style.gguf does not exist.")
