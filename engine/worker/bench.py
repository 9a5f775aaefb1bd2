"""Times a loaded model the way llama-bench does, in plain decode calls.

What is timed is that of ``test_prompt`` and ``test_gen`` in llama.cpp's ``tools/llama-bench/llama-bench.cpp``: prompts
are random tokens in slices of ``n_batch``, the first one the begin-of-text token where the model wants one; generation
decodes one token at a time and waits for each, without sampling; the cache is emptied before each run, and tokens for
a depth are read before the clock starts. Where a test is ``greedy`` the likeliest token is taken, as an answer would,
and what the model was loaded with guesses for it (`engine.worker.bench_ahead`).
"""

from __future__ import annotations

import ctypes
import random
import time
from collections.abc import Callable

import numpy as np

from engine.errors import VrambleError
from engine.protocol.bench import BenchSample, BenchTest
from engine.worker.bench_ahead import GuessedGeneration
from engine.worker.cancel import CancelFlag
from engine.worker.model import LoadedModel
from engine.worker.power import PowerMeter
from engine.worker.prompt import DECODE_OK, PromptCancelled, decode, decode_problem

REPORT_SECONDS = 0.25
"""Between two reports of progress while tokens are generated."""

Progress = Callable[[int, int], None]


class Benchmark:
    """One run of one test.

    Args:
        progress: Called with tokens done and of how many, warm-up and depth counted.
        meter: Tells the power of the GPUs while tokens are generated.
    """

    def __init__(
        self,
        loaded: LoadedModel,
        test: BenchTest,
        cancel: CancelFlag,
        progress: Progress,
        meter: PowerMeter,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._loaded, self._test, self._cancel = loaded, test, cancel
        self._progress, self._meter, self._clock = progress, meter, clock
        self._done = self._total = 0
        self._random = random.Random(test.context)
        self._guessed: GuessedGeneration | None = None

    def run(self, *, warm: bool = False) -> BenchSample:
        """Warm up unless ``warm``, go to the depth, and time the test once. The cache keeps the depth's tokens.

        Raises:
            VrambleError: ``cancelled``, ``context-exceeded``, and what a decode call can end in.
        """
        test, cache = self._test, self._loaded.cache
        if test.context > self._loaded.info.n_ctx:
            message = f"{test.name} needs a context of {test.context} tokens; there are {self._loaded.info.n_ctx}."
            raise VrambleError("context-exceeded", message, "Load the model with a longer context.")
        warm_up = 0 if warm else test.prompt + (test.warm_up if test.generated else 0)
        there = self._keep_depth()
        self._total = warm_up + test.depth - there + test.prompt + test.generated
        try:
            if not warm:
                self._warm_up()
            self._go_to_depth()
            sample = self._time()
        except BaseException as error:
            cache.clear()
            if isinstance(error, PromptCancelled):
                raise VrambleError("cancelled", "The benchmark was cancelled.") from None
            raise
        if not test.depth:
            cache.clear()
        return sample

    def _keep_depth(self) -> int:
        """Drop what lies behind the depth, or everything where the depth is not there; how many tokens are kept."""
        depth, cache = self._test.depth, self._loaded.cache
        if not depth or len(cache.tokens) < depth or cache.reuse([*cache.tokens[:depth], -1]) != depth:
            cache.clear()
        return len(cache.tokens)

    def _warm_up(self) -> None:
        test = self._test
        self._read(self._slices(test.prompt))
        if test.generated:
            self._generate(min(test.warm_up, test.generated))
        self._keep_depth()

    def _go_to_depth(self) -> None:
        missing = self._test.depth - len(self._loaded.cache.tokens)
        self._read(self._slices(max(0, missing)))

    def _time(self) -> BenchSample:
        test, clock = self._test, self._clock
        prompt_s = generated_s = power = None
        if test.prompt:
            slices = self._slices(test.prompt)
            start = clock()
            self._read(slices)
            prompt_s = clock() - start
        if test.generated:
            self._meter.begin()
            start = clock()
            self._generate(test.generated)
            generated_s = clock() - start
            power = self._meter.end()
        guessed = self._guessed
        return BenchSample(
            prompt_s=prompt_s,
            generated_s=generated_s,
            power_w=power,
            drafted=guessed.drafted if guessed else 0,
            accepted=guessed.accepted if guessed else 0,
        )

    def _slices(self, count: int) -> list[list[int]]:
        """``count`` random tokens behind what is in the cache, in the pieces that one decode call takes each."""
        loaded = self._loaded
        tokens = [self._random.randrange(loaded.vocabulary.size) for _ in range(count)]
        if tokens and not loaded.cache.tokens:
            tokens[0] = self._first()
        return [tokens[start : start + loaded.n_batch] for start in range(0, count, loaded.n_batch)]

    def _read(self, slices: list[list[int]]) -> None:
        for tokens in slices:
            if self._cancel.is_set:
                raise PromptCancelled
            decode(self._loaded, (ctypes.c_int32 * len(tokens))(*tokens), len(tokens))
            self._loaded.cache.tokens += tokens
            self._report(len(tokens))

    def _first(self) -> int:
        vocabulary = self._loaded.vocabulary
        begins = vocabulary.adds_bos and vocabulary.bos >= 0
        return vocabulary.bos if begins else self._random.randrange(vocabulary.size)

    def _generate(self, count: int) -> None:
        """``count`` tokens, one decode call for each. Nothing but that happens in the loop, a report now and then."""
        loaded, cancel, clock, greedy = self._loaded, self._cancel, self._clock, self._test.greedy
        api, context = loaded.llama.api, loaded.context
        llama_decode, synchronize, logits = api.llama_decode, api.llama_synchronize, api.llama_get_logits_ith
        choices = [self._random.randrange(loaded.vocabulary.size) for _ in range(count)]
        token = ctypes.c_int32(self._next_greedy() if greedy and loaded.cache.tokens else self._first())
        if greedy and self._generate_ahead(token.value, count):
            return
        batch = api.llama_batch_get_one(ctypes.pointer(token), 1)
        shape, told, reported = (loaded.vocabulary.size,), 0, clock()
        for index in range(count):
            result = llama_decode(context, batch)
            synchronize(context)
            if result != DECODE_OK:
                raise decode_problem(loaded, result)
            token.value = int(np.ctypeslib.as_array(logits(context, -1), shape).argmax()) if greedy else choices[index]
            now = clock()
            if now - reported > REPORT_SECONDS:
                reported = now
                self._report(index + 1 - told)
                told = index + 1
                self._meter.look()
            if cancel.is_set:
                raise PromptCancelled
        loaded.cache.tokens += choices
        self._report(count - told)

    def _generate_ahead(self, first: int, count: int) -> bool:
        """Generate with guesses; false: nothing guesses."""
        guessed = GuessedGeneration(self._loaded)
        if not guessed.on:
            return False
        told, reported = 0, self._clock()

        def tell(done: int) -> None:
            nonlocal told, reported
            now = self._clock()
            if now - reported > REPORT_SECONDS or done == count:
                reported = now
                self._report(done - told)
                told = done
                self._meter.look()

        self._guessed = guessed
        guessed.run(first, count, self._cancel, tell)
        return True

    def _next_greedy(self) -> int:
        """What the model expects after what it has read."""
        pointer = self._loaded.llama.api.llama_get_logits_ith(self._loaded.context, -1)
        return int(np.ctypeslib.as_array(pointer, (self._loaded.vocabulary.size,)).argmax())

    def _report(self, count: int) -> None:
        self._done += count
        self._progress(min(self._done, self._total), self._total)
