"""How tokens are chosen, as far as it can be said without a model: limits, and grammars made from JSON schemas."""
