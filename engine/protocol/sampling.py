"""How the next token is chosen."""

from __future__ import annotations

import msgspec


class LogitBias(msgspec.Struct, frozen=True):
    """Added to the logit of one token before anything else; -inf cannot be written in JSON, -1000 forbids as surely."""

    token: int
    bias: float


DRY_BREAKERS = ("\n", ":", '"', "*")
"""Where DRY forgets what it has counted: llama.cpp's own list."""


class Sampling(msgspec.Struct, frozen=True, kw_only=True):
    """Sampling parameters, named as in llama.cpp, whose order of steps they keep. Limits: `engine.sampling.check`.

    Attributes:
        temperature: 0 is greedy.
        top_k: Keep the k best tokens; 0 keeps all.
        top_p: Keep the best tokens up to this share of the probability; 1 keeps all.
        min_p: Drop tokens below this share of the best one's probability; 0 keeps all.
        typical_p: Locally typical sampling, share of the probability that is kept; 1 keeps all.
        top_n_sigma: Keep logits within so many standard deviations of the best; 0 or less keeps all.
        xtc_probability: How often the best of the likely tokens are dropped; 0 never.
        xtc_threshold: What XTC takes for likely; above 0.5 nothing is dropped.
        dynatemp_range: The temperature moves so far to both sides, by entropy; 0 leaves it.
        dynatemp_exponent: How entropy maps to temperature.
        repeat_penalty: Divides the logits of tokens that were there before; 1 changes nothing.
        frequency_penalty: Taken from a logit for each time the token was there.
        presence_penalty: Taken from a logit once when the token was there.
        repeat_last_n: How many tokens the three penalties remember; -1 the whole context, 0 none.
        dry_multiplier: Strength of the penalty on repeated sequences; 0 switches DRY off.
        dry_base: Growth of that penalty with each further token.
        dry_allowed_length: Sequences up to this length, tokens, may repeat freely.
        dry_penalty_last_n: How many tokens DRY looks back; -1 the whole context, 0 none.
        dry_sequence_breakers: Texts that end a sequence.
        mirostat: 1 or 2 take the place of all steps but temperature and the biases; 0 is off.
        mirostat_tau: Surprise that Mirostat aims at.
        mirostat_eta: How fast Mirostat learns.
        logit_bias: See `LogitBias`.
        grammar: GBNF; the answer (not the thought before it) keeps to it. Empty for none.
        json_schema: JSON Schema as JSON text, in place of ``grammar``. Empty for none.
        seed: None is random.
    """

    temperature: float = 0.7
    top_k: int = 40
    top_p: float = 0.95
    min_p: float = 0.05
    typical_p: float = 1.0
    top_n_sigma: float = -1.0
    xtc_probability: float = 0.0
    xtc_threshold: float = 0.1
    dynatemp_range: float = 0.0
    dynatemp_exponent: float = 1.0
    repeat_penalty: float = 1.0
    frequency_penalty: float = 0.0
    presence_penalty: float = 0.0
    repeat_last_n: int = 64
    dry_multiplier: float = 0.0
    dry_base: float = 1.75
    dry_allowed_length: int = 2
    dry_penalty_last_n: int = -1
    dry_sequence_breakers: tuple[str, ...] = DRY_BREAKERS
    mirostat: int = 0
    mirostat_tau: float = 5.0
    mirostat_eta: float = 0.1
    logit_bias: tuple[LogitBias, ...] = ()
    grammar: str = ""
    json_schema: str = ""
    seed: int | None = None
