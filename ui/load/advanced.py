"""The choices that few people need."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from app.load.draft import LoadDraft
from engine.loading.check import MAX_BATCH, MAX_CONTEXT, MAX_PARALLEL, MAX_THREADS
from engine.protocol.types import DeviceKind, FlashAttention, RopeScaling
from ui.load import words
from ui.load.fields import CheckRow, ComboRow, FloatRow, NumberRow
from ui.load.guess_rows import GUESS_FIELDS, guess_rows
from ui.load.kv_row import KvPartsRow
from ui.load.lora_row import LoraRow
from ui.load.row import ChoiceRow
from ui.theme import Theme

ADVANCED_FIELDS = (
    *("n_parallel", "flash_attention", "n_batch", "n_ubatch", "n_threads", "mmap", "kv_on_cpu", "lora"),
    *("rope_scaling", "rope_freq_scale", "rope_freq_base", "yarn_orig_ctx"),
    *("yarn_ext_factor", "yarn_attn_factor", "yarn_beta_fast", "yarn_beta_slow"),
    *GUESS_FIELDS,
)
"""Fields of `LoadOptions` that are only here."""


def tr(text: str) -> str:
    """Translate a text of this module."""
    return QCoreApplication.translate("LoadAdvanced", text)


def advanced_rows(draft: LoadDraft, theme: Theme) -> tuple[ChoiceRow, ...]:
    """All of them, in the order in which they are shown."""
    return (
        AnswersRow(
            draft,
            theme,
            tr("Answers at once"),
            tr("In so many conversations answers can be written at the same time. A single one is not slower for it."),
            "n_parallel",
            (1, MAX_PARALLEL),
        ),
        FlashRow(draft, theme),
        *_steps(draft, theme),
        MmapRow(draft, theme),
        CheckRow(
            draft,
            theme,
            tr("KV cache in RAM"),
            tr("Leaves the memory of the GPU to the weights. Attention is then computed by the CPU, which is slower."),
            "kv_on_cpu",
            tr("Keep it in RAM"),
        ),
        KvPartsRow(draft, theme),
        *guess_rows(draft, theme),
        *_rope(draft, theme),
        LoraRow(draft, theme),
    )


def _steps(draft: LoadDraft, theme: Theme) -> tuple[ChoiceRow, ...]:
    return (
        NumberRow(
            draft,
            theme,
            tr("Batch"),
            tr("Most tokens of a prompt that are handed over at once. Stop acts between two batches."),
            "n_batch",
            (1, MAX_BATCH),
            step=64,
        ),
        MicroBatchRow(
            draft,
            theme,
            tr("Micro-batch"),
            tr("Tokens that are computed together. Fewer take less memory, and a slow GPU is not taken for hung."),
            "n_ubatch",
            (1, MAX_BATCH),
            step=64,
        ),
        NumberRow(
            draft,
            theme,
            tr("CPU threads"),
            tr("For what the CPU computes. More than there are cores slow it down."),
            "n_threads",
            (0, MAX_THREADS),
            lowest=tr("One for each core"),
        ),
    )


def _rope(draft: LoadDraft, theme: Theme) -> tuple[ChoiceRow, ...]:
    return (
        ComboRow(
            draft,
            theme,
            tr("RoPE scaling"),
            tr("Stretches positions, so that a context can be longer than the model was trained for."),
            "rope_scaling",
            [(kind, words.rope(kind)) for kind in RopeScaling],
        ),
        FloatRow(
            draft,
            theme,
            tr("RoPE frequency scale"),
            tr("0.5 doubles the reach. Empty: as far as the context needs, or as the file says."),
            "rope_freq_scale",
            empty=0.0,
        ),
        FloatRow(draft, theme, tr("RoPE base frequency"), tr("Of the rotations."), "rope_freq_base", empty=0.0),
        *_yarn(draft, theme),
    )


def _yarn(draft: LoadDraft, theme: Theme) -> tuple[ChoiceRow, ...]:
    floats = (
        ("yarn_ext_factor", tr("YaRN: extrapolation"), tr("Share of extrapolation, 0 to 1.")),
        ("yarn_attn_factor", tr("YaRN: attention"), tr("Scale of the attention.")),
        ("yarn_beta_fast", tr("YaRN: fast rotations"), tr("Above so many rotations nothing is interpolated.")),
        ("yarn_beta_slow", tr("YaRN: slow rotations"), tr("Below so many rotations all is interpolated.")),
    )
    original = YarnContextRow(
        draft,
        theme,
        tr("YaRN: original context"),
        tr("The length that is stretched."),
        "yarn_orig_ctx",
        (0, MAX_CONTEXT),
        step=256,
        lowest=tr("As trained"),
    )
    return (original, *(YarnRow(draft, theme, title, text, field, empty=None) for field, title, text in floats))


class AnswersRow(NumberRow):
    """How many answers share the context."""

    def hint(self) -> str:
        """None of them has the whole context while another one is written."""
        options = self._draft.options
        if options.n_parallel < 2:
            return ""
        if not options.n_ctx:
            return tr("While several are written they share the context.")
        return tr("While several are written they share the context of {0}.").format(words.count(options.n_ctx))


class FlashRow(ComboRow):
    """Flash attention."""

    def __init__(self, draft: LoadDraft, theme: Theme) -> None:
        super().__init__(
            draft,
            theme,
            tr("Flash attention"),
            tr("Computes attention in less memory, and mostly faster."),
            "flash_attention",
            [(mode, words.flash(mode)) for mode in FlashAttention],
        )


class MmapRow(ComboRow):
    """Mapping the file."""

    def __init__(self, draft: LoadDraft, theme: Theme) -> None:
        choices = [(None, tr("Automatic")), (True, tr("Map the file")), (False, tr("Read the file"))]
        text = tr(
            "A mapped file is read as it is needed. Automatic does so where the GPU has memory of its own. For the"
            " processor it reads the file where there is plenty of room, which makes answers faster."
        )
        super().__init__(draft, theme, tr("Mapping the file into memory (mmap)"), text, "mmap", choices)

    def hint(self) -> str:
        """On unified memory a mapped file costs twice."""
        unified = any(device.kind is DeviceKind.IGPU and device.usable for device in self._draft.devices)
        twice = unified and self._draft.options.mmap is True
        self.warn(twice)
        return tr("On memory that GPU and CPU share, the weights may take their place twice.") if twice else ""


class MicroBatchRow(NumberRow):
    """Micro-batch."""

    def hint(self) -> str:
        """It is bounded by the batch."""
        options = self._draft.options
        return tr("Bounded by the batch of {0}.").format(options.n_batch) if options.n_ubatch > options.n_batch else ""


class YarnRow(FloatRow):
    """Only shown where YaRN is chosen, or something is set."""

    def refresh(self) -> None:
        """Show or hide."""
        super().refresh()
        self.setVisible(_wants_yarn(self._draft, self.fields))


class YarnContextRow(NumberRow):
    """The same for the original context."""

    def refresh(self) -> None:
        """Show or hide."""
        super().refresh()
        self.setVisible(_wants_yarn(self._draft, self.fields))


def _wants_yarn(draft: LoadDraft, fields: tuple[str, ...]) -> bool:
    return draft.options.rope_scaling is RopeScaling.YARN or draft.is_changed(*fields)
