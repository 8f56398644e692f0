"""The keys that work everywhere."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from console.specs import PLACES

KEYS: list[BindingType] = [
    *(
        Binding(
            f"{spec.key},alt+{spec.key}",
            f"app.place('{spec.name}')",
            spec.label,
            show=False,
            id=f"app.{spec.name}",
            tooltip=f"Go to {spec.label}",
        )
        for spec in PLACES
    ),
    Binding(
        "f9,R",
        "app.restart_spark",
        "restart Spark",
        id="app.restart_spark",
        tooltip="Start Spark again after it was lost; drafts and history stay as they are",
    ),
    Binding(
        "question_mark,f1",
        "app.help",
        "help",
        id="app.help",
        tooltip="What can be done here, and every key",
    ),
    Binding(
        "ctrl+p",
        "command_palette",
        "all",
        id="app.palette",
        tooltip="Every action by name",
        priority=True,
    ),
    Binding(
        "ctrl+c",
        "app.cancel_work",
        "cancel",
        show=False,
        id="app.cancel_work",
        tooltip="Cancel what Spark is doing for this console",
        # a text would take it, with nothing to copy
        priority=True,
    ),
    Binding(
        "ctrl+q",
        "app.quit",
        "quit",
        show=False,
        id="app.quit",
        tooltip="Leave; asks if work is running",
        priority=True,
    ),
]
