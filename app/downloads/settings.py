"""Settings of the downloads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated

import msgspec

MAX_PARALLEL = 8
MAX_CONNECTIONS = 16
LEAST_LIMIT = 16 * 1024
MAX_TEXT = 500


class DownloadSettings(msgspec.Struct, frozen=True, kw_only=True):
    """How models are fetched.

    Attributes:
        parallel: Downloads at the same time; the others wait for their turn.
        connections: Connections for one large file.
        limit_bytes_s: Bytes per second that all downloads together may take; None: no limit.
        offline: Nothing asks the network: no socket is opened for the Hub.
        inhibit_sleep: The desktop is asked not to suspend by itself while something is downloaded.
        endpoint: Address of a mirror in place of the Hub; empty: ``HF_ENDPOINT``, else the Hub itself.
        proxy: Address of a proxy for the Hub; empty: that of the environment (``HTTPS_PROXY`` and the like).
    """

    parallel: Annotated[int, msgspec.Meta(ge=1, le=MAX_PARALLEL)] = 2
    connections: Annotated[int, msgspec.Meta(ge=1, le=MAX_CONNECTIONS)] = 4
    limit_bytes_s: Annotated[int, msgspec.Meta(ge=LEAST_LIMIT)] | None = None
    offline: bool = False
    inhibit_sleep: bool = True
    endpoint: Annotated[str, msgspec.Meta(max_length=MAX_TEXT)] = ""
    proxy: Annotated[str, msgspec.Meta(max_length=MAX_TEXT)] = ""


def network_environment(settings: DownloadSettings, environ: Mapping[str, str]) -> dict[str, str]:
    """``environ`` with what ``settings`` say about the network: what a child that asks the Hub is started with."""
    env = dict(environ)
    if settings.endpoint.strip():
        env["HF_ENDPOINT"] = settings.endpoint.strip()
    if settings.proxy.strip():
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            env[name] = settings.proxy.strip()
            env.pop(name.lower(), None)
    if settings.offline:
        env["HF_HUB_OFFLINE"] = "1"
    return env
