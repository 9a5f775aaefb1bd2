"""The examples of the CommonMark specification through the transcript: the same blocks and runs but for a list.

`./dev test` puts the examples where they are looked for; the repository does not hold them.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from markdown_it import MarkdownIt

from tests.ui.transcript.seen import Block, ForeignError, Run, joined, read, same, shown

FILE = Path(sys.prefix) / "share" / "vramble" / "examples" / "commonmark.json"
COUNT = 652
Example = dict[str, Any]

pytestmark = pytest.mark.skipif(
    not FILE.exists(), reason=f"the examples of the CommonMark specification are not in {FILE.parent}: run ./dev test"
)


def as_text(example: Example) -> list[Block]:
    """HTML is text like all other text, and Markdown in it is read."""
    return read(MarkdownIt("commonmark", {"html": False}).render(example["markdown"]))


def without_titles(example: Example) -> list[Block]:
    """No titles."""
    found = read(example["html"])
    return [block._replace(runs=joined(run._replace(title="") for run in block.runs)) for block in found]


def without_empty_quotes(example: Example) -> list[Block]:
    """Only quotations that have words."""
    return [block for block in read(example["html"]) if block.frames != "q" or block.runs]


def with_bare_links(example: Example) -> list[Block]:
    """Addresses are links."""

    def pieces(runs: tuple[Run, ...]) -> Iterator[Run]:
        for run in runs:
            for text in re.split(r"(https://[^\s>]+)", run.text):
                yield run._replace(text=text, href=text if text.startswith("https://") else "")

    return [block._replace(runs=joined(pieces(block.runs))) for block in read(example["html"])]


class Difference(NamedTuple):
    """Examples that are shown in another way than the specification has it: why, and how instead."""

    why: str
    wanted: Callable[[Example], list[Block]]
    examples: tuple[int, ...]


def numbers(*spans: int | tuple[int, int]) -> tuple[int, ...]:
    """Single ones, and from the first to the last of a pair."""
    return tuple(n for span in spans for n in ([span] if isinstance(span, int) else range(span[0], span[1] + 1)))


DIFFERENCES = (
    Difference(
        "HTML is shown as text. What a model writes is never run or loaded, and tags are often what was asked about.",
        as_text,
        numbers(
            # Backslash escapes, character references, code spans, emphasis
            *(21, 31, 344, (475, 477)),
            # HTML blocks, raw HTML
            *((148, 191), (613, 617), 623, (625, 631)),
            # Link reference definitions, links: brackets and tags that cross
            *(201, 491, 494, 524, 536),
            # Lists that a comment parts
            *(308, 309),
            # Hard line breaks in an attribute
            *(642, 643),
        ),
    ),
    Difference(
        "Titles are not shown: a tooltip over a link says where it leads, in nobody's words.",
        without_titles,
        numbers(
            # Backslash escapes, character references
            *(22, 23, 32, 33),
            # Link reference definitions
            *((192, 196), 202, 217),
            # Links
            *(482, 505, 506, 509, 510, 527, 539, 542, 543, (553, 559), 561),
            # Images
            *(572, 573, 576, 577, 579, (584, 589), 591, 593),
        ),
    ),
    Difference(
        "A quotation without words is not shown: it would be a bar beside nothing.",
        without_empty_quotes,
        numbers(218, 239, 240),
    ),
    Difference(
        "Addresses in running text are links, as GitHub's extension has it: models write them so.",
        with_bare_links,
        numbers(602, 608, 611),
    ),
)
LISTED = {number for difference in DIFFERENCES for number in difference.examples}


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    found: list[Example] = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def told(example: Example, wanted: list[Block], got: list[Block]) -> str:
    """What a person needs to know about an example that failed."""
    lines = [f"{example['example']}, {example['section']}: {example['markdown']!r}"]
    return "\n".join([*lines, *(f"  wanted {block}" for block in wanted), *(f"  shown  {block}" for block in got)])


def test_all_examples_are_known(examples: list[Example]) -> None:
    assert [example["example"] for example in examples] == list(range(1, COUNT + 1))
    assert max(LISTED) <= COUNT
    assert len(LISTED) == sum(len(difference.examples) for difference in DIFFERENCES), "one reason each"


def test_what_is_not_listed_is_shown_as_specified(examples: list[Example]) -> None:
    faults = []
    for example in examples:
        if example["example"] not in LISTED:
            wanted, got = read(example["html"]), shown(example["markdown"])
            faults += [] if same(wanted, got) else [told(example, wanted, got)]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: difference.wanted.__name__)
def test_what_is_listed_is_shown_in_the_other_way_that_is_wanted(
    examples: list[Example], difference: Difference
) -> None:
    faults = []
    for number in difference.examples:
        example = examples[number - 1]
        wanted, got = difference.wanted(example), shown(example["markdown"])
        faults += [] if same(wanted, got) else [told(example, wanted, got)]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: difference.wanted.__name__)
def test_a_difference_that_is_none_any_more_is_taken_from_the_list(
    examples: list[Example], difference: Difference
) -> None:
    assert [number for number in difference.examples if is_as_specified(examples[number - 1])] == []


def is_as_specified(example: Example) -> bool:
    try:
        return same(read(example["html"]), shown(example["markdown"]))
    except ForeignError:
        return False


@pytest.mark.parametrize("step", [1, 7])
def test_an_example_that_is_streamed_ends_as_one_that_came_whole(examples: list[Example], step: int) -> None:
    chosen = examples if step > 1 else examples[::9]
    different = [one["example"] for one in chosen if shown(one["markdown"], step) != shown(one["markdown"])]
    assert different == []
