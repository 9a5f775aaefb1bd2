"""Whatever a grammar made from a schema lets through is JSON of that schema."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.errors import VrambleError
from engine.sampling.json_schema import grammar_of
from tests.engine.sampling.validator import valid
from tests.engine.sampling.walk import Bytes

SCHEMAS: dict[str, Any] = {
    "anything": {},
    "true": True,
    "flat": {
        "type": "object",
        "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "ok": {"type": "boolean"}},
        "required": ["name", "age"],
    },
    "all optional": {"properties": {"a": {"type": "null"}, "b": {"type": "null"}, "c": {"type": "null"}}},
    "optional first": {
        "properties": {"a": {"type": "null"}, "b": {"type": "null"}, "c": {"type": "null"}},
        "required": ["b"],
        "additionalProperties": False,
    },
    "others": {
        "properties": {"ab": {"type": "integer"}, "abc": {"type": "integer"}},
        "required": ["abc"],
        "additionalProperties": {"type": "null"},
    },
    "map": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 1},
    "required but not described": {"type": "object", "required": ["x"], "additionalProperties": {"type": "null"}},
    "nested": {
        "type": "array",
        "items": {"type": "object", "properties": {"p": {"type": "array", "items": {"type": "number"}}}},
        "minItems": 1,
        "maxItems": 3,
    },
    "enum": {"enum": ["red", 'a "quote"', "back\\slash", "line\nend", "ünïcode 名前", 5, None, {"a": [1]}]},
    "const": {"properties": {"kind": {"const": "x"}, "n": {"const": 3}}, "required": ["kind", "n"]},
    "any of": {"anyOf": [{"type": "integer", "minimum": 3, "maximum": 3}, {"type": "string", "maxLength": 2}]},
    "one of with a base": {
        "type": "object",
        "properties": {"id": {"type": "integer"}},
        "required": ["id"],
        "oneOf": [{"properties": {"a": {"const": 1}}, "required": ["a"]}, {"properties": {"b": {"const": 2}}}],
    },
    "all of": {
        "allOf": [
            {"properties": {"a": {"type": "integer", "minimum": 1}}, "required": ["a"]},
            {"properties": {"a": {"maximum": 5}, "b": {"type": "null"}}, "required": ["b"]},
        ]
    },
    "reference": {
        "$defs": {"point": {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "null"}], "items": False}},
        "properties": {"from": {"$ref": "#/$defs/point"}, "to": {"$ref": "#/$defs/point"}},
        "required": ["from"],
    },
    "recursive": {
        "type": "object",
        "properties": {"v": {"type": "null"}, "next": {"anyOf": [{"$ref": "#"}, {"type": "null"}]}},
        "required": ["v", "next"],
    },
    "recursive, as pydantic writes it": {
        "definitions": {
            "Node": {
                "title": "Node",
                "properties": {"child": {"allOf": [{"$ref": "#/definitions/Node"}], "title": "C"}},
            }
        },
        "allOf": [{"$ref": "#/definitions/Node"}],
        "description": "x",
    },
    "recursive beside another keyword": {
        "$defs": {"n": {"properties": {"c": {"$ref": "#/$defs/n", "required": []}}}},
        "$ref": "#/$defs/n",
    },
    "escaped pointer": {"$defs": {"a/b~c": {"const": 1}}, "items": {"$ref": "#/$defs/a~1b~0c"}},
    "types": {"type": ["string", "null", "integer"]},
    "length": {"type": "string", "minLength": 2, "maxLength": 5},
    "pattern": {"type": "string", "pattern": r'^([A-Z]{2,3}-\d+|"quoted"|\\\w?)$'},
    "numbers": {"type": "number", "minimum": -1.5, "maximum": 2.25},
    "small numbers": {"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 0.02},
    "open numbers": {"type": "number", "minimum": 1e6},
    "huge integers": {"type": "integer", "minimum": -(10**20)},
    "tuple": {"prefixItems": [{"type": "integer"}, {"type": "null"}], "items": {"type": "boolean"}, "minItems": 3},
    "property names": {"properties": {'q"\\\n': {"const": 1}, "é": {"const": 2}}, "required": ['q"\\\n', "é"]},
    "a property that must not be": {"properties": {"a": False, "b": {"const": 1}}, "additionalProperties": True},
}


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_text_fits(name: str, vocabulary: Bytes) -> None:
    schema = SCHEMAS[name]
    grammar = grammar_of(json.dumps(schema))
    texts = [vocabulary.draw(grammar, seed) for seed in range(12)]
    ended = [text for text in texts if text is not None]
    assert len(ended) >= 6, grammar
    for text in ended:
        assert valid(json.loads(text), schema), text


FITTING: list[tuple[Any, list[str], list[str]]] = [
    (SCHEMAS["optional first"], ['{"b":null}', '{"a":null,"b":null}', '{"b": null, "c": null}'], ['{"a":null}', "{}"]),
    (SCHEMAS["others"], ['{"abc":1,"ac":null}', '{"ab":2,"abc":1,"":null}'], ['{"abc":1,"ab":null}']),
    (SCHEMAS["enum"], ['"red"', "5", "null", '{"a":[1]}'], ['"blue"', "6"]),
    (SCHEMAS["length"], ['"ab"', '"abcde"', '"\\n名"'], ['"a"', '"abcdef"']),
    (SCHEMAS["pattern"], ['"AB-1"', '"\\"quoted\\""', '"\\\\x"'], ['"A-1"', '"AB-1 "']),
    ({"pattern": "ab+c"}, ['"abc"', '"\\u0020xabbbc\\""'], ['"ac"', '"ab"', "1"]),
    ({"pattern": r"^[^\s]\.(?:x|y){1,2}?$|^é\u0041[\w-]$"}, ['"ü.xy"', '"éA-"'], ['" .x"', '"a.z"', '"éB-"']),
    (SCHEMAS["numbers"], ["0", "-1", "2", "1.500", "-1.5", "2.250"], ["-2", "3", "2.260", "-1.510"]),
    ({"type": "integer", "minimum": 7, "maximum": 1205}, ["7", "99", "100", "1205"], ["6", "1206", "07", "9999"]),
    ({"const": 10**28 + 1}, ["10000000000000000000000000001"], ["10000000000000000000000000000"]),
    ({"type": "integer", "minimum": 10**28 + 1, "maximum": 10**28 + 1}, [str(10**28 + 1)], [str(10**28)]),
    ({"type": "integer", "exclusiveMaximum": -7}, ["-8", "-10", "-123"], ["-7", "0", "5"]),
    ({"minimum": 3, "exclusiveMinimum": True, "type": "integer"}, ["4", "10"], ["3", "2"]),
    ({"format": "date"}, ['"2024-02-28"', '"1999-12-31"'], ['"2024-02-30"', '"2024-13-01"', '"24-01-01"']),
    ({"format": "ipv4"}, ['"192.168.0.255"'], ['"256.0.0.1"', '"1.2.3"']),
    ({"format": "date-time"}, ['"2024-01-31T23:59:59Z"'], ['"2024-01-31"']),
    ({"format": "a format of its own"}, ['"free"'], ["1"]),
    ({"type": "array", "maxItems": 0}, ["[]", "[ ]"], ["[1]"]),
    ({"type": "array", "items": {"type": "null"}, "minItems": 2}, ["[null,null]"], ["[null]", "[]"]),
    ({"type": "string"}, ['"\\u00e9 \\" é"'], ['"a\nb"', "'a'"]),
]


@pytest.mark.parametrize(("schema", "good", "bad"), FITTING, ids=lambda value: json.dumps(value)[:60])
def test_what_fits_and_what_does_not(schema: Any, good: list[str], bad: list[str], vocabulary: Bytes) -> None:
    grammar = grammar_of(json.dumps(schema))
    assert [text for text in good if not vocabulary.accepts(grammar, text)] == []
    assert [text for text in bad if vocabulary.accepts(grammar, text)] == []


REFUSED: list[tuple[str, str]] = [
    ("{", "is not JSON"),
    ("[]", "neither an object nor true"),
    ('{"const": NaN}', "NaN is no number of JSON"),
    ('{"enum": [1e999], "type": "integer"}', "1e999 is no number of JSON"),
    ('{"format": []}', "format has to be a text"),
    ('{"required": [1]}', "required has to list names"),
    ('{"minLength": -1}', "minLength has to be a whole number"),
    ("false", "allows nothing"),
    ('{"type":"strang"}', "'strang' is not known"),
    ('{"not":{}}', "not cannot be kept"),
    ('{"$ref":"other.json"}', "another document"),
    ('{"$ref":"#/$defs/x"}', "leads nowhere"),
    ('{"$ref":"#"}', "refers to itself"),
    ('{"anyOf":[{"$ref":"#"},{"type":"null"}]}', "refers to itself"),
    ('{"allOf":[{"$ref":"#"},{"type":"object"}]}', "refers to itself"),
    ('{"type":"integer","minimum":2,"maximum":1}', "no whole number"),
    ('{"type":"integer","minimum":0.1,"maximum":0.9}', "no whole number"),
    ('{"type":"number","minimum":2,"exclusiveMaximum":2}', "no number"),
    ('{"type":"integer","minimum":"1"}', "minimum is no number"),
    ('{"minLength":5,"maxLength":2}', "minimum above its maximum"),
    ('{"minItems":5000}', "minimum above 1000"),
    ('{"enum":[]}', "not empty"),
    ('{"enum":["a"],"type":"integer"}', "no value"),
    ('{"pattern":"("}', "bracket"),
    ('{"pattern":"a)"}', "bracket too many"),
    ('{"pattern":"(?=a)"}', "looking ahead"),
    ('{"pattern":"[b-a]"}', "wrong way round"),
    ('{"pattern":"a**"}', "two quantifiers"),
    ('{"pattern":"\\\\1"}', "has \\1"),
    ('{"pattern":"[^\\\\s\\\\S]"}', "is empty"),
    ('{"properties":{"a":{}},"required":["b"],"additionalProperties":false}', "'b' is not allowed"),
    ('{"allOf":[{"type":"object"},{"type":"string"}]}', "two types"),
    (json.dumps({"items": {}}).replace("{}", '{"items":' * 100 + "{}" + "}" * 100), "levels deep"),
    ("[" * 100_000, "is not JSON"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=lambda value: value[:50])
def test_what_gives_no_grammar_is_refused_with_the_reason(text: str, reason: str) -> None:
    with pytest.raises(VrambleError) as caught:
        grammar_of(text)
    assert caught.value.code == "bad-json-schema"
    assert reason in caught.value.message


WORDS = (
    *("type", "properties", "required", "additionalProperties", "minProperties", "items", "prefixItems", "minItems"),
    *("maxItems", "pattern", "format", "minLength", "maxLength", "minimum", "exclusiveMaximum", "enum", "const"),
    *("anyOf", "oneOf", "allOf", "$ref", "title", "not", "additionalItems"),
)
VALUES = ["object", "string", "integer", "#", "#/a/0", "date", "^a+$", "[", -1, 0, 3, 2.5, 10**50, True, False, None]


@settings(max_examples=400, deadline=None)
@given(
    st.recursive(
        st.sampled_from(VALUES),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(WORDS), inner, max_size=4)
        ),
        max_leaves=12,
    )
)
def test_nonsense_is_refused_and_never_breaks(schema: Any) -> None:
    code, grammar = "", ""
    try:
        grammar = grammar_of(json.dumps(schema))
    except VrambleError as error:
        code = error.code
    assert grammar.startswith("root ::= ") or code == "bad-json-schema"


names = st.sampled_from(["a", "ab", "abc", "b", 'q"', "", "ü"])
leaves = st.one_of(
    st.just({"type": "null"}),
    st.just({"type": "boolean"}),
    st.builds(
        lambda low, span: {"type": "integer", "minimum": low, "maximum": low + span}, st.integers(), st.integers(0, 999)
    ),
    st.builds(
        lambda low, span: {"type": "number", "minimum": low, "maximum": low + span},
        st.integers(-5, 5).map(lambda tenths: tenths / 10),
        st.integers(0, 30).map(lambda tenths: tenths / 10),
    ),
    st.builds(
        lambda low, span: {"type": "string", "minLength": low, "maxLength": low + span},
        st.integers(0, 3),
        st.integers(0, 3),
    ),
    st.builds(
        lambda values: {"enum": values},
        st.lists(st.one_of(st.text(max_size=4), st.integers(), st.none()), min_size=1, max_size=3),
    ),
)


def larger(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    objects = st.builds(
        lambda properties, needed, others: {
            "type": "object",
            "properties": properties,
            "required": [name for name in needed if name in properties],
            **({} if others is None else {"additionalProperties": others}),
        },
        st.dictionaries(names, inner, max_size=3),
        st.lists(names, max_size=3, unique=True),
        st.one_of(st.none(), st.just(False), inner),
    )
    arrays = st.builds(
        lambda items, low, span: {"type": "array", "items": items, "minItems": low, "maxItems": low + span},
        inner,
        st.integers(0, 2),
        st.integers(0, 2),
    )
    return st.one_of(
        objects, arrays, st.builds(lambda choices: {"anyOf": choices}, st.lists(inner, min_size=1, max_size=3))
    )


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(schema=st.recursive(leaves, larger, max_leaves=5), seed=st.integers(0, 1000))
def test_any_schema(schema: Any, seed: int, vocabulary: Bytes) -> None:
    text = vocabulary.draw(grammar_of(json.dumps(schema)), seed)
    assert text is None or valid(json.loads(text), schema)
