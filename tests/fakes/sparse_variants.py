"""More architectures for `tests.fakes.sparse_gguf`: windows of other kinds, recurrent and hybrid models."""

from __future__ import annotations

from tests.fakes.sparse_gguf import Model, Sizes, Weight, attention, ends, entries, expert_weights, feed_forward
from tests.fakes.tiny_gguf import ARR, I32, U32, Value


def gemma2(sizes: Sizes, window: int = 512) -> Model:
    """Every second layer has a window."""
    weights = ends(sizes, "F16", tied=True)
    for layer in range(sizes.layers):
        weights += attention(layer, sizes, "F16") + feed_forward(layer, sizes, "F16")
        norms = ("post_attention_norm", "post_ffw_norm")
        weights += [Weight(f"blk.{layer}.{norm}.weight", (sizes.width,), "F32") for norm in norms]
    return Model(entries("gemma2", sizes, attention__sliding_window=(U32, window)), weights)


def gpt_oss(sizes: Sizes, window: int = 128, count: int = 4) -> Model:
    """Windows in every second layer, mixtures of experts with biases, and attention sinks."""
    weights = ends(sizes, "F16", tied=False)
    for layer in range(sizes.layers):
        block, inner, pairs = f"blk.{layer}", sizes.heads * sizes.head, sizes.kv_heads * sizes.head
        weights += [w for w in attention(layer, sizes, "F16") if "ffn_norm" not in w.name]
        weights += expert_weights(layer, sizes.width, sizes.ff, count, "F16")
        biases = {
            "post_attention_norm.weight": (sizes.width,),
            "attn_sinks.weight": (sizes.heads,),
            "attn_q.bias": (inner,),
            "attn_k.bias": (pairs,),
            "attn_v.bias": (pairs,),
            "attn_output.bias": (sizes.width,),
            "ffn_gate_inp.bias": (count,),
            "ffn_gate_exps.bias": (sizes.ff, count),
            "ffn_up_exps.bias": (sizes.ff, count),
            "ffn_down_exps.bias": (sizes.width, count),
        }
        weights += [Weight(f"{block}.{name}", dims, "F32") for name, dims in biases.items()]
    own: dict[str, Value] = {
        "attention__sliding_window": (U32, window),
        "expert_count": (U32, count),
        "expert_used_count": (U32, 2),
        "expert_feed_forward_length": (U32, sizes.ff),
    }
    return Model(entries("gpt-oss", sizes, **own), weights)


INNER, STATES, GROUPS, CONVOLUTION = 512, 64, 1, 4


def mamba2(sizes: Sizes) -> Model:
    """No attention at all: a state of fixed size."""
    weights, ranks, mixed = ends(sizes, "F16", tied=True), 8, INNER + 2 * GROUPS * STATES
    for layer in range(sizes.layers):
        shapes = {
            "attn_norm.weight": (sizes.width,),
            "ssm_conv1d.weight": (CONVOLUTION, mixed),
            "ssm_conv1d.bias": (mixed,),
            "ssm_dt.bias": (ranks,),
            "ssm_a": (1, ranks),
            "ssm_d": (1, ranks),
            "ssm_norm.weight": (INNER // GROUPS, GROUPS),
        }
        weights += [Weight(f"blk.{layer}.{name}", dims, "F32") for name, dims in shapes.items()]
        weights.append(Weight(f"blk.{layer}.ssm_in.weight", (sizes.width, INNER + mixed + ranks)))
        weights.append(Weight(f"blk.{layer}.ssm_out.weight", (INNER, sizes.width)))
    own: dict[str, Value] = {
        "ssm__conv_kernel": (U32, CONVOLUTION),
        "ssm__inner_size": (U32, INNER),
        "ssm__state_size": (U32, STATES),
        "ssm__time_step_rank": (U32, ranks),
        "ssm__group_count": (U32, GROUPS),
        "attention__head_count": (U32, 0),
        "attention__head_count_kv": (U32, 0),
    }
    return Model(entries("mamba2", sizes, **own), weights)


def lfm2(sizes: Sizes) -> Model:
    """Short convolutions, and attention in every third layer."""
    kv_heads = [sizes.kv_heads if layer % 3 == 2 else 0 for layer in range(sizes.layers)]
    weights = [w for w in ends(sizes, "F16", tied=True) if w.name != "output_norm.weight"]
    weights.append(Weight("token_embd_norm.weight", (sizes.width,), "F32"))
    for layer in range(sizes.layers):
        block = f"blk.{layer}"
        weights += feed_forward(layer, sizes, "F16")
        if kv_heads[layer]:
            weights += attention(layer, sizes, "F16")
            norms = ("attn_q_norm", "attn_k_norm")
            weights += [Weight(f"{block}.{norm}.weight", (sizes.head,), "F32") for norm in norms]
            continue
        weights += [
            Weight(f"{block}.attn_norm.weight", (sizes.width,), "F32"),
            Weight(f"{block}.ffn_norm.weight", (sizes.width,), "F32"),
            Weight(f"{block}.shortconv.conv.weight", (3, sizes.width), "F32"),
            Weight(f"{block}.shortconv.in_proj.weight", (sizes.width, 3 * sizes.width)),
            Weight(f"{block}.shortconv.out_proj.weight", (sizes.width, sizes.width)),
        ]
    own: dict[str, Value] = {
        "shortconv__l_cache": (U32, 3),
        "attention__head_count_kv": (ARR, (I32, kv_heads)),
    }
    return Model(entries("lfm2", sizes, **own), weights)
