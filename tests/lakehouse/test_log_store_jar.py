"""The jar that the wheel carries is the Java source beside it, compiled."""

from __future__ import annotations

import zipfile
from pathlib import Path

from engine.session.stores import LOG_STORE, LOG_STORE_JAR
from tests.lakehouse.build_log_store import log_store_classes


def test_the_jar_holds_what_its_source_compiles_to(tmp_path: Path) -> None:
    with zipfile.ZipFile(LOG_STORE_JAR) as jar:
        held = {name: jar.read(name) for name in jar.namelist() if name.endswith(".class")}
    assert f"{LOG_STORE.replace('.', '/')}.class" in held
    assert held == log_store_classes(tmp_path)
