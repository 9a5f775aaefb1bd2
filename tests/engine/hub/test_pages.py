"""Pages of repositories (cases 10, 62, 64, 67)."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.hub.finder import RECENT_S, Finder
from engine.hub.hub_client import HubClient, Limits
from engine.hub.kept import Kept
from engine.hub.messages import Open
from engine.hub.records import Gate
from tests.engine.hub.conftest import PATIENT, Desk
from tests.fakes.local_hub import COMMIT, LocalHub, Refusal

REPO = "maker/some-GGUF"
CARD = b"---\nlicense: apache-2.0\n---\n# Some model\n\nSee [the file](m-Q8_0.gguf). <b>Bold</b>\n"


def fill(hub: LocalHub, repo: str = REPO, **info: Any) -> None:
    hub.add(repo, "m-Q8_0.gguf", b"8" * 200)
    hub.add(repo, "m-Q4_K_M.gguf", b"4" * 100)
    hub.add(repo, "mmproj-F16.gguf", b"p" * 50)
    hub.add(repo, "README.md", CARD, linked=False)
    hub.info[repo] = {
        "downloads": 7,
        "lastModified": "2026-03-02T10:00:00.000Z",
        "tags": ["gguf", "license:mit"],
        **info,
    }


def test_everything_about_a_repository(hub: LocalHub, desk: Desk) -> None:
    fill(hub, gated="manual", cardData={"license": "apache-2.0", "language": ["en"], "base_model": "a/base"})
    page = desk.open(REPO).page
    assert (page.repo, page.listing.commit, page.listing.gated) == (REPO, COMMIT, True)
    about = page.summary
    assert (about.licence, about.languages, about.base_models, about.gate) == (
        "apache-2.0", ("en",), ("a/base",), Gate.BY_HAND,
    )  # fmt: skip
    assert [(group.quant, group.files[0].file.size, group.usual) for group in page.groups] == [
        ("Q4_K_M", 100, True), ("Q8_0", 200, False),
    ]  # fmt: skip
    assert all(group.files[0].projector is not None for group in page.groups)
    assert [file.path for file in page.companions] == ["mmproj-F16.gguf"]
    assert page.card == f"# Some model\n\nSee [the file]({hub.url}/{REPO}/blob/main/m-Q8_0.gguf). **Bold**"
    sums = [part.sha256 for file in page.listing.files for part in file.parts]
    assert None not in sums


def test_the_address_of_a_file_points_at_it(hub: LocalHub, desk: Desk) -> None:
    fill(hub)
    assert desk.open(f"{hub.url}/{REPO}/blob/main/m-Q8_0.gguf").page.listing.wanted == "m-Q8_0.gguf"
    assert desk.open(f"{REPO}:q4_k_m").page.listing.wanted == "m-Q4_K_M.gguf"
    assert desk.open(f"{REPO}/none.gguf").page.listing.wanted is None
    assert desk.open(REPO).page.listing.wanted is None


def test_sizes_that_are_missing_are_unknown(hub: LocalHub, desk: Desk) -> None:
    fill(hub, siblings=[{"rfilename": "m-Q4_0.gguf"}, {"rfilename": "n-Q4_0.gguf", "size": "0"}, {"rfilename": 3}])
    (group,) = desk.open(REPO).page.groups
    assert [(one.file.path, one.file.size, one.file.sha256) for one in group.files] == [
        ("m-Q4_0.gguf", None, None), ("n-Q4_0.gguf", None, None),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "info",
    [
        {"siblings": None},
        {"siblings": []},
        {"siblings": "text", "tags": 4, "gated": [1]},
        {"id": None, "sha": 7},
        {"id": "bad\ud83d/name", "sha": "\ud83d"},
        {"cardData": None, "gguf": "x", "lastModified": {}},
        {"siblings": [{"rfilename": f"m{number}-Q4_0.gguf", "size": 5} for number in range(5000)]},
        {"siblings": [{"rfilename": "../../evil.gguf"}, {"rfilename": "a\\b.gguf"}, {"rfilename": "x\ud83d.gguf"}]},
    ],
)
def test_odd_answers_are_pages(hub: LocalHub, desk: Desk, info: dict[str, Any]) -> None:
    fill(hub, **info)
    page = desk.open(REPO).page
    assert page.repo == REPO
    assert page.card.startswith("# Some model")
    assert ".." not in str([file.path for file in page.listing.files])


def test_a_renamed_repository_is_followed(hub: LocalHub, desk: Desk) -> None:
    fill(hub)
    hub.renamed["maker/old-GGUF"] = REPO
    page = desk.open("maker/old-GGUF").page
    assert page.repo == REPO
    assert page.card.startswith("# Some model")


@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        (Refusal(401, "GatedRepo"), "hub-gated"),
        (Refusal(403, "GatedRepo"), "hub-not-accepted"),
        (Refusal(401, "RepoNotFound", "Repository not found"), "hub-no-repo"),
        (Refusal(404, "RevisionNotFound"), "hub-no-revision"),
        (Refusal(401, "", "Invalid credentials in Authorization header"), "hub-bad-token"),
        (Refusal(429, headers={"Retry-After": "9"}), "hub-rate-limited"),
        (Refusal(500), "hub-server"),
    ],
)
def test_each_refusal_has_its_own_answer(hub: LocalHub, desk: Desk, refusal: Refusal, code: str) -> None:
    fill(hub)
    hub.refusals[REPO] = refusal
    failed = desk.refusal(Open(id=8, text=REPO))
    assert (failed.id, failed.code) == (8, code)
    assert failed.next_step


def test_a_name_that_is_none(desk: Desk) -> None:
    assert desk.refusal(Open(id=1, text="nothing")).code == "repo-name"


@pytest.mark.parametrize("refusal", [Refusal(404, "EntryNotFound"), Refusal(401, "GatedRepo"), Refusal(500)])
def test_a_card_that_cannot_be_read_hides_no_files(hub: LocalHub, desk: Desk, refusal: Refusal) -> None:
    fill(hub)
    hub.repos[REPO]["README.md"].refusal = refusal
    page = desk.open(REPO).page
    assert page.card == ""
    assert len(page.groups) == 2


def test_a_card_on_another_host_gets_no_token(hub: LocalHub, desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_secretsecret")
    fill(hub)
    hub.repos[REPO]["README.md"].storage = True
    assert desk.open(REPO).page.card.startswith("# Some model")
    assert {entry.authorization for entry in hub.log if entry.server == "storage"} == {False}
    assert {entry.authorization for entry in hub.log if entry.server == "hub"} == {True}


def test_a_card_without_end_is_cut(hub: LocalHub, tmp_path: Path) -> None:
    fill(hub)
    hub.add(REPO, "README.md", b"many words here\n" * 40_000, linked=False)
    page = Desk(tmp_path, msgspec.structs.replace(PATIENT, card_bytes=300_000)).open(REPO).page
    assert page.card_cut
    assert 100_000 < len(page.card) <= 200_000


def test_a_page_is_kept_and_shown_without_a_network(hub: LocalHub, desk: Desk) -> None:
    fill(hub)
    first = desk.open(REPO).page
    hub.log.clear()
    assert desk.open(REPO).kept
    assert desk.open(f"{REPO}:Q8_0", offline=True).page.listing.wanted == "m-Q8_0.gguf"
    assert hub.log == []
    desk.now += RECENT_S + 1
    hub.refusals[REPO] = Refusal(500)
    later = desk.open(REPO)
    assert (later.page, later.kept) == (first, True)
    assert later.problem is not None
    assert later.problem.code == "hub-server"


def test_offline_a_page_that_was_never_seen_says_so(hub: LocalHub, desk: Desk) -> None:
    failed = desk.refusal(Open(id=1, text=REPO, offline=True))
    assert failed.code == "hub-offline"
    assert REPO in failed.message
    assert hub.log == []


def test_what_was_taken_away_is_not_shown_from_earlier(hub: LocalHub, desk: Desk) -> None:
    fill(hub)
    desk.open(REPO)
    hub.refusals[REPO] = Refusal(401, "RepoNotFound")
    assert desk.refusal(Open(id=1, text=REPO, fresh=True)).code == "hub-no-repo"


def test_two_repositories_with_the_same_file_are_two(hub: LocalHub, desk: Desk) -> None:
    for owner, data in (("a", b"A" * 9), ("b", b"B" * 9)):
        hub.add(f"{owner}/x-GGUF", "model-Q4_K_M.gguf", data)
    found = [desk.open(f"{owner}/x-GGUF").page.listing.files[0].sha256 for owner in "ab"]
    assert found[0] != found[1]


def test_a_held_card_is_not_waited_for_when_there_are_no_files(hub: LocalHub, tmp_path: Path) -> None:
    fill(hub)
    hub.refusals[REPO] = Refusal(404)
    hub.repos[REPO]["README.md"].pause_after = 0
    assert Desk(tmp_path, Limits(stall_s=60, whole_s=60)).refusal(Open(id=1, text=REPO)).code == "hub-no-repo"


def test_who_signs_in_and_asks_again_is_known_at_once(
    hub: LocalHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One client, as in the child that lives on."""
    fill(hub)

    async def run() -> list[bool]:
        client = HubClient(PATIENT)
        finder = Finder(client, Kept(tmp_path, client.endpoint))
        await finder.answer(Open(id=1, text=REPO))
        monkeypatch.setenv("HF_TOKEN", "hf_secretsecret")
        before = len(hub.log)
        await finder.answer(Open(id=2, text=REPO, fresh=True))
        await client.close()
        return [entry.authorization for entry in hub.log[before:]]

    assert set(asyncio.run(run())) == {True}
