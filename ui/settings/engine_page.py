"""How models are loaded when nothing else was said for them, and the engine's upkeep."""

from __future__ import annotations

import msgspec
from PySide6.QtWidgets import QWidget

from app.memory.settings import MemorySettings, Park
from app.settings.records import EngineSettings
from app.settings.rules import Rule, settled
from app.settings.store import SettingsStore
from app.worker.settings import MAX_CACHE_MIB, MAX_IDLE_MINUTES, MAX_TIMEOUT_S, WorkerSettings
from engine.loading.check import MAX_BATCH, MAX_CONTEXT, MAX_LAYERS, MAX_PARALLEL, MAX_THREADS
from engine.protocol.types import FlashAttention, KvType
from ui.settings.bound import BoundRow, RowMaker
from ui.settings.kv_choice import KvChoice, KvSetting
from ui.settings.own_options import OwnOptions
from ui.settings.page import SettingsPage
from ui.settings.section import Section
from ui.theme import Theme


class EnginePage(SettingsPage):
    """Defaults of all loads in plain words, the finer points folded, and when the model is unloaded."""

    def __init__(self, theme: Theme, store: SettingsStore, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self._store = store
        self._engine = RowMaker(theme, store, EngineSettings)
        self._upkeep = RowMaker(theme, store, WorkerSettings)
        self._memory = RowMaker(theme, store, MemorySettings)
        self.set_title(
            self.tr("Model loading"),
            self.tr("How a model is loaded, unless it has options of its own. Changes apply to the next load."),
        )
        self._build_defaults(self.section())
        self._build_advanced(self.section(self.tr("Advanced"), folded=True))
        own = self.section(
            self.tr("Models with options of their own"), self.tr("Chosen in the load dialog; they go before the above.")
        )
        OwnOptions(theme, store, own)
        self._build_upkeep(self.section(self.tr("Upkeep")))
        self._build_limits(self.section(self.tr("Time limits"), folded=True))

    def _build_defaults(self, section: Section) -> None:
        section.add(
            self._engine.number(
                "n_ctx",
                self.tr("Context length"),
                self.tr("How much of a conversation the model sees, in tokens. More takes more memory."),
                (0, MAX_CONTEXT),
                step=1024,
                word=self.tr("As trained"),
            )
        )
        layers = self._engine.number(
            "n_gpu_layers",
            self.tr("Layers on the GPU"),
            self.tr("The rest runs on the processor, which is slower. 0 keeps the GPU free."),
            (-1, MAX_LAYERS),
            word=self.tr("All"),
            words="offload ngl",
        )
        section.add(layers)
        section.add(self._build_answers())
        section.add(self._build_kv())
        section.add(self._build_flash())

    def _build_answers(self) -> BoundRow:
        return self._engine.number(
            "n_parallel",
            self.tr("Answers at once"),
            self.tr("In so many conversations answers can be written at the same time; then they share the context."),
            (1, MAX_PARALLEL),
            words="parallel slots concurrent",
        )

    def _build_flash(self) -> BoundRow:
        self._flash = self._engine.choice(
            "flash_attention",
            self.tr("Flash attention"),
            self.tr("Computes attention in less memory. Automatic uses it where the device is good at it."),
            [
                (FlashAttention.AUTO, self.tr("Automatic")),
                (FlashAttention.ON, self.tr("On")),
                (FlashAttention.OFF, self.tr("Off")),
            ],
            take=lambda value: self._settle(flash_attention=value),
        )
        return self._flash

    def _build_kv(self) -> BoundRow:
        title = self.tr("Memory format of the context")
        control = KvChoice(
            self.theme,
            title,
            [
                (KvType.F16, self.tr("Full (f16)")),
                (KvType.Q8_0, self.tr("Half (q8_0)")),
                (KvType.Q4_0, self.tr("A quarter (q4_0)")),
            ],
            self.tr("Mixed"),
        )
        control.setObjectName("engine-kv")
        self._kv = BoundRow(
            self.theme,
            self._store,
            KvSetting(self._store),
            title,
            self.tr("The KV cache holds what the model has read. A smaller format costs a little quality."),
            control,
            take=lambda value: self._settle(kv_type_k=value, kv_type_v=value),
            words="kv cache quantised",
        )
        return self._kv

    def _build_advanced(self, section: Section) -> None:
        formats = [(kind, kind.value) for kind in KvType]
        keys, values = self.tr("Keys in the KV cache"), self.tr("Values in the KV cache")
        make = self._engine
        for row in (
            make.choice(
                "kv_type_k",
                keys,
                self.tr("Quantised keys work without flash attention too."),
                formats,
                take=lambda value: self._settle(kv_type_k=value),
            ),
            make.choice(
                "kv_type_v",
                values,
                self.tr("Quantised values need flash attention."),
                formats,
                take=lambda value: self._settle(kv_type_v=value),
            ),
            make.switch(
                "kv_on_cpu",
                self.tr("Keep the KV cache in RAM"),
                self.tr("Leaves video memory to the weights. Long conversations get much slower."),
            ),
            *self._batch_rows(),
        ):
            section.add(row)

    def _batch_rows(self) -> tuple[BoundRow, ...]:
        make, tokens = self._engine, self.tr(" tokens")
        return (
            make.number(
                "n_batch",
                self.tr("Batch"),
                self.tr("Most tokens of a prompt given to the engine at once."),
                (1, MAX_BATCH),
                step=64,
                suffix=tokens,
            ),
            make.number(
                "n_ubatch",
                self.tr("Micro-batch"),
                self.tr("Tokens computed together, never more than the batch. Smaller takes less memory and GPU time."),
                (1, MAX_BATCH),
                step=64,
                suffix=tokens,
                words="ubatch",
            ),
            *self._processor_rows(),
        )

    def _processor_rows(self) -> tuple[BoundRow, ...]:
        make = self._engine
        return (
            make.number(
                "n_threads",
                self.tr("Processor threads"),
                self.tr("More than there are cores makes it slower."),
                (0, MAX_THREADS),
                word=self.tr("By itself"),
            ),
            make.choice(
                "mmap",
                self.tr("Map the file into memory"),
                self.tr("Loads faster, but on integrated graphics the weights may take their place twice."),
                [(None, self.tr("By itself")), (True, self.tr("On")), (False, self.tr("Off"))],
            ),
        )

    def _build_upkeep(self, section: Section) -> None:
        minutes = self.tr(" min")
        section.add(
            self._upkeep.number(
                "idle_unload_minutes",
                self.tr("Unload when idle"),
                self.tr("Gives the memory back after this time without a message. The next one loads the model again."),
                (0, MAX_IDLE_MINUTES),
                step=5,
                word=self.tr("Never"),
                suffix=minutes,
            )
        )
        self._build_park(section)
        self._build_caches(section)
        section.add(
            self._upkeep.switch(
                "self_test",
                self.tr("Test each model once"),
                self.tr("After the first load on a device or driver a few tokens are compared with the processor's."),
                words="self-test check",
            )
        )

    def _build_park(self, section: Section) -> None:
        title = self.tr("When memory runs short")
        text = self.tr("Parking gives the model's memory back; one click loads it again. Answers are not lost.")
        never, ask, park = self.tr("Do nothing"), self.tr("Ask me"), self.tr("Park the model")
        choices = [(Park.NEVER, never), (Park.ASK, ask), (Park.AUTOMATICALLY, park)]
        section.add(self._memory.choice("park", title, text, choices, words="pressure oom unload games"))

    def _build_caches(self, section: Section) -> None:
        ram, disk = self.tr("Keep conversations in RAM"), self.tr("Keep conversations on the disk")
        back = self.tr("Going back to another conversation then does not read it again.")
        restart = self.tr("A conversation goes on sooner after a restart. Goes when the conversation is deleted.")
        off, mib = self.tr("Off"), self.tr(" MiB")
        for field, title, text in (("cache_memory_mib", ram, back), ("cache_disk_mib", disk, restart)):
            limits = (0, MAX_CACHE_MIB)
            row = self._upkeep.number(field, title, text, limits, step=256, word=off, suffix=mib, words="kv cache")
            section.add(row)

    def _build_limits(self, section: Section) -> None:
        never, seconds = self.tr("Never"), self.tr(" s")
        for field, title, text in (
            (
                "load_timeout_s",
                self.tr("A load without progress"),
                self.tr("After this time you are told; after five times as long the engine is restarted."),
            ),
            (
                "answer_timeout_s",
                self.tr("An answer without progress"),
                self.tr("The same for an answer. Long prompts on slow devices get more time by themselves."),
            ),
        ):
            limits = (0, MAX_TIMEOUT_S)
            words = "watchdog timeout hang"
            section.add(
                self._upkeep.number(field, title, text, limits, step=10, word=never, suffix=seconds, words=words)
            )

    def _settle(self, **values: object) -> None:
        """Take ``values``; say at both rows what else had to change."""
        before = self._store.get(EngineSettings)
        after, rules = settled(before, msgspec.structs.replace(before, **values))
        self._store.put(after)
        told = {
            Rule.FLASH_FOR_KV: self.tr("Flash attention is automatic again: this format needs it."),
            Rule.F16_WITHOUT_FLASH: self.tr("The context is in full precision again: smaller formats need this."),
            Rule.FLASH_FOR_TENSOR: self.tr("Flash attention is automatic again: the split by tensors needs it."),
            Rule.LAYERS_WITHOUT_FLASH: self.tr("The devices share by layers again: the split by tensors needs this."),
        }
        at_flash = (Rule.F16_WITHOUT_FLASH, Rule.LAYERS_WITHOUT_FLASH)
        self._kv.set_note(" ".join(told[rule] for rule in rules if rule not in at_flash))
        self._flash.set_note(" ".join(told[rule] for rule in rules if rule in at_flash))
