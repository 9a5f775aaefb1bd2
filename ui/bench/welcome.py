"""What stands where a result will be."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from ui.theme import Theme
from ui.widgets.empty_state import EmptyState
from ui.widgets.text_button import TextButton


class Welcome(EmptyState):
    """Says what a benchmark is good for, that figures are coming, or that there are none.

    Attributes:
        model_wanted: There is none, and the user wants to get one.
        run_wanted: Run again, after a stop that left no figure.
    """

    model_wanted = Signal()
    run_wanted = Signal()

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        self._get = TextButton(theme, "", "stack", role="primary")
        self._again = TextButton(theme, "", "play")
        self._again.setObjectName("benchAgain")
        super().__init__(theme, "gauge", "", "", (self._get, self._again), parent)
        self._get.setText(self.tr("Get a model"))
        self._again.setText(self.tr("Run again"))
        self._get.clicked.connect(self.model_wanted)
        self._again.clicked.connect(self.run_wanted)

    def teach(self, *, running: bool, has_model: bool, stopped: bool, can_run: bool) -> None:
        """Say what fits. ``stopped``: the last benchmark ended before its first figure."""
        self._get.setVisible(not has_model and not running)
        self._again.setVisible(stopped and has_model and not running)
        self._again.setEnabled(can_run)
        if running:
            self.set_text(self.tr("Measuring"), self.tr("The first figures appear here as soon as there are some."))
        elif not has_model:
            self.set_text(self.tr("There is no model yet"), self.tr("A benchmark needs a model to run."))
        elif stopped:
            self.set_text(
                self.tr("Stopped before the first figure."), self.tr("Nothing was measured yet, so nothing was kept.")
            )
        else:
            self.set_text(
                self.tr("How fast is a model here?"),
                self.tr(
                    "Run measures it and sets the speed against what the memory of the card allows. A comparison finds"
                    " the backend or the option that is faster on this computer."
                ),
            )
