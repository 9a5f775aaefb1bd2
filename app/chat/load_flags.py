"""The options of a load on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from app.chat.numbers import between, finite, not_negative, whole
from app.paths import find_paths
from engine.errors import VrambleError
from engine.library.argument import find_model_file
from engine.loading.check import MAX_DRAFT, MAX_PARALLEL, check_options
from engine.loading.profile import device_to_expect, profile_for, room_on
from engine.protocol.types import (
    DeviceInfo,
    FlashAttention,
    KvType,
    LoadOptions,
    LoraAdapter,
    RopeScaling,
    SplitMode,
)

E = TypeVar("E", bound=StrEnum)

AUTO, NONE = "auto", "none"

_YARN = {
    "yarn_ext_factor": "share of extrapolation, 0 to 1",
    "yarn_attn_factor": "scale of the attention",
    "yarn_beta_fast": "rotations above which nothing is interpolated",
    "yarn_beta_slow": "rotations below which all is interpolated",
}
_PLAIN = (
    ("ctx", "n_ctx"),
    ("gpu_layers", "n_gpu_layers"),
    *((name, name) for name in ("device", "devices", "shares", "split", "flash_attention", "mmap", "lora", "mmproj")),
    ("batch", "n_batch"),
    ("micro_batch", "n_ubatch"),
    ("threads", "n_threads"),
    ("parallel", "n_parallel"),
    ("cpu_moe", "n_cpu_moe"),
    ("kv_on_cpu", "kv_on_cpu"),
    *((name, name) for name in ("draft", "draft_gpu_layers", "ngram", "draft_p_min")),
    ("draft_max", "n_draft"),
    ("draft_min", "n_draft_min"),
    *((name, name) for name in ("rope_scaling", "rope_freq_base", "rope_freq_scale", "yarn_orig_ctx", *_YARN)),
)
"""Name of the argument -> field of `LoadOptions`."""

_SPOKEN_OF = {"ctx", "gpu_layers", "device"}
"""What a short command uses; warnings of the load are not shown for these alone."""


def add_load_flags(parser: argparse.ArgumentParser) -> None:
    """Add the flags. None is the default of each, so that what was given is known."""
    group = parser.add_argument_group("how the model is loaded")
    add = group.add_argument
    add("--ctx", metavar="N", type=whole(0), help="context length in tokens, 0: the model's own")
    add("--gpu-layers", metavar="N", type=whole(-1), help="layers on the GPU, -1: all (default)")
    add("--device", metavar="D", help="PCI address or id from `vramble devices`, or cpu")
    add("--devices", metavar="A,B", type=_names, help="several devices, in this order")
    add("--shares", metavar="X,Y", type=_shares, help="how much each of them takes (default: by free memory)")
    add("--split", type=_one_of(SplitMode), metavar=_listed(SplitMode), help="what is shared out (default layer)")
    add(
        "--kv",
        "--kv-type",
        dest="kv_type",
        type=_kv_types,
        metavar="K[,V]",
        help=f"KV cache: {_listed(KvType)}; keys and values may differ",
    )
    add("--kv-on-cpu", action="store_true", default=None, help="keep the KV cache in RAM")
    add("--flash-attention", type=_one_of(FlashAttention), metavar=_listed(FlashAttention), help="(default auto)")
    add("--batch", metavar="N", type=whole(1), help="most prompt tokens in one step (default 512)")
    add("--micro-batch", metavar="N", type=whole(1), help="tokens computed at once (default 512)")
    add("--threads", metavar="N", type=whole(0), help="CPU threads, 0: the physical cores (default)")
    add("--parallel", metavar="N", type=whole(1, MAX_PARALLEL), help="room for N answers at once, sharing the context")
    add("--mmap", action=argparse.BooleanOptionalAction, help="map the file into memory (default: where it helps)")
    add("--cpu-moe", metavar="N", type=whole(0), help="keep the experts of the first N layers in RAM")
    add("--lora", metavar="FILE[:SCALE]", type=_lora, action="append", help="LoRA adapter; may be repeated")
    add("--mmproj", metavar="FILE", type=_file, help="image encoder that is loaded with the model")
    add("--profile", choices=(NONE, AUTO), default=NONE, help="auto: options that suit the device")
    _add_guess_flags(parser.add_argument_group("guessing ahead (speculative decoding)"))
    _add_rope_flags(parser.add_argument_group("longer contexts"))


def _add_guess_flags(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--draft", metavar="MODEL", type=_model, help="a smaller model with the same vocabulary, which guesses")
    add("--draft-gpu-layers", metavar="N", type=whole(-1), help="its layers on the GPU, -1: all (default)")
    add("--ngram", action="store_true", default=None, help="guess from what stands in the conversation already")
    add("--draft-max", metavar="N", type=whole(1, MAX_DRAFT), help="most tokens guessed at once (default 8)")
    add("--draft-min", metavar="N", type=whole(1, MAX_DRAFT), help="fewer guessed tokens are not tried (default 1)")
    add("--draft-p-min", metavar="P", type=between(0, 1), help="a guess ends below it (default 0.6); 0: always guess")


def _add_rope_flags(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--rope-scaling", type=_one_of(RopeScaling), metavar=_listed(RopeScaling), help="(default: the model's)")
    add("--rope-freq-base", metavar="X", type=not_negative, help="RoPE base frequency")
    add("--rope-freq-scale", metavar="X", type=not_negative, help="RoPE frequency scale, 0.5: twice the context")
    add("--yarn-orig-ctx", metavar="N", type=whole(0), help="context that YaRN stretches")
    for name, words in _YARN.items():
        add(f"--{name.replace('_', '-')}", metavar="X", type=not_negative, help=f"YaRN: {words}")


def read_load_flags(arguments: argparse.Namespace) -> LoadOptions:
    """The options as given; what makes no sense ends the command with exit code 2."""
    error: Callable[[str], Any] = arguments.parser.error
    if arguments.device is not None and arguments.devices is not None:
        error("--device and --devices cannot be used together")
    if arguments.shares is not None and arguments.devices is None:
        error("--shares needs --devices")
    if arguments.batch and arguments.micro_batch and arguments.micro_batch > arguments.batch:
        error("--micro-batch cannot be larger than --batch")
    options = with_flags(LoadOptions(), arguments)
    try:
        check_options(options)
    except VrambleError as problem:
        error(problem.sentence)
    return options


def with_flags(base: LoadOptions, arguments: argparse.Namespace) -> LoadOptions:
    """``base`` with what was given on the command line."""
    given = {field: getattr(arguments, name) for name, field in _PLAIN if getattr(arguments, name) is not None}
    if arguments.kv_type is not None:
        given["kv_type_k"], given["kv_type_v"] = arguments.kv_type
    if arguments.lora is not None:
        given["lora"] = tuple(arguments.lora)
    return msgspec.structs.replace(base, **given)


def with_profile(
    options: LoadOptions, arguments: argparse.Namespace, devices: Sequence[DeviceInfo], model: Path
) -> LoadOptions:
    """``options``, or where ``--profile auto`` was given those that suit the device; flags go before the profile."""
    if arguments.profile != AUTO:
        return options
    wanted = options.devices[0] if options.devices else options.device
    device = device_to_expect(devices, wanted, options.n_gpu_layers)
    if device is None:
        return options
    base = profile_for(device.kind, room_on(device, devices), _size(model))
    if options.flash_attention is FlashAttention.OFF:
        base = msgspec.structs.replace(base, kv_type_k=KvType.F16, kv_type_v=KvType.F16)
    return with_flags(base, arguments)


def wants_warnings(arguments: argparse.Namespace) -> bool:
    """Whether the load was asked for in such detail that its warnings belong on the terminal."""
    names = [name for name, _ in _PLAIN if name not in _SPOKEN_OF] + ["kv_type"]
    return arguments.profile == AUTO or any(getattr(arguments, name) is not None for name in names)


def _size(model: Path) -> int | None:
    try:
        return model.stat().st_size
    except OSError:
        return None


def _listed(kind: type[StrEnum]) -> str:
    return "|".join(kind)


def _one_of(kind: type[E]) -> Callable[[str], E]:
    def parse(text: str) -> E:
        try:
            return kind(text.lower())
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is none of {', '.join(kind)}") from None

    return parse


def _kv_types(text: str) -> tuple[KvType, KvType]:
    kinds = [_one_of(KvType)(part.strip()) for part in text.split(",")]
    if len(kinds) > 2:
        raise argparse.ArgumentTypeError(f"{text!r} names more than keys and values")
    return kinds[0], kinds[-1]


def _names(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(","))
    if not all(names):
        raise argparse.ArgumentTypeError(f"{text!r} has an empty place")
    return names


def _shares(text: str) -> tuple[float, ...]:
    return tuple(not_negative(part.strip()) for part in text.split(","))


def _file(text: str) -> str:
    return str(Path(text).absolute())


def _lora(text: str) -> LoraAdapter:
    """A path, and a scale behind the last colon unless the colon belongs to the name of a file that is there."""
    path, colon, scale = text.rpartition(":")
    if not colon or Path(text).exists():
        return LoraAdapter(path=str(Path(text).absolute()))
    if not path:
        raise argparse.ArgumentTypeError(f"{text!r} names no file")
    return LoraAdapter(path=str(Path(path).absolute()), scale=finite(scale))


def _model(text: str) -> str:
    """The file that the words for a model mean."""
    return str(find_model_file(find_paths(), text).absolute())
