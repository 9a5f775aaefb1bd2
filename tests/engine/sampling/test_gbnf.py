"""Grammars that are wrong are told before the engine is asked, and none that llama.cpp takes is refused."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import VrambleError
from engine.sampling.gbnf import check_grammar
from engine.sampling.json_schema import grammar_of
from tests.engine.sampling.walk import Bytes

GOOD = (
    'root ::= "yes" | "no"',
    'root ::= item+ # a list\nitem ::= "- " [^\\n]+ "\\n"',
    'root ::= (\n  "a" |\n  "b"\n){2,3} end?\nend ::= [.!?]',
    'root ::= "\\x41\\u00e9\\U0001F600\\"" .',
    "root ::= [a-zA-Z_-] [0-9]{3} tail*\ntail ::= [^\\]]",
    'root ::= ""',
    'root ::= a "x"\na ::= "b" root | "c"',
    '# nothing yet\n\nroot   ::=\n  "a"\n  \n',
    'root ::= "a"{0,3}',
)
BAD = {
    'answer ::= "a"': "it has no rule named root",
    'root ::= "a': 'line 1: " is not closed',
    'root ::= "a"\nother ::= [a': "line 2: [ is not closed",
    'root ::= ("a"': "line 1: a bracket is not closed",
    'root ::= "a")': "line 1: ) is not expected here",
    'root := "a"': "line 1: ::= is missing after root",
    'root ::= "a"\n"b"': "line 2: a rule has to begin with its name",
    'root ::= "a"\n\nroot ::= name': "line 3 uses the rule name, which is not there",
    'root ::= * "a"': "line 1: * has nothing before it",
    'root ::= root "a" | "b"': "the rule root begins with itself",
    'root ::= a\na ::= b? root\nb ::= "x"': "the rule root begins with itself",
    'root ::= "\\q"': "line 1: \\q is no character that can be written so",
    'root ::= "\\x4"': "line 1: \\x is no character that can be written so",
    "root ::= " + "(" * 300 + '"a"' + ")" * 300: "line 1: more than 200 brackets are open at once",
}


@pytest.mark.parametrize("text", GOOD)
def test_what_llama_cpp_takes(vocabulary: Bytes, text: str) -> None:
    check_grammar(text)
    vocabulary.grammar(text).close()


@pytest.mark.parametrize(("text", "reason"), BAD.items())
def test_what_is_wrong_is_named(vocabulary: Bytes, text: str, reason: str) -> None:
    with pytest.raises(VrambleError) as caught:
        check_grammar(text)
    assert caught.value.message == f"The grammar is not valid: {reason}."
    with pytest.raises(VrambleError):
        vocabulary.grammar(text)


@pytest.mark.parametrize(
    "schema", ['{"type": "object"}', '{"enum": ["a", 1, null]}', '{"type": "string", "format": "date"}']
)
def test_grammars_of_schemas(schema: str) -> None:
    check_grammar(grammar_of(schema))


PIECES = st.sampled_from(
    [
        "root",
        "::=",
        " ",
        "\n",
        '"a"',
        "[ab]",
        "(",
        ")",
        "|",
        "*",
        "+",
        "?",
        "{2}",
        "{1,2}",
        "b",
        "#x",
        ".",
        '""',
        "\\n",
        '"',
    ]
)


@settings(
    max_examples=200, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None
)
@given(st.lists(PIECES, max_size=14).map("".join))
def test_what_is_refused_is_refused_by_llama_cpp_too(vocabulary: Bytes, rest: str) -> None:
    text = f'root ::= "x" {rest}'
    try:
        check_grammar(text)
    except VrambleError:
        with pytest.raises(VrambleError):
            vocabulary.grammar(text)
