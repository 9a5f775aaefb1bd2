"""The conversations, which model answers, and their backups."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from app.backup.service import BackupService
from app.chat.controller import ChatController
from app.chat.model_choice import ModelChoice
from app.jobs import ThreadExecutor
from app.library.service import InstalledModel, LibraryService
from app.load.service import LoadService
from app.wiring.ground import Ground
from app.worker.service import WorkerService


class Talk(TypedDict):
    """Conversations and their backups."""

    chat: ChatController
    backup: BackupService


def make_talk(ground: Ground, worker: WorkerService, library: LibraryService, load: LoadService) -> Talk:
    """Conversations and their backups."""
    chat = make_chat(ground, worker, library, load)
    return {"chat": chat, "backup": make_backup(ground, chat)}


def make_chat(ground: Ground, worker: WorkerService, library: LibraryService, load: LoadService) -> ChatController:
    """The conversations, and which model answers."""

    def installed() -> Sequence[InstalledModel] | None:
        return library.models or (None if library.scanning else ())

    choice = ModelChoice(worker, ground.settings, installed, ground.lifetime, load.options_for, load.refusal)
    chat = ChatController(
        worker,
        ground.paths.database,
        ground.database,
        ground.settings,
        ground.notices,
        choice.choose,
        parent=ground.lifetime,
        choice_of=choice.of,
    )
    chat.keeping.titling.look = worker.look
    chat.listed.connect(worker.caches.keep_only)
    chat.purged.connect(worker.caches.forget)
    return chat


def make_backup(ground: Ground, chat: ChatController) -> BackupService:
    """Backups; conversations are exported and imported one after the other with them."""
    backup = BackupService(ground.paths, ThreadExecutor("backup"), ground.lifetime, hold=ground.hold)
    chat.keeping.exchange.runner = backup.runner
    return backup
