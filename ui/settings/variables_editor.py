"""The variables of one backend: a line for each, a field to add one, and why one is not taken."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QStandardItem, QStandardItemModel
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from app.settings.variables import Kind, Problem, known, known_for, problem_with
from ui.settings import words
from ui.settings.row import plain_label
from ui.theme import SCROLL_BAR, SPACE_L, SPACE_M, SPACE_S, SPACE_XS, Theme, set_role
from ui.widgets.icon_button import IconButton
from ui.widgets.text_button import TextButton


class VariablesEditor(QWidget):
    """Shows and changes one table of variables.

    Attributes:
        changed: The user wants this table: name to value.
    """

    changed = Signal(object)

    def __init__(self, theme: Theme, backend: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme, self._backend = theme, backend
        self._values: dict[str, str] = {}
        self._lines: list[QWidget] = []
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(SPACE_L, SPACE_XS, SPACE_M, SPACE_M)
        self._column.setSpacing(SPACE_S)
        self._column.addLayout(self._build_new())
        self._help = plain_label("", "muted")
        self._column.addWidget(self._help)
        self._name.currentTextChanged.connect(self._explain)
        self._value.textChanged.connect(self._explain)
        self._explain()

    def show_values(self, values: Mapping[str, str]) -> None:
        """Show this table."""
        if values == self._values and self._lines:
            return
        self._values = dict(values)
        for line in self._lines:
            self._column.removeWidget(line)
            line.hide()
            line.deleteLater()
        self._lines = [self._build_line(name, value) for name, value in self._values.items()]
        for index, line in enumerate(self._lines):
            self._column.insertWidget(index, line)
            line.show()
        self._offer()

    def _build_new(self) -> QHBoxLayout:
        self._name = QComboBox()
        self._name.setObjectName(f"variableName-{self._backend}")
        self._name.setEditable(True)
        self._name.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self._name.setMinimumContentsLength(12)
        self._name.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self._name.setAccessibleName(self.tr("Name of a variable to add"))
        self._name.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        edit = self._name.lineEdit()
        if edit is not None:
            edit.setPlaceholderText(self.tr("Variable"))
            edit.returnPressed.connect(self._add)
        self._value = QLineEdit()
        self._value.setObjectName(f"variableValue-{self._backend}")
        self._value.setPlaceholderText(self.tr("Value"))
        self._value.setAccessibleName(self.tr("Value of the variable to add"))
        self._value.returnPressed.connect(self._add)
        self._add_button = TextButton(self._theme, self.tr("Add"), "plus")
        self._add_button.setObjectName(f"variableAdd-{self._backend}")
        self._add_button.clicked.connect(self._add)
        row = QHBoxLayout()
        row.setSpacing(SPACE_XS)
        row.addWidget(self._name, 3)
        row.addWidget(self._value, 2)
        row.addWidget(self._add_button)
        self._offer()
        return row

    def _offer(self) -> None:
        """The known variables that are not set yet, each with what it does."""
        text = self._name.currentText()
        model = QStandardItemModel(self)
        for variable in known_for(self._backend):
            if variable.name not in self._values:
                item = QStandardItem(variable.name)
                item.setToolTip(words.variable(variable.name))
                model.appendRow(item)
        self._name.setModel(model)
        view = self._name.view()
        view.setMinimumWidth(view.sizeHintForColumn(0) + SCROLL_BAR + 2 * SPACE_L)
        self._name.setCurrentIndex(-1)
        self._name.setEditText("" if text in self._values else text)

    def _build_line(self, name: str, value: str) -> QWidget:
        line = QWidget()
        field = QLineEdit(value)
        field.setObjectName(f"variable-{name}")
        field.setAccessibleName(name)
        remove = IconButton(self._theme, "trash", self.tr("Remove {0}").format(name))
        remove.setObjectName(f"variableRemove-{name}")
        note = plain_label(words.variable(name), "muted")
        field.editingFinished.connect(lambda: self._edit(name, field.text().strip()))
        field.textChanged.connect(lambda text: self._judge(name, text.strip(), note))
        remove.clicked.connect(lambda: self._remove(name))
        left = QVBoxLayout()
        left.setSpacing(0)
        left.addWidget(plain_label(name, "mono"))
        left.addWidget(note)
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(SPACE_S)
        row.addLayout(left, 3)
        row.addWidget(field, 2)
        row.addWidget(remove)
        self._judge(name, value, note)
        return line

    def _judge(self, name: str, value: str, note: QLabel) -> None:
        """Say at the line why its value is not taken."""
        problem = self._problem(name, value)
        note.setText(problem or words.variable(name))
        note.setVisible(bool(note.text()))
        set_role(note, "bad" if problem else "muted")

    def _problem(self, name: str, value: str) -> str:
        """Why ``name=value`` is not taken, in words; "" when it is."""
        variable = known(name)
        kind = variable.kind if variable is not None else Kind.TEXT
        values = {
            Kind.FLAG: self.tr("It is on with the value 1; remove it to switch it off."),
            Kind.NUMBERS: self.tr("It takes numbers with commas, such as 0,1."),
            Kind.DEVICES: self.tr("It takes numbers with commas, such as 0,1, or -1 for none."),
            Kind.IDS: self.tr("It takes numbers or GPU-… names with commas, or -1 for none."),
            Kind.VERSION: self.tr("It takes three numbers with dots, such as 10.3.0."),
            Kind.BYTES: self.tr("It takes a whole number of bytes."),
            Kind.TEXT: self.tr("It takes one line of text."),
        }
        problem = problem_with(name, value)
        if problem is None:
            return ""
        return {
            Problem.NAME: self.tr("A name has capital letters, digits and underscores."),
            Problem.OWN: self.tr("Vramble sets this one itself."),
            Problem.EMPTY: self.tr("A value is missing."),
            Problem.VALUE: values[kind],
        }[problem]

    def _new(self) -> tuple[str, str]:
        name, value = self._name.currentText().strip(), self._value.text().strip()
        variable = known(name)
        return name, value or ("1" if variable is not None and variable.kind is Kind.FLAG else "")

    def _explain(self) -> None:
        name, value = self._new()
        problem = self._problem(name, value) if name else ""
        self._add_button.setEnabled(bool(name) and not problem)
        variable = known(name)
        self._value.setPlaceholderText(variable.example if variable is not None else self.tr("Value"))
        typed = problem if self._value.text().strip() or (problem and variable is None) else ""
        text = typed or words.variable(name)
        self._help.setText(text)
        self._help.setVisible(bool(text))

    def _add(self) -> None:
        name, value = self._new()
        if not name or problem_with(name, value) is not None:
            self._explain()
            return
        self._name.setEditText("")
        self._value.clear()
        self.changed.emit({**self._values, name: value})

    def _edit(self, name: str, value: str) -> None:
        if value != self._values.get(name) and problem_with(name, value) is None:
            self._values[name] = value
            self.changed.emit(dict(self._values))

    def _remove(self, name: str) -> None:
        self.changed.emit({key: value for key, value in self._values.items() if key != name})
        self._name.setFocus(Qt.FocusReason.OtherFocusReason)
