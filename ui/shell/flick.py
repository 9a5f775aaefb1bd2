"""A finger scrolls what it lies on, as on every touch screen."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractItemView, QAbstractScrollArea, QScroller, QScrollerProperties, QWidget

GRABBED = "flicked"


def let_flick(page: QWidget) -> None:
    """Let touches scroll all areas of ``page``; mouse and pad go on as they do. Areas that have it keep it."""
    for area in page.findChildren(QAbstractScrollArea):
        if area.property(GRABBED):
            continue
        area.setProperty(GRABBED, True)
        if isinstance(area, QAbstractItemView):
            area.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        viewport = area.viewport()
        QScroller.grabGesture(viewport, QScroller.ScrollerGestureType.TouchGesture)
        _no_bounce(QScroller.scroller(viewport))


def _no_bounce(scroller: QScroller) -> None:
    """Pages end where they end."""
    metrics, never = QScrollerProperties.ScrollMetric, QScrollerProperties.OvershootPolicy.OvershootAlwaysOff
    properties = scroller.scrollerProperties()
    for metric in (metrics.HorizontalOvershootPolicy, metrics.VerticalOvershootPolicy):
        properties.setScrollMetric(metric, never)
    scroller.setScrollerProperties(properties)
