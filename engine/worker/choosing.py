"""Everything that chooses the tokens of one answer: biases, sampler chain, grammar."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from engine.errors import VrambleError
from engine.protocol.types import DeviceKind, Sampling
from engine.sampling.check import check_sampling
from engine.sampling.json_schema import grammar_of
from engine.worker.constraint import Constraint
from engine.worker.grammar import Grammar
from engine.worker.graph_top_k import CANDIDATES
from engine.worker.model import LoadedModel
from engine.worker.picker import Picker
from engine.worker.sampler import Sampler

LAST_ROW: Final = -1
"""The row of the last logits of a call."""


class Chooser:
    """Made for each request; close it. ``endless``: tokens that end the turn are never chosen.

    Raises:
        VrambleError: ``bad-sampling``, ``bad-grammar``, ``bad-json-schema``.
    """

    def __init__(self, loaded: LoadedModel, sampling: Sampling, *, endless: bool = False) -> None:
        check_sampling(sampling)
        vocabulary = loaded.vocabulary
        self._constraint = _constraint(loaded, sampling)
        forbidden = {*vocabulary.suppressed, *(vocabulary.endings if endless else ())}
        self._sampler = Sampler(
            loaded.llama,
            sampling,
            n_vocab=vocabulary.size,
            n_ctx=loaded.info.n_ctx,
            vocab=vocabulary.pointer,
            forbidden=sorted(forbidden) if loaded.graph.on else (),
        )
        need = self._sampler.needed_candidates
        few = need is not None and need + len(forbidden) <= CANDIDATES
        self.is_content_with_candidates = few and not sampling.logit_bias and self._constraint is None
        """The best `CANDIDATES` tokens decide, and nothing has to be added to their logits."""

        biases = {entry.token: entry.bias for entry in sampling.logit_bias}
        biases |= dict.fromkeys(forbidden, float("-inf"))
        cold = loaded.info.device.kind is DeviceKind.CPU
        self._picker = Picker(loaded.llama, loaded.context, self._sampler, vocabulary.size, biases, cold=cold)
        self.pick = self._picker.pick
        self.has_grammar = self._constraint is not None

    def take_candidates(self, on: bool) -> None:
        """From the next decode call on `GraphTopK` gives the candidates, or all logits come back."""
        self.pick = self._picker.pick_of_candidates if on else self._picker.pick

    def remember(self, tokens: Iterable[int]) -> None:
        """Let tokens that were not chosen here count for the penalties."""
        self._sampler.remember(tokens)

    def look_in(self, row: int) -> None:
        """From now on the logits for the next token are in ``row`` of the last call."""
        self._picker.row = row

    def pick_from(self, row: int | None) -> int:
        """The next token by the logits in ``row`` of the last call, None: where `look_in` said. Then the last ones."""
        if row is not None:
            self._picker.row = row
        try:
            return self.pick()
        finally:
            self._picker.row = LAST_ROW

    def constrain(self, on: bool, openers: Iterable[int] = ()) -> None:
        """Keep the next tokens to the grammar, if there is one, or let them be free.

        Args:
            openers: Tokens that may come in spite of it.
        """
        self._picker.constraint = self._constraint if on else None
        if self._constraint is not None:
            self._constraint.openers = frozenset(openers)

    def follow(self, tokens: Sequence[int]) -> None:
        """Begin the grammar with text that is there already.

        Raises:
            VrambleError: ``bad-grammar``: it does not fit.
        """
        constraint = self._constraint
        for token in tokens if constraint is not None else ():
            if constraint is None or not constraint.allows(token):
                raise VrambleError(
                    "bad-grammar",
                    "The beginning of the answer does not fit the grammar.",
                    "Let the model answer again from the start.",
                )
            constraint.accept(token)

    def close(self) -> None:
        """Free what is native."""
        self._sampler.close()
        if self._constraint is not None:
            self._constraint.close()


def _constraint(loaded: LoadedModel, sampling: Sampling) -> Constraint | None:
    text = grammar_of(sampling.json_schema) if sampling.json_schema.strip() else sampling.grammar
    if not text.strip():
        return None
    vocabulary = loaded.vocabulary
    grammar = Grammar(loaded.llama, vocabulary.pointer, text)
    end = vocabulary.end_of_text
    silent = [token for token in vocabulary.silent if token != end and vocabulary.piece(token) is not None]
    return Constraint(grammar, ends=vocabulary.ends, end=end, silent=silent, piece=vocabulary.piece)
