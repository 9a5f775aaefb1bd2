"""Discover on a stand-in for the Hub: searching, filters, the catalogue, a repository's page."""

from __future__ import annotations

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QComboBox, QLabel, QLineEdit, QListView, QPushButton, QTableView, QTabWidget

from app.downloads.records import JobState
from engine.errors import VrambleError
from engine.hub.records import Gate, Sort
from engine.library.roots import RootState
from tests.ui.library.conftest import Manager
from tests.ui.library.fakes import (
    CARD_ROOT,
    CATALOGUE,
    GATED,
    GB,
    OWN,
    file_of,
    installed,
    job,
    page,
    root_info,
    summary,
)
from ui.library.discover.card_view import CardView
from ui.library.discover.found import Heading
from ui.library.window import DISCOVER, DOWNLOADS

REPO = "maker/Qwen3-8B-GGUF"


@pytest.fixture
def discover(fake: Manager) -> Manager:
    fake.tab(DISCOVER)
    return fake


def found(manager: Manager) -> list[str]:
    model = manager.find("foundList", QListView).model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def search(manager: Manager, text: str) -> None:
    manager.find("discoverSearch", QLineEdit).setFocus()
    manager.type(text)


def open_repo(manager: Manager, repo: str = REPO, **changes: object) -> None:
    """Find ``repo``, choose it, and let the Hub tell its page."""
    search(manager, "qwen")
    manager.hub.answer(summary(repo))
    manager.choose("foundList", repo.partition("/")[2])
    manager.until(lambda: f"open {repo}" in manager.hub.asked)
    manager.hub.give(page(repo, **changes))  # type: ignore[arg-type]


def pick(manager: Manager, name: str, text: str) -> None:
    """Take a value of a choice, as its list does."""
    box = manager.find(name, QComboBox)
    box.setCurrentIndex(box.findText(text))
    box.activated.emit(box.currentIndex())


# ---- what is found


def test_without_a_search_the_catalogue_is_shown_what_suits_first(discover: Manager) -> None:
    rows = found(discover)
    assert rows[0] == "Recommended for this machine"
    assert rows[rows.index("Other good models") + 1] == "Llama 3.3 70B"
    heading: Heading = discover.find("foundList", QListView).model().index(0, 0).data(Qt.ItemDataRole.UserRole)
    assert "22.0 GiB" in heading.text
    assert discover.hub.queries == []


def test_typing_searches_and_clearing_shows_the_catalogue_again(discover: Manager) -> None:
    search(discover, "qwen coder")
    assert discover.hub.queries[-1].text == "qwen coder"
    assert discover.hub.queries[-1].sort is Sort.DOWNLOADS
    discover.hub.answer(summary("a/One"), summary("b/Two"))
    assert found(discover) == ["One", "Two"]
    assert "2 repositories" in discover.find("foundState", QLabel).text()
    discover.press(Qt.Key.Key_Escape)
    assert discover.window.isVisible()
    assert found(discover)[0] == "Recommended for this machine"


def test_more_is_asked_for_while_scrolling_and_the_list_stays_where_it_is(discover: Manager) -> None:
    search(discover, "q")
    discover.hub.answer(*[summary(f"a/Model-{number}") for number in range(40)], more=True)
    assert "more" not in discover.hub.asked
    view = discover.find("foundList", QListView)
    bar = view.verticalScrollBar()
    discover.until(lambda: bar.maximum() > 0)
    bar.setValue(bar.maximum())
    assert discover.hub.asked.count("more") == 1
    before = bar.value()
    discover.hub.answer(*[summary(f"b/Model-{number}") for number in range(40)])
    assert bar.value() == before
    assert len(found(discover)) == 80


def test_filters_narrow_down_and_are_counted(discover: Manager) -> None:
    discover.click("filtersButton")
    pick(discover, "sizeFilter", "5B – 10B")
    pick(discover, "licenceFilter", "MIT")
    pick(discover, "gatedFilter", "Open only")
    query = discover.hub.queries[-1]
    assert (query.smallest, query.largest, query.licence, query.gated) == (5 * GB, 10 * GB, "mit", False)
    assert discover.find("filtersButton", QPushButton).text() == "Filters (3)"
    discover.find("authorFilter", QLineEdit).setFocus()
    discover.type("unsloth")
    discover.press(Qt.Key.Key_Return)
    assert discover.hub.queries[-1].author == "unsloth"
    discover.click("clearFiltersButton")
    assert discover.find("filtersButton", QPushButton).text() == "Filters"
    assert found(discover)[0] == "Recommended for this machine"


def test_an_order_shows_the_hub_also_without_words(discover: Manager) -> None:
    pick(discover, "sortChoice", "Trending")
    assert (discover.hub.queries[-1].text, discover.hub.queries[-1].sort) == ("", Sort.TRENDING)
    discover.hub.answer(summary("a/One"))
    assert found(discover) == ["One"]


def test_nothing_found_says_what_to_do(discover: Manager) -> None:
    search(discover, "nonsense")
    discover.hub.answer()
    assert "Nothing was found" in discover.texts()
    discover.click("clearSearch")
    assert found(discover)[0] == "Recommended for this machine"
    assert discover.window.focusWidget() is discover.find("discoverSearch")


def test_a_failed_search_is_one_sentence_with_a_way_on(discover: Manager) -> None:
    search(discover, "qwen")
    discover.hub.fail("hub-offline", "The Hub cannot be reached.", "Check the network.")
    assert "The Hub cannot be reached. Check the network." in discover.texts()
    discover.click_text("Try again")
    assert discover.hub.asked[-1] == "retry"
    discover.hub.answer(summary("a/One"))
    assert "cannot be reached" not in discover.texts()


def test_a_hub_that_wants_to_be_left_alone_is_waited_for_with_a_countdown(discover: Manager) -> None:
    search(discover, "qwen")
    state = discover.find("foundState", QLabel)
    discover.hub.wait_left = 42.3
    discover.hub.fail("hub-rate-limited", "The Hub gets too many requests.", "Try again in 43 seconds.")
    assert state.text() == "The Hub asks to wait: 42 s"
    assert "Try again in 43 seconds." not in discover.texts(), "a second that stands still is no countdown"
    discover.hub.wait_left = 41.4
    discover.hub.results_changed.emit()
    assert state.text() == "The Hub asks to wait: 41 s"
    discover.hub.wait_left = 3000.0
    discover.hub.results_changed.emit()
    assert state.text() == "The Hub asks to wait: 50 min"
    discover.hub.wait_left = None
    discover.hub.answer(summary("a/One"))
    assert "asks to wait" not in discover.texts()


def test_a_page_that_has_to_wait_counts_down_too(discover: Manager) -> None:
    search(discover, "maker/some-GGUF")
    discover.press(Qt.Key.Key_Return)
    discover.hub.wait_left = 9.0
    discover.hub.refuse("hub-rate-limited", "The Hub gets too many requests.", "Try again in 9 seconds.")
    assert "The Hub asks to wait: 9 s" in discover.texts()
    assert "Try again in 9 seconds." not in discover.texts()
    discover.hub.wait_left = None
    discover.hub.give(page("maker/some-GGUF", summary=summary("maker/some-GGUF")))
    assert "asks to wait" not in discover.texts()


def test_what_was_kept_is_shown_with_its_age(discover: Manager) -> None:
    search(discover, "qwen")
    discover.hub.from_cache, discover.hub.read_at = True, 1.0
    discover.hub.answer(summary("a/One"))
    assert "years ago" in discover.find("foundState", QLabel).text()
    discover.hub.fail("hub-offline", "The Hub cannot be reached.")
    assert "What is shown was kept earlier." in discover.texts()
    assert found(discover) == ["One"]


# ---- a repository


def test_a_repository_shows_its_files_by_quant_with_size_quality_and_fit(discover: Manager) -> None:
    open_repo(discover)
    rows = discover.rows("filesTable")
    assert rows[2][:4] == ["Q4_K_M", "5.00 GB", "Fits · 76 tok/s", "Good"]
    assert rows[6][:4] == ["BF16", "16.4 GB", "No", "Original"]
    assert discover.find("repoTabs", QTabWidget).tabText(0) == "Files (7)"
    facts = discover.find("repoFacts", QLabel).text()
    for fact in ("maker", "8.2B", "128k", "Apache-2.0", "1.2M downloads", "412 likes", "en, zh, de"):
        assert fact in facts
    assert discover.find("filesTable", QTableView).currentIndex().row() == 2


def test_what_does_not_fit_says_why_and_can_be_had(discover: Manager) -> None:
    open_repo(discover)
    discover.choose("filesTable", "BF16")
    assert "4.4 GiB more than there is" in discover.find("entryReason", QLabel).text()
    discover.click("get-BF16")
    assert [call[2] for call in discover.downloads.calls if call[0] == "start"] == ["Qwen3-8B-BF16.gguf"]


def test_the_usual_file_comes_with_what_lets_it_see(discover: Manager) -> None:
    open_repo(discover, sees=True)
    assert "+860 MB" in discover.find("withProjector", QCheckBox).text()
    discover.click("get-Q4_K_M")
    names = [call[2] for call in discover.downloads.calls if call[0] == "start"]
    assert names == ["Qwen3-8B-Q4_K_M.gguf", "mmproj-Qwen3-8B-F16.gguf"]
    assert discover.page() == DISCOVER
    discover.find("withProjector", QCheckBox).click()
    discover.click("get-Q8_0")
    names = [call[2] for call in discover.downloads.calls if call[0] == "start"]
    assert names[2:] == ["Qwen3-8B-Q8_0.gguf"]


def test_the_button_of_a_file_follows_its_download(discover: Manager) -> None:
    open_repo(discover)
    name = "Qwen3-8B-Q4_K_M.gguf"
    discover.downloads.set_jobs(job(1, REPO, name, JobState.LOADING, done=GB, total=4 * GB))
    button = discover.find("get-Q4_K_M", QPushButton)
    assert button.text() == "25 % here"
    discover.click("get-Q4_K_M")
    assert discover.page() == DOWNLOADS
    discover.tab(DISCOVER)
    discover.downloads.set_jobs(job(1, REPO, name, JobState.PAUSED, done=GB, total=4 * GB))
    assert button.text() == "Resume"
    discover.downloads.set_jobs()
    discover.library.set_models(installed("Qwen3-8B", "Q4_K_M", 5.0))
    assert button.text() == "Load"
    discover.click("get-Q4_K_M")
    assert [path.name for path in discover.loads] == [name]


def test_the_whole_way_by_keyboard(discover: Manager) -> None:
    search(discover, "qwen")
    discover.hub.answer(summary(REPO), summary("other/Thing"))
    discover.press(Qt.Key.Key_Down)
    assert discover.window.focusWidget() is discover.find("foundList")
    discover.press(Qt.Key.Key_Return)
    discover.hub.give(page(REPO))
    assert discover.window.focusWidget() is discover.find("filesTable")
    discover.press(Qt.Key.Key_Down)
    discover.press(Qt.Key.Key_Return)
    assert [call[2] for call in discover.downloads.calls if call[0] == "start"] == ["Qwen3-8B-Q5_K_M.gguf"]
    discover.find("foundList").setFocus()
    discover.press(Qt.Key.Key_Up)
    assert discover.window.focusWidget() is discover.find("discoverSearch")


@pytest.mark.parametrize("text", [f"{REPO}:Q8_0", f"https://hub.example/{REPO}/blob/main/Qwen3-8B-Q8_0.gguf"])
def test_an_address_opens_its_repository_and_the_file_it_names(discover: Manager, text: str) -> None:
    search(discover, text)
    discover.press(Qt.Key.Key_Return)
    assert f"open {text}" in discover.hub.asked
    shown = page(REPO)
    wanted = "Q8_0" if text.endswith("Q8_0") else "Qwen3-8B-Q8_0.gguf"
    discover.hub.give(msgspec.structs.replace(shown, listing=msgspec.structs.replace(shown.listing, wanted=wanted)))
    assert discover.find("filesTable", QTableView).currentIndex().data() == "Q8_0"


def test_what_is_no_address_says_so_and_asks_nobody(discover: Manager) -> None:
    search(discover, "just words/with a slash")
    discover.press(Qt.Key.Key_Return)
    assert "does not name a repository" in discover.texts()
    assert not any(asked.startswith("open") for asked in discover.hub.asked)


def test_the_catalogue_can_be_had_without_the_hub(discover: Manager) -> None:
    entry = CATALOGUE[0]
    discover.choose("foundList", entry.name)
    discover.until(lambda: f"open {entry.repo}" in discover.hub.asked)
    discover.hub.refuse("hub-offline", "Offline mode is on.", "Switch it off to see more.")
    assert "Offline mode is on." in discover.texts()
    assert entry.why in discover.find("repoWhy", QLabel).text()
    assert "Fits a Steam Deck" in discover.find("repoWhy", QLabel).text()
    discover.click("get-Q4_K_M")
    assert discover.downloads.calls[-1][:3] == ("start", entry.repo, entry.file)


def test_a_page_without_files_and_without_a_card_says_so(discover: Manager) -> None:
    open_repo(discover, quants=(), card="")
    assert "No GGUF files" in discover.texts()
    discover.find("repoTabs", QTabWidget).setCurrentIndex(1)
    assert "No model card" in discover.texts()


def test_links_of_a_card_are_asked_for_and_pictures_stay_away(discover: Manager) -> None:
    open_repo(discover, card="# Title\n\n[away](https://evil.example/x) ![picture](https://evil.example/p.png)")
    discover.find("repoTabs", QTabWidget).setCurrentIndex(1)
    card = discover.find("modelCard", CardView)
    card.link_activated.emit("https://evil.example/x")
    assert "Open https://evil.example/x in the browser?" in discover.texts()
    assert discover.visited == []
    discover.click_text("Open")
    assert discover.visited == ["https://evil.example/x"]


def test_the_head_leads_to_the_page_and_to_the_licence(discover: Manager) -> None:
    open_repo(discover, summary=summary(REPO, licence="other", licence_link="https://licence.example/text"))
    discover.click("openRepoPage")
    discover.click("openLicence")
    assert discover.visited == [f"https://hub.example/{REPO}", "https://licence.example/text"]
    discover.click("refreshRepo")
    assert discover.hub.asked[-1] == "refresh"


def test_a_drive_that_is_too_small_says_so_before(discover: Manager) -> None:
    discover.library.roots = (root_info(OWN, "models", free=2 * GB),)
    discover.library.roots_changed.emit()
    open_repo(discover)
    assert "2.00 GB free, 5.00 GB are needed" in discover.find("entryReason", QLabel).text()
    card = root_info(CARD_ROOT, "SD", free=90 * GB, state=RootState.PRESENT, file_limit=4 * GB)
    discover.library.roots = (*discover.library.roots, card)
    discover.library.roots_changed.emit()
    pick(discover, "downloadPlace", "SD, 90.0 GB free")
    assert "no file larger than 4.00 GB" in discover.find("entryReason", QLabel).text()
    discover.choose("filesTable", "Q2_K")
    discover.click("get-Q2_K")
    assert discover.downloads.calls[-1][3] == card.path


# ---- gated repositories


def gated(manager: Manager, gate: Gate = Gate.AUTOMATIC) -> None:
    search(manager, "gemma")
    row = msgspec.structs.replace(GATED, gate=gate)
    manager.hub.answer(row)
    manager.choose("foundList", row.name)
    manager.until(lambda: manager.shows("gateCard"))
    manager.hub.give(page(row.repo, summary=row))


def test_a_gated_repository_explains_the_step_and_takes_a_token(discover: Manager) -> None:
    gated(discover)
    assert "accept the licence first" in discover.texts()
    discover.click("openGatePage")
    discover.click("makeToken")
    assert discover.visited == [f"https://hub.example/{GATED.repo}", "https://hub.example/settings/tokens"]
    edit = discover.find("tokenEdit", QLineEdit)
    assert edit.echoMode() is QLineEdit.EchoMode.Password
    assert not discover.find("keepToken", QPushButton).isEnabled()
    edit.setFocus()
    discover.type("hf_secret")
    discover.press(Qt.Key.Key_Return)
    assert discover.account.tokens == [("hf_secret", False)]
    discover.account.become("keyring", "me")
    assert "You are signed in as me." in discover.texts()
    assert not discover.shows("tokenEdit")
    assert edit.text() == ""
    discover.click("forgetToken")
    assert discover.shows("tokenEdit")


def test_without_a_keyring_a_file_is_offered(discover: Manager) -> None:
    gated(discover)
    discover.find("tokenEdit", QLineEdit).setFocus()
    discover.type("hf_secret")
    assert not discover.shows("keepTokenInFile")
    discover.account.become("none", problem=VrambleError("no-keyring", "No keyring answers here."))
    assert "No keyring answers here." in discover.find("tokenProblem", QLabel).text()
    discover.click("keepTokenInFile")
    assert discover.account.tokens == [("hf_secret", True)]


def test_access_by_hand_is_told_apart(discover: Manager) -> None:
    gated(discover, Gate.BY_HAND)
    assert "decides who may have it" in discover.texts()


def test_a_repository_that_refuses_shows_the_step_and_is_asked_again_after_it(discover: Manager) -> None:
    search(discover, "maker/secret-GGUF")
    discover.press(Qt.Key.Key_Return)
    discover.hub.refuse("hub-gated", "maker/secret-GGUF is gated.", "Accept its terms.")
    assert discover.shows("gateCard")
    discover.account.become("keyring", "me")
    assert discover.hub.asked[-1] == "refresh"
    discover.hub.refuse("hub-not-accepted", "You were not let in.")
    assert "This account was not let in yet." in discover.texts()
    discover.hub.give(page("maker/secret-GGUF", summary=summary("maker/secret-GGUF", gate=Gate.AUTOMATIC)))
    assert "not let in" not in discover.texts()
    assert discover.shows("get-Q4_K_M")


def test_an_open_repository_has_no_such_step(discover: Manager) -> None:
    open_repo(discover)
    assert not discover.shows("gateCard")


def test_a_new_file_of_many_with_one_quant_is_told_by_its_name(discover: Manager) -> None:
    shown = page(REPO, (("Q4_K_M", 5.0),))
    both = (
        *shown.groups[0].files,
        msgspec.structs.replace(shown.groups[0].files[0], file=file_of("b/X-Q4_K_M.gguf", 2)),
    )
    group = msgspec.structs.replace(shown.groups[0], files=both)
    open_repo(discover, quants=(("Q4_K_M", 5.0),), groups=(group,))
    assert [row[0] for row in discover.rows("filesTable")] == ["Qwen3-8B-Q4_K_M.gguf", "b/X-Q4_K_M.gguf"]


def test_clicks_on_rows_and_headings(discover: Manager) -> None:
    view = discover.find("foundList", QListView)
    place = view.visualRect(view.model().index(0, 0)).center()
    QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert view.selectedIndexes() == []
