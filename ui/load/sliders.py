"""Rows with a slider for what is good enough, and a field for the exact number."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker
from PySide6.QtWidgets import QHBoxLayout, QWidget

from app.load.draft import LoadDraft
from engine.loading.check import MAX_CONTEXT, MAX_LAYERS
from engine.protocol.types import LoadOptions, RopeScaling
from ui.load import words
from ui.load.fields import number_edit
from ui.load.row import ChoiceRow
from ui.load.slider import Slider
from ui.theme import SPACE_S, Theme
from ui.widgets.text_button import TextButton

SHORTEST, UNKNOWN_LENGTH = 512, 131_072
ALL = -1
SPIN_WIDTH = 164


def context_steps(longest: int) -> tuple[int, ...]:
    """Context lengths for a slider: each power of two and the value between it and the next, up to ``longest``."""
    steps = []
    length = SHORTEST
    while length < longest:
        steps += [length, length * 3 // 2]
        length *= 2
    return (*(step for step in steps if step < longest), longest)


class SliderRow(ChoiceRow):
    """A slider over `values`, and beside it a field for any number."""

    def __init__(
        self,
        draft: LoadDraft,
        theme: Theme,
        title: str,
        explanation: str,
        field: str,
        limits: tuple[int, int],
        *,
        step: int = 1,
        lowest: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(draft, theme, title, explanation, (field,), parent)
        self.values: tuple[int, ...] = (0,)
        self.slider = Slider(theme)
        self.spin = number_edit(limits, step, lowest)
        self.spin.setAccessibleName(self.tr("{0}, exact").format(title))
        self.dress(self.slider, f"{field}Slider")
        self.dress(self.spin, field)
        line = QHBoxLayout()
        line.setSpacing(SPACE_S)
        line.addWidget(self.slider, 1)
        line.addWidget(self.spin)
        self.controls.addLayout(line)
        theme.changed.connect(self._narrow)
        self._narrow()
        self.slider.valueChanged.connect(lambda index: draft.change(**{field: self.values[index]}))
        self.spin.valueChanged.connect(lambda value: draft.change(**{field: value}))

    def _narrow(self) -> None:
        self.spin.setFixedWidth(self._theme.px(SPIN_WIDTH))

    def show_values(self, values: Sequence[int], value: int, place: int) -> None:
        """Let the slider go over ``values`` and stand at ``place``; the field shows ``value``."""
        self.values = tuple(values)
        with QSignalBlocker(self.slider), QSignalBlocker(self.spin):
            self.slider.setRange(0, len(values) - 1)
            self.slider.setPageStep(max(1, len(values) // 8))
            self.slider.setValue(place)
            self.spin.setValue(value)
        self.slider.setAccessibleName(f"{self.title}: {self.spin.text()}")


class ContextRow(SliderRow):
    """Context length."""

    def __init__(self, draft: LoadDraft, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            draft,
            theme,
            self.tr("Context length"),
            self.tr("How many tokens of the conversation the model sees at once. Longer takes more memory."),
            "n_ctx",
            (0, MAX_CONTEXT),
            step=256,
            lowest=self.tr("Full"),
            parent=parent,
        )
        self._begun = draft.options.n_ctx
        self.spin.setSuffix(self.tr(" tokens"))
        self.stretch_button = TextButton(theme, self.tr("Stretch positions with YaRN"))
        self.stretch_button.clicked.connect(lambda: draft.change(rope_scaling=RopeScaling.YARN))
        self.add_control(self.stretch_button, "stretchButton")
        self.stretch_button.setAccessibleName(self.stretch_button.text())
        draft.measured.connect(self.refresh)

    def show_options(self, options: LoadOptions) -> None:
        """The slider ends at the trained length; a longer one is typed."""
        trained = self._draft.facts.n_ctx_train
        self.slider.setEnabled(trained is None or trained > SHORTEST)
        values = context_steps(max(trained or UNKNOWN_LENGTH, 1))
        if trained:
            self.spin.setSpecialValueText(self.tr("Full ({0})").format(words.count(trained)))
        wanted = options.n_ctx or values[-1]
        place = min(range(len(values)), key=lambda index: abs(values[index] - wanted))
        self.show_values(values, options.n_ctx, place)
        self.stretch_button.setVisible(self._falls_apart() and options.rope_scaling is RopeScaling.MODEL)

    def hint(self) -> str:
        """What the context costs, and what one beyond the trained length needs."""
        return " ".join(filter(None, (self._length(), self._cost())))

    def _cost(self) -> str:
        """Memory of the KV cache, and how much more or less all is than with the context at the beginning."""
        plan = self._draft.forecast()
        if plan is None or self._draft.problems:
            return ""
        text = self.tr("KV cache: {0}.").format(words.gib(sum(use.kv for use in plan.uses)))
        begun = self._draft.forecast_with(n_ctx=self._begun) if self._draft.options.n_ctx != self._begun else None
        change = 0 if begun is None else sum(use.total for use in plan.uses) - sum(use.total for use in begun.uses)
        if not change:
            return text
        size, tokens = words.gib(abs(change)), words.count(self._begun or self._draft.facts.n_ctx_train or 0)
        more = self.tr("{0} more than with {1} tokens.") if change > 0 else self.tr("{0} less than with {1} tokens.")
        return f"{text} {more.format(size, tokens)}"

    def _length(self) -> str:
        """About the trained length."""
        options, trained = self._draft.options, self._draft.facts.n_ctx_train
        self.warn(self._falls_apart())
        if not trained:
            return ""
        if options.n_ctx <= trained:
            return self.tr("Trained for {0} tokens.").format(words.count(trained))
        if self._falls_apart():
            text = self.tr("Trained for {0} tokens. Beyond that answers fall apart, unless positions are stretched.")
            return text.format(words.count(trained))
        text = self.tr("Stretched beyond the {0} trained tokens ({1}); answers may get worse.")
        return text.format(words.count(trained), words.rope(options.rope_scaling))

    def _falls_apart(self) -> bool:
        """The context is longer than the model can look back."""
        options, facts = self._draft.options, self._draft.facts
        far = facts.reach(options)
        return facts.n_ctx_train is not None and far is not None and options.n_ctx > max(far, facts.n_ctx_train)


class LayersRow(SliderRow):
    """Layers on the GPU."""

    def __init__(self, draft: LoadDraft, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            draft,
            theme,
            self.tr("Layers on the GPU"),
            self.tr("All is fastest. Fewer leave the rest to the CPU, for when the GPU has too little memory."),
            "n_gpu_layers",
            (ALL, MAX_LAYERS),
            lowest=self.tr("All"),
            parent=parent,
        )

    def show_options(self, options: LoadOptions) -> None:
        """0 to all: llama.cpp counts the output as one layer more."""
        n_layers = self._draft.facts.n_layers
        self.slider.setVisible(n_layers is not None)
        for control in (self.slider, self.spin):
            control.setEnabled(not self._draft.on_cpu)
        most = (n_layers or 0) + 1
        place = most if options.n_gpu_layers == ALL else min(options.n_gpu_layers, most)
        self.show_values((*range(most), ALL), options.n_gpu_layers, place)

    def hint(self) -> str:
        """How many there are, and what none means."""
        options, n_layers = self._draft.options, self._draft.facts.n_layers
        if self._draft.on_cpu:
            return self.tr("It runs on the CPU, so there are none.")
        if options.n_gpu_layers == 0:
            return self.tr("Without layers on the GPU the model runs on the CPU.")
        return "" if n_layers is None else self.tr("The model has {0}, and its output as one more.").format(n_layers)


class ExpertsRow(SliderRow):
    """Layers whose experts stay in RAM."""

    def __init__(self, draft: LoadDraft, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(
            draft,
            theme,
            self.tr("Experts on the CPU"),
            self.tr(
                "Keeps the experts of so many layers in RAM. They are most of the file, and only a few are used"
                " for each token: a large model then runs beside a small graphics card."
            ),
            "n_cpu_moe",
            (0, MAX_LAYERS),
            lowest=self.tr("None"),
            parent=parent,
        )
        self.spin.setSuffix(self.tr(" layers"))

    def show_options(self, options: LoadOptions) -> None:
        """0 to all layers. More than there are mean all."""
        n_layers = self._draft.facts.n_layers or 0
        self.slider.setVisible(n_layers > 0)
        self.show_values(range(n_layers + 1), options.n_cpu_moe, min(options.n_cpu_moe, n_layers))

    def hint(self) -> str:
        """How many layers and experts there are."""
        facts = self._draft.facts
        if not facts.n_experts:
            return self.tr("This model has no experts, so this changes nothing.")
        return self.tr("The model has {0} layers with {1} experts each.").format(facts.n_layers or "?", facts.n_experts)
