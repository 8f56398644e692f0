"""A real S3 server with the bucket of the docs' recipe, and the program as a shell runs it, in a home of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine.session.server import stop_server
from engine.session.stores import VARIABLES
from tests.lakehouse.s3 import REGION, Store
from tests.lakehouse.servers import minio, s3proxy

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True)
class Shell:
    """``run(script)`` is that text in bash, with ``deltamerge-console`` on its path and ``variables`` set."""

    home: Path
    folder: Path
    variables: Mapping[str, str] = field(default_factory=dict)

    def run(self, script: str, **variables: str) -> subprocess.CompletedProcess[str]:
        kept = {name: value for name, value in os.environ.items() if name not in VARIABLES["s3"]}
        return subprocess.run(  # noqa: PLW1510 - its code is looked at
            ["bash", "-euo", "pipefail", "-c", script],
            env={
                **kept,
                "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
                "PYTHONPATH": str(ROOT),
                "DELTAMERGE_CONSOLE_HOME": str(self.home),
                **self.variables,
                **variables,
            },
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=400,
        )


def keys_of(store: Store) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL_S3": store.endpoint,
        "AWS_ACCESS_KEY_ID": store.key,
        "AWS_SECRET_ACCESS_KEY": store.secret,
        "AWS_REGION": REGION,
    }


def program_in(folder: Path) -> Path:
    """``folder``, with a ``deltamerge-console`` in it that a Shell finds."""
    program = folder / "bin" / "deltamerge-console"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -c "from console.cli import main; main()" "$@"\n')
    program.chmod(0o700)
    return folder


@pytest.fixture(scope="module", params=["S3Proxy", pytest.param("MinIO", marks=pytest.mark.minio)])
def store(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    start = s3proxy if request.param == "S3Proxy" else minio
    with start(tmp_path_factory.mktemp("store")) as running:
        yield running


@pytest.fixture(scope="module")
def shell(store: Store, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    folder = program_in(tmp_path_factory.mktemp("lakehouse"))
    home = folder / "home"
    yield Shell(home, folder, keys_of(store))
    stop_server(home)
