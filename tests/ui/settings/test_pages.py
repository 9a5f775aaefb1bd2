"""General, diagnosis and about: what is looked at off the GUI thread."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QLabel, QListWidget, QPlainTextEdit, QPushButton

from app.doctor.watched import Step
from engine.build_facts import build_facts, build_line
from engine.client.session import WorkerState
from engine.doctor.records import Check, Status
from tests.ui.settings.conftest import Settings
from ui.settings.check_row import CheckRow


def size(settings: Settings, part: str) -> str:
    return settings.find(f"size-{part}", QLabel).text()


def test_sizes_are_measured_when_the_page_is_opened(settings: Settings) -> None:
    models = settings.services.paths.models
    models.mkdir(parents=True)
    (models / "a.gguf").write_bytes(b"x" * 2_000_000)
    assert size(settings, "models") == "measuring…"
    settings.settle()
    assert size(settings, "models") == "2.0 MB"
    assert size(settings, "logs") == "0 bytes"
    (models / "b.gguf").write_bytes(b"x" * 1_000_000)
    settings.click("settingsPage-engine")
    settings.click("settingsPage-general")
    settings.settle()
    assert size(settings, "models") == "3.0 MB"


def test_a_size_that_cannot_be_known_is_no_number(settings: Settings) -> None:
    paths = settings.services.paths
    paths.data.parent.mkdir(parents=True, exist_ok=True)
    paths.data.write_text("a file where a folder should be")
    settings.settle()
    assert size(settings, "models") == "unknown"


def checks(settings: Settings) -> list[CheckRow]:
    page = settings.window.page_of("doctor")
    return [row for row in page.findChildren(CheckRow) if row.isVisible()]


def examine(settings: Settings) -> None:
    settings.click("settingsPage-doctor")
    settings.settle()
    settings.qtbot.waitUntil(lambda: not settings.services.doctor.running)


def test_the_page_examines_once_it_is_opened(settings: Settings) -> None:
    settings.click("settingsPage-doctor")
    assert settings.services.doctor.running
    assert settings.find("runDoctor", QPushButton).text() == "Stop"
    assert not settings.find("copyReport", QPushButton).isEnabled()
    settings.settle()
    settings.qtbot.waitUntil(lambda: not settings.services.doctor.running)
    statuses = [row.check.status for row in checks(settings)]
    assert statuses[0] is Status.FAIL
    assert Status.OK in statuses
    texts = [label.text() for label in settings.window.page_of("doctor").findChildren(QLabel) if label.isVisible()]
    assert any("problem" in text and "could be better" in text for text in texts)
    settings.click("settingsPage-general")
    settings.click("settingsPage-doctor")
    assert not settings.services.doctor.running, "only the first time by itself"


def test_only_problems(settings: Settings) -> None:
    examine(settings)
    everything = len(checks(settings))
    settings.click("onlyProblems")
    shown = [row.check.status for row in checks(settings)]
    assert 0 < len(shown) < everything
    assert Status.OK not in shown
    settings.click("onlyProblems")
    assert len(checks(settings)) == everything


def test_a_verdict_is_a_word_and_an_icon_with_a_fix_to_copy(settings: Settings) -> None:
    examine(settings)
    assert settings.find("check-rebar", QLabel).text() == "Could be better"
    rebar = next(row for row in checks(settings) if row.check.id == "rebar")
    assert rebar.accessibleName().startswith("Resizable BAR: Could be better.")
    settings.click("copyFix-rebar")
    assert QApplication.clipboard().text() == rebar.check.fix


def test_the_report_is_copied_without_private_things(settings: Settings) -> None:
    examine(settings)
    settings.click("copyReport")
    report = QApplication.clipboard().text()
    assert report.startswith("### vramble doctor (")
    assert "| warn | rebar |" in report
    assert "somebody" not in report


def test_stop_keeps_the_last_diagnosis(settings: Settings) -> None:
    examine(settings)
    before = len(checks(settings))
    steps = []
    for _ in range(2):
        settings.click("runDoctor")
        steps.append(settings.services.doctor.step)
    assert steps == [Step.SYSTEM, None]
    settings.settle()
    assert len(checks(settings)) == before


def test_an_engine_that_does_not_run_is_started_for_it(settings: Settings) -> None:
    settings.worker.set_state(WorkerState.STOPPED)
    settings.click("settingsPage-doctor")
    assert settings.worker.started == 1
    assert not settings.doctor.waiting


def test_versions_can_be_copied(settings: Settings) -> None:
    settings.click("settingsPage-about")
    settings.settle()
    settings.click("copyVersions")
    copied = QApplication.clipboard().text()
    assert copied.startswith("Vramble ")
    assert "llama-cpp-python 1.2.3 (CPU, Vulkan)" in copied
    assert f"llama.cpp {build_line(build_facts())}" in copied


def test_a_licence_is_read(settings: Settings) -> None:
    settings.click("settingsPage-about")
    settings.settle()
    packages = settings.find("licencesList", QListWidget)
    names = [packages.item(i).text() for i in range(packages.count())]
    assert any(name.startswith("msgspec ") for name in names)
    assert not settings.shown("licenceText")
    packages.setFocus()
    settings.qtbot.keyClick(packages, Qt.Key.Key_Down)
    assert "Permission is hereby granted" in settings.find("licenceText", QPlainTextEdit).toPlainText()
    settings.click("settingsPage-general")
    settings.click("settingsPage-about")
    settings.settle()
    assert packages.count() == len(names)


def test_the_log_folder_is_opened(settings: Settings) -> None:
    settings.click("settingsPage-about")
    settings.click("openLogs")
    settings.settle()
    assert settings.opened == [settings.services.paths.logs]


@pytest.mark.parametrize(
    ("survives", "words"),
    [
        (True, "This survives an update of SteamOS."),
        (False, "This does not survive an update of SteamOS, whose system folder is read-only."),
        (None, ""),
    ],
)
def test_whether_a_fix_outlives_an_update_is_told(settings: Settings, survives: bool | None, words: str) -> None:
    check = Check(id="gtt", status=Status.WARN, found="4 GiB", advice="Raise it.", fix="sudo x", survives=survives)
    row = CheckRow(settings.theme, check)
    texts = [label.text() for label in row.findChildren(QLabel)]
    assert [text for text in texts if "SteamOS" in text] == ([words] if words else [])
    assert {"Could be better", "4 GiB", "Raise it.", "sudo x"} <= set(texts)
    row.deleteLater()


def test_lines_to_copy_are_copied_as_they_are(settings: Settings) -> None:
    line = "sudo grubby --update-kernel=ALL --args='ttm.pages_limit=12582912 ttm.page_pool_size=12582912'"
    row = CheckRow(settings.theme, Check(id="gtt", status=Status.WARN, found="", fix=line))
    copy = row.findChild(QPushButton, "copyFix-gtt")
    assert isinstance(copy, QPushButton)
    copy.click()
    assert QApplication.clipboard().text() == line
    row.deleteLater()
