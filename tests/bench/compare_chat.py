"""Streaming chat of this program against other libraries that run llama.cpp in a user's program.

Same model file, threads, context, sampling and prompts; all have the model loaded at the same time and answer in
turns, in another order each round, so that other work on the machine hits all of them. A ratio above 1 means that
this program is faster (speed) or quicker (times). CPU time for each token is user and system time of a party's
processes over an answer; other work hardly changes it. ``--exclusive`` keeps other work away (``chrt``, needs the
right to it) for the seconds of each answer; give fewer ``--threads`` than there are processors then, or the receiver of
the text gets none, and only whole answers and CPU time say something. Use, in the checkout:

    .venv/bin/python -m tests.bench.compare_chat [--rounds 7] [--tokens 128] [--nice -5] [--exclusive]
        [--node-folder FOLDER] [--xllamacpp-python PYTHON] [--against NAME ...] [--json FILE]

FOLDER is where ``npm install node-llama-cpp@3.21.1`` was run; PYTHON is the interpreter of an environment with
``xllamacpp``. What is not installed is skipped, with the reason. Against llama-bench: `tests.bench.decode_ratio`.
"""

from __future__ import annotations

import argparse
import shutil
import signal
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

import msgspec

from tests.bench.alone import EXCLUSIVE, alone
from tests.bench.chat_parties.party import Party, PartyEnded, Request, Turn
from tests.bench.figures import machine, machine_line, table, write_json
from tests.engine.worker.driver import starter_model

OURS, LLAMA_CLASS, NODE, XLLAMACPP = "vramble", "llama-cpp-python", "node-llama-cpp", "xllamacpp"
NODE_PIN = "3.21.1"
PARTIES = Path(__file__).parent / "chat_parties"
PROMPT = "Story number {}: write a very long story about a lighthouse keeper and the sea. Do not stop early."
MOST_SEEDS = 30
REST_SECONDS = 1.0


class Skipped(Exception):  # noqa: N818 - no error
    """A party cannot take part; the text says why."""


class Measured(msgspec.Struct, frozen=True):
    """One party's turns, by round."""

    name: str
    turns: tuple[Turn, ...]


def command_of(name: str, options: argparse.Namespace) -> tuple[list[str], Path | None]:
    """Command line and folder of a party.

    Raises:
        Skipped: It is not installed.
    """
    if name == NODE:
        return _node(options.node_folder)
    if name == XLLAMACPP:
        return _xllamacpp(options.xllamacpp_python), None
    module = {OURS: "vramble", LLAMA_CLASS: "llama_class"}[name]
    return [sys.executable, "-m", f"tests.bench.chat_parties.{module}"], None


def _node(folder: Path | None) -> tuple[list[str], Path]:
    node = shutil.which("node")
    if node is None:
        raise Skipped("there is no node on the path")
    if folder is None or not (folder / "node_modules" / NODE / "package.json").is_file():
        raise Skipped(f"--node-folder names no folder in which {NODE}@{NODE_PIN} was installed")
    return [node, str(PARTIES / "node_llama.mjs")], folder


def _xllamacpp(python: Path | None) -> list[str]:
    interpreter = str(python or sys.executable)
    try:
        found = subprocess.run([interpreter, "-c", "import xllamacpp"], capture_output=True, check=False)
    except OSError as error:
        raise Skipped(f"{interpreter} cannot be run: {error}") from error
    if found.returncode:
        raise Skipped(f"xllamacpp is not installed for {interpreter}")
    return [interpreter, str(PARTIES / "xllamacpp_server.py")]


def start_parties(
    names: Sequence[str], options: argparse.Namespace, stack: ExitStack
) -> tuple[dict[str, Party], dict[str, str]]:
    """Those that run, and why the others do not."""
    running, skipped = {}, {}
    prefix = ["nice", "-n", str(options.nice)] if options.nice else []
    prefix += EXCLUSIVE if options.exclusive else []
    for name in names:
        try:
            command, folder = command_of(name, options)
            party = stack.enter_context(Party([*prefix, *command], folder))
            party.start({"model": str(options.model), "threads": options.threads, "context": 2048})
            running[name] = party
        except (Skipped, PartyEnded) as reason:
            skipped[name] = str(reason)
    return running, skipped


def full_turn(party: Party, number: int, tokens: int, temperature: float) -> Turn:
    """A turn that the limit ended; where a model ends too soon, another seed.

    Raises:
        PartyEnded: It died, or no seed gave an answer as long as wanted.
    """
    for seed in range(number * MOST_SEEDS, (number + 1) * MOST_SEEDS):
        turn = party.turn(Request(PROMPT.format(seed), tokens, seed, temperature))
        if turn.cut:
            return turn
    raise PartyEnded("no answer was as long as wanted")


def race(parties: dict[str, Party], rounds: int, tokens: int, temperature: float, rest: float) -> list[Measured]:
    """All rounds, after one short answer of each to warm up. The order turns from round to round.

    Args:
        rest: Seconds before each answer, for everybody else on the machine.
    """
    names = list(parties)
    turns: dict[str, list[Turn]] = {name: [] for name in names}
    for party in parties.values():
        full_turn(party, rounds, min(16, tokens), temperature)
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            time.sleep(rest)
            turns[name].append(full_turn(parties[name], number, tokens, temperature))
        rates = "  ".join(f"{name} {turns[name][-1].rate:.1f}" for name in names)
        print(f"round {number + 1}, tok/s: {rates}", flush=True)
    return [Measured(name, tuple(found)) for name, found in turns.items()]


def ratio(ours: Measured, theirs: Measured, figure: Callable[[Turn], float], *, more_is_better: bool = False) -> float:
    """Median over the rounds of how much better this program was; above 1: better."""
    pairs = [(figure(a), figure(b)) for a, b in zip(ours.turns, theirs.turns, strict=True)]
    return statistics.median(a / b if more_is_better else b / a for a, b in pairs)


def rows_of(measured: Sequence[Measured]) -> list[Sequence[object]]:
    """The table: medians of each party, and this program's ratio to it as medians of pairs."""
    ours = next(one for one in measured if one.name == OURS)
    head = ("", "tok/s", "first ms", "whole s", "CPU ms/tok", "| ratio:", "tok/s", "first", "whole", "CPU")
    rows: list[Sequence[object]] = [head]
    for one in measured:
        ratios = [
            ratio(ours, one, lambda turn: turn.rate, more_is_better=True),
            ratio(ours, one, lambda turn: turn.first),
            ratio(ours, one, lambda turn: turn.seconds),
            ratio(ours, one, lambda turn: turn.cpu_per_token),
        ]
        shown = ["-"] * 4 if one is ours else [f"{value:.3f}" for value in ratios]
        middle = [_median(one, figure) for figure in (lambda t: t.rate, lambda t: 1000 * t.first)]
        whole, cpu = _median(one, lambda t: t.seconds), _median(one, lambda t: 1000 * t.cpu_per_token)
        rows.append((one.name, *middle, f"{whole:.2f}", f"{cpu:.2f}", "|", *shown))
    return rows


def _median(one: Measured, figure: Callable[[Turn], float]) -> float:
    return statistics.median(figure(turn) for turn in one.turns)


def read_options(words: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line."""
    others = (LLAMA_CLASS, NODE, XLLAMACPP)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", type=Path, help="default: the starter model")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--temperature", type=float, default=0.7)
    parser.add_argument("--nice", type=int, default=0, help="priority of all parties; below 0 needs the right to it")
    parser.add_argument("--exclusive", action="store_true", help="real-time priority for all, with rests in between")
    parser.add_argument("--against", action="append", choices=others, help="default: all")
    parser.add_argument("--node-folder", type=Path)
    parser.add_argument("--xllamacpp-python", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(words)
    options.against = options.against or list(others)
    options.model = (options.model or starter_model()).absolute()
    return options


def main() -> int:
    """Race, print, write."""
    options = read_options()
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))  # parties at real-time priority must not be left
    with alone(options.exclusive), ExitStack() as stack:
        parties, skipped = start_parties([OURS, *options.against], options, stack)
        for name, reason in skipped.items():
            print(f"skipped {name}: {reason}")
        if OURS not in parties or len(parties) < 2:
            print("nothing to compare")
            return 1
        print(f"{options.model.name}, {options.threads} threads, {options.tokens} tokens, {machine_line()}")
        for party in parties.values():
            print(f"  {party.words}")
        before = machine()
        rest = REST_SECONDS if options.exclusive else 0.0
        measured = race(parties, options.rounds, options.tokens, options.temperature, rest)
    print(table(rows_of(measured)))
    print(f"Medians of {options.rounds} rounds, ratios are medians of pairs. At the end: {machine_line()}")
    write_json(options.json, {"before": before, "after": machine(), "skipped": skipped, "measured": measured})
    return 0


if __name__ == "__main__":
    sys.exit(main())
