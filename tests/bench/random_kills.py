"""Random kills of the worker and of the window: nothing shown may be lost, nothing may be left running.

The services of the window (worker service, chat, store) run with the real worker and a real model. The worker is killed
by a random signal at a random moment: while it loads, reads a prompt, writes an answer, or does nothing. After each
kill another message has to be answered. At the end the database is compared with what was shown before each kill. Use,
in the checkout:

    .venv/bin/python -m tests.bench.random_kills [--kills 200] [--window-kills 20] [--model FILE] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from engine.chat.records import Status
from engine.chat.store import Store
from engine.client.session import WorkerState
from tests.bench.figures import machine, machine_line, write_json
from tests.bench.kill_tally import Tally, show
from tests.bench.windowless import LOAD, LONG_QUESTION, Windowless, alive, paths_below
from tests.engine.worker.driver import starter_model

SIGNALS = (signal.SIGKILL, signal.SIGSEGV, signal.SIGABRT)
MOMENTS = ("load", "prompt", "generation", "idle")
LONG_ANSWER, SHORT_ANSWER = 400, 4
"""Tokens."""

PATIENCE = 60.0
SAVED_EVERY = 1.0
"""Seconds: what was shown longer ago has to outlive the window."""

WINDOW_SECONDS = (0.2, 8.0)


@dataclass(frozen=True)
class Shown:
    """An answer as it stood on the screen when its worker was killed."""

    conversation: str
    message: str
    text: str


class WorkerKills:
    """Kills of the worker of one running program."""

    def __init__(self, home: Path, model: Path, seed: int) -> None:
        self._home = home
        self._window = Windowless(home, model)
        self._random = random.Random(seed)
        self._shown: list[Shown] = []
        self.tally = Tally.empty()

    def run(self, count: int) -> Tally:
        """``count`` kills, then the comparison with the database."""
        for number in range(count):
            self._window.services.chat.new_conversation()
            self._kill(MOMENTS[number % len(MOMENTS)], self._random.choice(SIGNALS))
            if (number + 1) % 20 == 0:
                print(f"   {number + 1} kills, lost {len(self.tally.lost)}, stuck {len(self.tally.stuck)}", flush=True)
        if not self._window.close():
            self.tally.stuck.append("the program did not close")
        self._compare()
        return self.tally

    def _kill(self, moment: str, number: signal.Signals) -> None:
        self._lead_to(moment)
        window, worker = self._window, self._window.services.worker
        processes, row = window.processes(), window.answer
        if not processes:
            self.tally.stuck.append(f"{moment}: no worker to kill, {worker.state}")
            return
        at = self._moment_now()
        self._remember()
        begin = time.monotonic()
        os.kill(processes[0].pid, number)
        self.tally.kills[at] += 1
        self.tally.signals[number.name] += 1
        noticed = window.wait(lambda: worker.pid != processes[0].pid and not window.services.chat.busy, PATIENCE)
        after = window.answer
        if not noticed:
            self.tally.stuck.append(f"{at} {number.name}: busy {window.services.chat.busy}, {worker.state}")
        elif row is not None and (after is None or not after.text.startswith(row.text)):
            self.tally.lost.append(f"{at} {number.name}: gone from the window: {row.text[-40:]!r}")
        self._go_on(at, begin)
        self.tally.orphans += [f"{at} {number.name}: {process}" for process in alive(processes)]

    def _lead_to(self, moment: str) -> None:
        """Bring the program to a moment of this kind, or just past it."""
        window, chance = self._window, self._random.uniform
        if moment == "load":
            window.services.worker.load(window.model, LOAD, lambda _end: None)
            window.wait(lambda: window.services.worker.state is WorkerState.LOADING, PATIENCE)
            window.run_for(chance(0.0, 0.4))
            return
        if window.services.worker.state is not WorkerState.READY and not window.load():
            self.tally.stuck.append(f"{moment}: no model, {window.services.worker.state}")
        if moment == "idle":
            window.run_for(chance(0.0, 0.5))
            return
        window.ask(LONG_QUESTION if moment == "prompt" else "Tell a very long story.", LONG_ANSWER)
        window.wait(lambda: window.services.worker.state is WorkerState.GENERATING, PATIENCE)
        if moment == "generation":
            window.wait(lambda: bool(window.answer and window.answer.text), PATIENCE)
        window.run_for(chance(0.0, 1.5))

    def _moment_now(self) -> str:
        state, row = self._window.services.worker.state, self._window.answer
        if state is WorkerState.GENERATING:
            return "generation" if row is not None and row.text else "prompt"
        return {WorkerState.LOADING: "load", WorkerState.READY: "idle", WorkerState.IDLE: "idle"}.get(state, str(state))

    def _remember(self) -> None:
        row, current = self._window.answer, self._window.services.chat.current
        if row is not None and current is not None:
            self._shown.append(Shown(current.id, row.id, row.text))

    def _go_on(self, at: str, begin: float) -> None:
        """The next message is answered, in the same conversation."""
        window = self._window
        if not window.ask("Go on.", SHORT_ANSWER):
            self.tally.stuck.append(f"{at}: the next message was not taken")
            return
        window.wait(lambda: not window.services.chat.busy, PATIENCE)
        row = window.answer
        if row is None or row.status is not Status.DONE:
            self.tally.stuck.append(
                f"{at}: the next message: {row.status if row else None}, {row.error if row else ''}"
            )
            return
        self._remember()
        self.tally.back.append(time.monotonic() - begin)

    def _compare(self) -> None:
        stored = stored_texts(self._home)
        for shown in self._shown:
            text, status = stored.get(shown.message, (None, None))
            if text is None or not text.startswith(shown.text):
                self.tally.lost.append(f"{shown.message}: {shown.text[-40:]!r} is not in {(text or '')[-40:]!r}")
            if status is Status.STREAMING:
                self.tally.stuck.append(f"{shown.message} is still streaming")


def stored_texts(home: Path) -> dict[str, tuple[str, Status]]:
    """All messages in the database: id to text and status."""
    store = Store.open(paths_below(home).database)
    try:
        threads = [store.thread(conversation.id) for conversation in store.conversations()]
    finally:
        store.close()
    return {m.id: (m.text, m.status) for thread in threads if thread for m in thread.messages}


def kill_windows(home: Path, model: Path, count: int, seed: int) -> Tally:
    """Kill whole programs while their worker works; what they had saved has to be there, and no process."""
    chance, tally = random.Random(seed), Tally.empty()
    for number in range(count):
        folder = home / f"window-{number}"
        folder.mkdir()
        lines, name = _one_window(folder, model, chance)
        last = lines[-1]
        tally.kills[last["state"]] += 1
        tally.signals[name] += 1
        left = _still_there(last["pids"], 5.0)
        tally.orphans += [f"{last['state']} {name}: {process}" for process in left]
        sure = [line for line in lines if line["message"] and line["time"] <= last["time"] - SAVED_EVERY - 0.5]
        if sure:
            text, _ = stored_texts(folder).get(sure[-1]["message"], ("", Status.FAILED))
            if not text.startswith(sure[-1]["text"]):
                tally.lost.append(f"{name}: {sure[-1]['text'][-40:]!r} is not in {text[-40:]!r}")
    return tally


def _one_window(folder: Path, model: Path, chance: random.Random) -> tuple[list[dict[str, Any]], str]:
    """Start a program, kill it at a random moment; its reports and the signal's name."""
    command = [sys.executable, "-m", "tests.bench.windowless", str(folder), str(model)]
    number, lines = chance.choice(SIGNALS), []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as program:
        assert program.stdout is not None
        due = None
        with selectors.DefaultSelector() as selector:
            selector.register(program.stdout, selectors.EVENT_READ)
            while due is None or time.monotonic() < due:
                if selector.select(0.05):
                    line = program.stdout.readline()
                    if not line:
                        raise RuntimeError(f"the program ended by itself: {program.wait()}")
                    lines.append(json.loads(line))
                if due is None and lines and lines[-1]["pids"]:
                    due = time.monotonic() + chance.uniform(*WINDOW_SECONDS)
        os.kill(program.pid, number)
    return lines, number.name


def _still_there(pids: list[int], seconds: float) -> list[psutil.Process]:
    """Which of the processes outlive the window by so much."""
    processes = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    end = time.monotonic() + seconds
    while alive(processes) and time.monotonic() < end:
        time.sleep(0.05)
    return alive(processes)


def main() -> int:
    """Kill, compare, print. Exit code 1: something was lost, stuck or left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200, help="of the worker")
    parser.add_argument("--window-kills", type=int, default=20)
    parser.add_argument("--model", type=Path, help="default: the starter model")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", type=Path, help="write the figures there")
    options = parser.parse_args()
    model = options.model or starter_model()
    print(machine_line(), flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        worker = WorkerKills(folder / "worker", model, options.seed).run(options.kills)
        window = kill_windows(folder, model, options.window_kills, options.seed)
    print(show(worker, window))
    print(machine_line())
    write_json(options.json, {"machine": machine(), "worker": worker.figures(), "window": window.figures()})
    return int(any([worker.lost, worker.stuck, worker.orphans, window.lost, window.orphans]))


if __name__ == "__main__":
    sys.exit(main())
