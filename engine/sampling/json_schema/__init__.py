"""From a JSON schema to a grammar (GBNF) whose every text is JSON of that schema."""

from engine.sampling.json_schema.convert import grammar_of
from engine.sampling.json_schema.problem import bad_schema

__all__ = ["bad_schema", "grammar_of"]
