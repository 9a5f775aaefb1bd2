"""Will it fit: what a model takes on each device, from the header of its file."""

from engine.memory.fit.devices import fit_devices
from engine.memory.fit.header import model_of, read_model
from engine.memory.fit.measured import Measured, measured_by
from engine.memory.fit.plan import predict
from engine.memory.fit.records import DeviceUse, FitDevice, FitModel, FitPlan, Suggestion, Verdict
from engine.memory.fit.suggest import suggest, weights_that_fit

__all__ = [
    "DeviceUse",
    "FitDevice",
    "FitModel",
    "FitPlan",
    "Measured",
    "Suggestion",
    "Verdict",
    "fit_devices",
    "measured_by",
    "model_of",
    "predict",
    "read_model",
    "suggest",
    "weights_that_fit",
]
