"""Child processes on Qt's event loop: what the worker and the downloads have in common."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, QProcess, QProcessEnvironment


def prepared(command: Sequence[str], environment: Mapping[str, str], parent: QObject) -> QProcess:
    """A process for ``command`` that is not started yet, with exactly this environment.

    It is in a session of its own, so that Ctrl+C in the window's terminal does not reach it, and its signals have
    their default actions.
    """
    process = QProcess(parent)
    program, *arguments = command
    process.setProgram(program)
    process.setArguments(arguments)
    given = QProcessEnvironment()
    for name, value in environment.items():
        given.insert(name, value)
    process.setProcessEnvironment(given)
    flags = QProcess.UnixProcessFlag
    process.setUnixProcessParameters(flags.CreateNewSession | flags.ResetSignalHandlers)
    return process
