"""Frames of every kind with any text, for property tests."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from engine.protocol.bench import BenchSample, BenchTest
from engine.protocol.frames import (
    Bench,
    Benched,
    CachesSaved,
    Cancel,
    Delta,
    Devices,
    DryRan,
    DryRun,
    Failed,
    Finished,
    FromWorker,
    Generate,
    Hello,
    ListDevices,
    Load,
    Loaded,
    Progress,
    SaveCaches,
    SelfTest,
    SelfTested,
    ToWorker,
    Unload,
    Unloaded,
)
from engine.protocol.probe import Candidate, Position, Probe, Reference
from engine.protocol.types import (
    BackendInfo,
    ChatMessage,
    DeviceInfo,
    DeviceKind,
    FinishReason,
    FlashAttention,
    GenerationStats,
    LoadOptions,
    LogitBias,
    MemoryUse,
    ModelInfo,
    Sampling,
    Thinking,
)

clean_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
any_text = st.text(st.characters(), max_size=30)
"""Lone surrogates included."""

ids = st.integers(0, 2**53)
counts = st.integers(0, 2**62)
numbers = st.floats(0, 1e9, allow_nan=False)


def _records(text: SearchStrategy[str]) -> dict[str, SearchStrategy]:
    device = st.builds(
        DeviceInfo,
        id=text,
        backend=text,
        name=text,
        pci=st.none() | text,
        kind=st.sampled_from(DeviceKind),
        memory_total=st.none() | counts,
        memory_free=st.none() | counts,
        usable=st.booleans(),
        reason=st.none() | text,
    )
    backend = st.builds(BackendInfo, name=text, path=text, loaded=st.booleans(), error=st.none() | text)
    memory = st.builds(MemoryUse, device=text, weights=counts, kv=counts, compute=counts, output=counts)
    model = st.builds(
        ModelInfo,
        path=text,
        name=text,
        architecture=text,
        quant=text,
        n_params=counts,
        size_bytes=counts,
        n_ctx=counts,
        n_ctx_train=counts,
        n_layers=counts,
        gpu_layers=counts,
        device=device,
        device_reason=st.none() | text,
        memory=st.lists(memory, max_size=2).map(tuple),
        template_source=text,
        warnings=st.lists(text, max_size=2).map(tuple),
    )
    return {
        "device": st.lists(device, max_size=2).map(tuple),
        "backend": st.lists(backend, max_size=2).map(tuple),
        "model": model,
        "memory": st.lists(memory, max_size=2).map(tuple),
    }


options = st.builds(
    LoadOptions,
    n_ctx=counts,
    n_gpu_layers=st.integers(-1, 200),
    device=st.none() | clean_text,
    n_batch=counts,
    n_ubatch=counts,
    n_threads=counts,
    flash_attention=st.sampled_from(FlashAttention),
    mmap=st.none() | st.booleans(),
)
sampling = st.builds(
    Sampling,
    temperature=numbers,
    top_k=counts,
    top_p=numbers,
    min_p=numbers,
    typical_p=numbers,
    xtc_probability=numbers,
    repeat_penalty=numbers,
    frequency_penalty=numbers,
    repeat_last_n=counts,
    dry_multiplier=numbers,
    dry_sequence_breakers=st.lists(clean_text, max_size=3).map(tuple),
    mirostat=st.integers(0, 2),
    logit_bias=st.lists(st.builds(LogitBias, token=counts, bias=numbers), max_size=3).map(tuple),
    grammar=clean_text,
    json_schema=clean_text,
    seed=st.none() | counts,
)
thinking = st.builds(Thinking, enabled=st.none() | st.booleans(), budget=st.none() | counts)
stats = st.builds(
    GenerationStats,
    prompt_tokens=counts,
    cached_tokens=counts,
    generated_tokens=counts,
    thinking_tokens=counts,
    ttft_ms=numbers,
    prefill_tps=numbers,
    decode_tps=numbers,
)


candidates = st.builds(Candidate, token=counts, logprob=numbers)
positions = st.builds(Position, read=counts, finite=st.booleans(), best=st.lists(candidates, max_size=3).map(tuple))
probes = st.builds(
    Probe,
    tokens=st.lists(counts, max_size=5).map(tuple),
    chosen=counts,
    positions=st.lists(positions, max_size=3).map(tuple),
)

bench_tests = st.builds(BenchTest, prompt=counts, generated=counts, depth=counts, greedy=st.booleans(), warm_up=counts)
bench_samples = st.builds(
    BenchSample, prompt_s=st.none() | numbers, generated_s=st.none() | numbers, power_w=st.none() | numbers
)


def to_worker(text: SearchStrategy[str]) -> SearchStrategy[ToWorker]:
    """Every frame the window sends."""
    message = st.builds(ChatMessage, role=text, content=text, thinking=text)
    return st.one_of(
        st.builds(Load, id=ids, path=text, options=options),
        st.builds(Unload, id=ids),
        st.builds(
            Generate,
            id=ids,
            messages=st.lists(message, max_size=3).map(tuple),
            sampling=sampling,
            max_tokens=st.none() | counts,
            stop=st.lists(text, max_size=2).map(tuple),
            thinking=thinking,
            prefill=text,
            prefill_thinking=text,
        ),
        st.builds(ListDevices, id=ids),
        st.builds(DryRun, id=ids, path=text, options=options),
        st.builds(SaveCaches, id=ids, seconds=numbers),
        st.builds(Bench, id=ids, test=st.none() | bench_tests, warm=st.booleans(), begun=st.booleans()),
        st.builds(
            SelfTest,
            id=ids,
            reference=st.none() | st.builds(Reference, path=text, options=options, probe=probes),
        ),
        st.builds(Cancel, target=ids),
    )


def from_worker(text: SearchStrategy[str], id_: SearchStrategy[int] = ids) -> SearchStrategy[FromWorker]:
    """Every frame the worker sends."""
    parts = _records(text)
    return st.one_of(
        st.builds(Hello, protocol=counts, pid=ids, engine=text, backends=parts["backend"], devices=parts["device"]),
        st.builds(Progress, id=id_, stage=text, done=counts, total=counts),
        st.builds(Delta, id=id_, text=text, tokens=counts, tps=numbers, thinking=text),
        st.builds(Loaded, id=id_, model=parts["model"], seconds=numbers),
        st.builds(Unloaded, id=id_),
        st.builds(Finished, id=id_, reason=st.sampled_from(FinishReason), stats=stats, thinking_open=st.booleans()),
        st.builds(Devices, id=id_, backends=parts["backend"], devices=parts["device"]),
        st.builds(
            DryRan,
            id=id_,
            memory=parts["memory"],
            caches=counts,
            gpu_layers=counts,
            flash_attention=st.none() | st.booleans(),
            seconds=numbers,
        ),
        st.builds(SelfTested, id=id_, probe=probes, seconds=numbers),
        st.builds(CachesSaved, id=id_, complete=st.booleans()),
        st.builds(Benched, id=id_, sample=bench_samples, ram=st.none() | numbers, driver=text),
        st.builds(Failed, id=id_, code=text, message=text, next_step=text, detail=text),
    )


def cut(data: bytes, places: list[int]) -> list[bytes]:
    """``data`` in pieces, cut at ``places`` (taken modulo its length)."""
    edges = sorted({0, len(data), *(place % (len(data) + 1) for place in places)})
    return [data[start:end] for start, end in itertools.pairwise(edges)]
