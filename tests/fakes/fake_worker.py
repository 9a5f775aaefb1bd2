"""A worker that plays a script instead of a model. It speaks the real protocol, also where it misbehaves.

    python tests/fakes/fake_worker.py --script script.json

The script is a JSON object, given as a file or, in ``FAKE_WORKER_SCRIPT``, as a file name or the JSON itself. An
empty object is a well-behaved worker that echoes the last user message. Keys, all optional:

    engine, protocol   what `hello` says
    backends, devices  lists of records for `hello` (default: CPU and one Vulkan GPU)
    hello              false: never says hello           hello_delay     seconds before it
    stdout             lines of noise on the frame channel before hello (raw text, "" is an empty line)
    stderr             log lines at the start
    ignore_sigterm     true: only SIGKILL ends it
    ignore_cancel      true: never reads `cancel`
    eof                "exit" (default), "ignore": goes on when stdin is closed
    journal            file that gets one JSON line for each received frame, and one for the start (GGML_* too)
    load, generate, list_devices, unload, self_test, reference, dry_run, bench, save_caches
                       one behaviour, or a list: one for each request of that kind, the last one repeats
    runs               list of objects laid over the script, one for each start of the process, the last one
                       repeats (the count is kept beside the script file, so a restart gets the next one)

A behaviour is an object:

    delay      seconds for each step or token
    steps      load: progress frames (default 4); save_caches: how many delays (default 1)
    info       load: fields of `ModelInfo` to replace
    text       generate: the answer (default: echo)      reason   finish reason (default stop or length)
    thinking   generate: the thought before it
    stages     generate: progress frames without figures, behind the prompt
    prompt     generate: prompt tokens counted up in progress frames (default 0)
    stats      generate: fields of `GenerationStats` to replace
    memory     dry_run: records of `MemoryUse`           caches   dry_run: their sum
    speed      bench: tokens a second by backend of the loaded model (default 20), or one number; prompts take a tenth
    tokens     bench: true: progress counts the generated tokens, in four parts
    power      bench: watts                          ram      bench: bytes a second of the RAM
    probe      self_test, reference: "ok" (default), "nan", "constant", "wrong", or why nothing was read off
    stderr     log lines when the request begins
    garbage    lines written between the frames
    double     true: the terminal frame is sent twice, then one for an unknown id
    cut        true: half of the terminal frame is sent, then the process ends with exit code 0
    gate       file: each step waits until it is there, or the request is cancelled
    gate_after number of steps or tokens that do not wait for it (default: none)
    after      number of steps or tokens before the event below (default: all of them)
    signal     event: the process ends by this signal, such as "SIGABRT"
    exit       event: the process ends with this exit code
    fail       event: `Failed` with these fields (code, message, next_step, detail)
    silence    event: nothing more is said, cancels are not answered; of a model that was loaded for several answers
               only this one
    hang       event: a native call that holds the interpreter lock for minutes
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import re
import resource
import select
import shlex
import signal
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

import msgspec

from engine.backends.placement import Placement, place
from engine.errors import VrambleError
from engine.protocol.bench import BenchSample
from engine.protocol.codec import encode, worker_input
from engine.protocol.frames import (
    PROTOCOL_VERSION,
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
    Request,
    SaveCaches,
    SelfTest,
    SelfTested,
    Unload,
    Unloaded,
)
from engine.protocol.probe import Candidate, Position, Probe
from engine.protocol.types import (
    BackendInfo,
    DeviceInfo,
    DeviceKind,
    FinishReason,
    GenerationStats,
    MemoryUse,
    ModelInfo,
)

GIB = 1024**3
SCRIPT_ENV = "FAKE_WORKER_SCRIPT"
UNKNOWN_ID = 999_999_999

CPU = DeviceInfo(
    id="CPU",
    backend="CPU",
    name="Fake processor",
    pci=None,
    kind=DeviceKind.CPU,
    memory_total=16 * GIB,
    memory_free=8 * GIB,
    usable=True,
)
GPU = DeviceInfo(
    id="Vulkan0",
    backend="Vulkan",
    name="Fake Radeon",
    pci="0000:03:00.0",
    kind=DeviceKind.GPU,
    memory_total=8 * GIB,
    memory_free=7 * GIB,
    usable=True,
)
BACKENDS = (
    BackendInfo(name="CPU", path="/fake/libggml-cpu.so", loaded=True),
    BackendInfo(name="Vulkan", path="/fake/libggml-vulkan.so", loaded=True),
)


def worker_command(script: dict[str, Any], folder: Path) -> str:
    """Write ``script`` below ``folder``; the value for ``VRAMBLE_WORKER_COMMAND`` that plays it."""
    path = folder / f"worker-{len(list(folder.glob('worker-*.json')))}.json"
    path.write_text(json.dumps(script), encoding="utf-8")
    return shlex.join([sys.executable, str(Path(__file__).resolve()), "--script", str(path)])


def journal_entries(path: Path) -> list[dict[str, Any]]:
    """What the fake worker wrote to its journal: starts and received frames, in order."""
    if not path.exists():
        return []
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def read_script(source: str) -> dict[str, Any]:
    """The script of a file name or of JSON text, with the part for this start laid over it."""
    if source.lstrip().startswith("{"):
        return dict(json.loads(source))
    path = Path(source)
    script: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    runs = script.pop("runs", None)
    if runs:
        counter = path.with_suffix(".count")
        count = int(counter.read_text(encoding="ascii")) if counter.exists() else 0
        counter.write_text(str(count + 1), encoding="ascii")
        script.update(runs[min(count, len(runs) - 1)])
    return script


def split_tokens(text: str) -> list[str]:
    """Words with the white space after them; one token each."""
    return re.findall(r"\S+\s*|\s+", text)


def fake_probe(kind: str = "ok", places: int = 8) -> Probe:
    """What a healthy or a faulty device gives; what is no known kind is a reason to give nothing."""
    choices = {
        "ok": range(10, 10 + places),
        "nan": range(10, 10 + places),
        "constant": [7] * places,
        "wrong": range(500, 500 + places),
    }
    if kind not in choices:
        return Probe(skipped=kind)
    positions = [
        Position(read=24 + index, best=(Candidate(token, -0.4), Candidate(40 + index, -1.2)))
        for index, token in enumerate(choices[kind])
    ]
    if kind == "nan":
        positions[-1] = Position(read=positions[-1].read, finite=False)
    return Probe(tokens=tuple(range(24 + places)), chosen=4, positions=tuple(positions))


class Channel:
    """Frames in and out. Reads only when asked to wait, so one thread is enough."""

    def __init__(self, script: dict[str, Any]) -> None:
        self._script = script
        self._out = os.dup(1)
        self._decoder = worker_input()
        self._open = True
        self.requests: deque[Request] = deque()
        self.cancelled: set[int] = set()

    def send(self, frame: FromWorker) -> None:
        self.raw(encode(frame))

    def raw(self, data: bytes) -> None:
        while data:
            data = data[os.write(self._out, data) :]

    def note(self, entry: dict[str, Any]) -> None:
        if path := self._script.get("journal"):
            with Path(path).open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")

    def wait(self, seconds: float | None) -> None:
        """Take in frames for ``seconds``; None: until the next piece of input."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = None if end is None else max(0.0, end - time.monotonic())
            if not self._open:
                time.sleep(3600 if left is None else left)
                return
            ready, _, _ = select.select([0], [], [], left)
            if ready:
                self._read()
            if end is None or time.monotonic() >= end:
                return

    def _read(self) -> None:
        data = os.read(0, 1 << 20)
        if not data:
            if self._script.get("eof", "exit") == "exit":
                os._exit(0)
            self._open = False
            return
        for frame in self._decoder.feed(data):
            self._take(frame)

    def _take(self, frame: object) -> None:
        self.note({"pid": os.getpid(), "frame": msgspec.to_builtins(frame)})
        if isinstance(frame, Cancel):
            if not self._script.get("ignore_cancel"):
                self.cancelled.add(frame.target)
        elif isinstance(frame, Load | Unload | Generate | ListDevices | SelfTest | DryRun | Bench | SaveCaches):
            self.requests.append(frame)


class Step:
    """What one request does at each of its steps: wait, garbage, the event of its behaviour."""

    def __init__(self, channel: Channel, behaviour: dict[str, Any], request: Request) -> None:
        self._channel, self._behaviour, self._request = channel, behaviour, request
        self._event = next((k for k in ("signal", "exit", "fail", "silence", "hang") if k in behaviour), None)
        self._done = 0

    def cancelled(self) -> bool:
        return self._request.id in self._channel.cancelled

    def goes_silent(self) -> bool:
        """The event of the behaviour is silence, and it is due."""
        return self._event == "silence" and self._done == self._behaviour.get("after", -1)

    def next(self) -> bool:
        """Before a step. False: the request ended by the event of the behaviour."""
        if self._event and self._done == self._behaviour.get("after", -1):
            return self.event()
        self._pass_gate()
        self._done += 1
        self._channel.wait(self._behaviour.get("delay", 0.0))
        self.garbage()
        return True

    def _pass_gate(self) -> None:
        gate = self._behaviour.get("gate")
        if gate and self._done >= self._behaviour.get("gate_after", 0):
            while not Path(gate).exists() and not self.cancelled():
                self._channel.wait(0.01)

    def garbage(self) -> None:
        for line in self._behaviour.get("garbage", ()):
            self._channel.raw(line.encode("utf-8", "surrogateescape") + b"\n")

    def event(self) -> bool:
        """What happens in place of the terminal frame. True: nothing, go on."""
        value: Any = self._behaviour.get(self._event or "")
        if self._event == "signal":
            die(str(value))
        if self._event == "exit":
            os._exit(int(value))
        if self._event == "fail":
            self.terminal(Failed(id=self._request.id, **value))
        elif self._event == "silence":
            while True:
                self._channel.wait(None)
        elif self._event == "hang":
            ctypes.PyDLL(None).sleep(600)
        return self._event is None

    def terminal(self, frame: FromWorker) -> None:
        data = encode(frame)
        if self._behaviour.get("cut"):
            self._channel.raw(data[: len(data) // 2])
            os._exit(0)
        self._channel.raw(data)
        if self._behaviour.get("double"):
            self._channel.raw(data)
            self._channel.send(Unloaded(id=UNKNOWN_ID))


def die(name: str) -> NoReturn:
    number = signal.Signals[name]
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if number not in (signal.SIGKILL, signal.SIGSTOP):
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)
    while True:
        time.sleep(1)


class FakeWorker:
    """Takes requests in order and answers each as scripted."""

    def __init__(self, script: dict[str, Any]) -> None:
        self._script = script
        self._channel = Channel(script)
        self._used: dict[str, int] = {}
        self._model: ModelInfo | None = None
        self._limit = 1
        self._devices = msgspec.convert(script.get("devices", (CPU, GPU)), tuple[DeviceInfo, ...])
        self._backends = msgspec.convert(script.get("backends", BACKENDS), tuple[BackendInfo, ...])

    def run(self) -> NoReturn:
        if self._script.get("ignore_sigterm"):
            signal.signal(signal.SIGTERM, signal.SIG_IGN)
        ggml = {name: value for name, value in os.environ.items() if name.startswith("GGML_")}
        self._channel.note({"pid": os.getpid(), "start": True, "ggml": ggml})
        self._log(self._script.get("stderr", ()))
        for line in self._script.get("stdout", ()):
            self._channel.raw(line.encode("utf-8", "surrogateescape") + b"\n")
        self._channel.wait(self._script.get("hello_delay", 0.0))
        if self._script.get("hello", True):
            self._hello()
        while True:
            while not self._channel.requests:
                self._channel.wait(None)
            request = self._channel.requests.popleft()
            if isinstance(request, Generate):
                self._answer_together(request)
            else:
                self._answer(request)

    def _hello(self) -> None:
        self._channel.send(
            Hello(
                protocol=self._script.get("protocol", PROTOCOL_VERSION),
                pid=os.getpid(),
                engine=self._script.get("engine", "fake worker 1"),
                backends=self._backends,
                devices=self._devices,
            )
        )

    def _log(self, lines: list[str] | tuple[str, ...]) -> None:
        os.write(2, "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape"))

    def _behaviour(self, kind: str) -> dict[str, Any]:
        found = self._script.get(kind, {})
        if isinstance(found, dict):
            return found
        index = self._used.get(kind, 0)
        self._used[kind] = index + 1
        return dict(found[min(index, len(found) - 1)]) if found else {}

    def _answer_together(self, request: Generate) -> None:
        """One step of each answer in turn; what is too much is refused, as the real worker does."""
        answers = [self._generate(request)]
        while answers:
            answers = [answer for answer in answers if next(answer, "end") is None]
            while self._channel.requests and (self._limit > 1 or not answers):
                if not answers and not isinstance(self._channel.requests[0], Generate):
                    return
                other = self._channel.requests.popleft()
                if isinstance(other, Generate) and len(answers) < self._limit:
                    answers.append(self._generate(other))
                else:
                    self._channel.send(Failed(id=other.id, code="busy", message="The engine is busy."))

    def _answer(self, request: Request) -> None:
        kind = str(request.__struct_config__.tag)
        if isinstance(request, SelfTest) and request.reference is not None:
            kind = "reference"
        behaviour = self._behaviour(kind)
        self._log(behaviour.get("stderr", ()))
        step = Step(self._channel, behaviour, request)
        if isinstance(request, Load):
            self._load(request, behaviour, step)
        elif isinstance(request, Bench):
            self._bench(request, behaviour, step)
        elif isinstance(request, SaveCaches):
            self._save(request, behaviour, step)
        elif step.next() and step.event():
            if isinstance(request, Unload):
                self._model = None
                step.terminal(Unloaded(id=request.id))
            elif isinstance(request, SelfTest):
                probe = fake_probe(behaviour.get("probe", "ok"))
                step.terminal(SelfTested(id=request.id, probe=probe, seconds=0.1))
            elif isinstance(request, DryRun):
                memory = msgspec.convert(behaviour.get("memory", ()), tuple[MemoryUse, ...])
                step.terminal(DryRan(id=request.id, memory=memory, caches=behaviour.get("caches", 0)))
            else:
                step.terminal(Devices(id=request.id, backends=self._backends, devices=self._devices))

    def _save(self, request: SaveCaches, behaviour: dict[str, Any], step: Step) -> None:
        for _ in range(behaviour.get("steps", 1)):
            if not step.next():
                return
            if step.cancelled():
                break
        if step.event():
            step.terminal(CachesSaved(id=request.id, complete=not step.cancelled()))

    def _load(self, request: Load, behaviour: dict[str, Any], step: Step) -> None:
        self._model = None
        steps = behaviour.get("steps", 4)
        for number in range(1, steps + 1):
            if not step.next():
                return
            if step.cancelled():
                step.terminal(Failed(id=request.id, code="cancelled", message="Loading was cancelled."))
                return
            self._channel.send(Progress(id=request.id, stage="load", done=number * 1000 // steps, total=1000))
        if not step.event():
            return
        self._model = self._info(request, behaviour.get("info", {}))
        self._limit = request.options.n_parallel
        step.terminal(Loaded(id=request.id, model=self._model, seconds=0.5))

    def _bench(self, request: Bench, behaviour: dict[str, Any], step: Step) -> None:
        test, model = request.test, self._model
        for number in range(1, 5 if test else 1):
            if not step.next():
                return
            if step.cancelled():
                step.terminal(Failed(id=request.id, code="cancelled", message="The benchmark was cancelled."))
                return
            total = test.generated if test and behaviour.get("tokens") else 4
            self._channel.send(Progress(id=request.id, stage="bench", done=number * total // 4, total=total))
        if not step.event():
            return
        if test is None or model is None:
            step.terminal(Benched(id=request.id, ram=behaviour.get("ram", 20e9)))
            return
        speed = behaviour.get("speed", 20.0)
        rate = speed.get(model.device.backend, 20.0) if isinstance(speed, dict) else speed
        sample = BenchSample(
            prompt_s=test.prompt / rate / 10 if test.prompt else None,
            generated_s=test.generated / rate if test.generated else None,
            power_w=behaviour.get("power"),
            drafted=behaviour.get("drafted", 0),
            accepted=behaviour.get("accepted", 0),
        )
        step.terminal(Benched(id=request.id, sample=sample, driver="libvulkan_fake.so of 2026-01-02"))

    def _info(self, request: Load, changes: dict[str, Any]) -> ModelInfo:
        placement = self._placement(request)
        device = placement.main
        info = ModelInfo(
            path=request.path,
            name=Path(request.path).stem,
            architecture="llama",
            quant="Q4_0",
            n_params=1_000_000,
            size_bytes=600_000,
            n_ctx=request.options.n_ctx,
            n_ctx_train=8192,
            n_layers=4,
            gpu_layers=0 if device.kind is DeviceKind.CPU else 4,
            device=device,
            devices=placement.devices,
            warnings=placement.warnings,
            device_warnings=placement.warnings,
        )
        return msgspec.convert({**msgspec.to_builtins(info), **changes}, ModelInfo)

    def _placement(self, request: Load) -> Placement:
        """Where the real worker would put it; without a CPU among the devices the first one."""
        try:
            return place(self._devices, self._backends, request.options, lambda _devices: False)
        except VrambleError:
            return Placement(self._devices[:1])

    def _generate(self, request: Generate) -> Iterator[None]:
        """One answer, step by step."""
        behaviour = self._behaviour("generate")
        self._log(behaviour.get("stderr", ()))
        step = Step(self._channel, behaviour, request)
        if self._model is None:
            step.terminal(
                Failed(id=request.id, code="no-model", message="No model is loaded.", next_step="Load a model first.")
            )
            return
        yield from self._begin(request, behaviour, step)
        tokens = split_tokens(behaviour.get("text", self._echo(request)))
        wanted = tokens if request.max_tokens is None else tokens[: request.max_tokens]
        reason = FinishReason.STOP if len(wanted) == len(tokens) else FinishReason.LENGTH
        sent = 0
        for token in wanted:
            if self._limit > 1 and step.goes_silent():
                while True:  # only this answer: the others go on
                    self._channel.wait(behaviour.get("delay", 0.01))
                    yield
            if not step.next():
                return
            if step.cancelled():
                reason = FinishReason.CANCELLED
                break
            sent += 1
            self._channel.send(Delta(id=request.id, text=token, tokens=sent, tps=20.0))
            yield
        if not step.event():
            return
        reason = reason if reason is FinishReason.CANCELLED else FinishReason(behaviour.get("reason", reason))
        step.terminal(Finished(id=request.id, reason=reason, stats=self._stats(request, sent, behaviour)))

    def _begin(self, request: Generate, behaviour: dict[str, Any], step: Step) -> Iterator[None]:
        """What comes before the first word."""
        prompt, delay = int(behaviour.get("prompt", 0)), behaviour.get("delay", 0.0)
        for number in range(1, prompt + 1):
            self._channel.wait(delay)
            if step.cancelled():
                break
            self._channel.send(Progress(id=request.id, stage="prompt", done=number, total=prompt))
            yield
        for stage in behaviour.get("stages", ()):
            self._channel.send(Progress(id=request.id, stage=stage, done=0, total=0))
        for piece in split_tokens(behaviour.get("thinking", "")):
            self._channel.wait(delay)
            self._channel.send(Delta(id=request.id, text="", thinking=piece))

    @staticmethod
    def _echo(request: Generate) -> str:
        return next((m.content for m in reversed(request.messages) if m.role == "user"), "")

    @staticmethod
    def _stats(request: Generate, sent: int, behaviour: dict[str, Any]) -> GenerationStats:
        words = sum(len(split_tokens(m.content)) for m in request.messages)
        stats = GenerationStats(
            prompt_tokens=words,
            generated_tokens=sent,
            ttft_ms=12.5,
            prefill_tps=100.0,
            decode_tps=20.0 if sent > 1 else 0.0,
        )
        return msgspec.structs.replace(stats, **behaviour.get("stats", {}))


def main() -> NoReturn:
    parser = argparse.ArgumentParser(description="Fake worker")
    parser.add_argument("--script", default=os.environ.get(SCRIPT_ENV, "{}"))
    FakeWorker(read_script(parser.parse_args().script)).run()


if __name__ == "__main__":
    main()
