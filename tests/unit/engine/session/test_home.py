"""What lies in a home."""

from __future__ import annotations

import subprocess
from pathlib import Path

from engine.session.confs import default_confs
from engine.session.home import classic_scratch, clear_scratch, prepare_home


def test_what_a_killed_spark_left_is_cleared_and_the_files_of_one_that_works_stay(tmp_path: Path) -> None:
    home = prepare_home(tmp_path)
    with subprocess.Popen(["sleep", "0"]) as dead:
        pass
    for name in ("tmpab12cd", f"classic-{dead.pid}-x"):
        (home / "scratch" / name / "deep").mkdir(parents=True)
    used = classic_scratch(home)
    (used / "shuffle").write_text("rows")
    clear_scratch(home)
    assert [*(home / "scratch").iterdir()] == [used]
    assert (used / "shuffle").exists()


def test_spark_is_told_the_path_in_a_home_as_it_is() -> None:
    """Hadoop's Path does not decode percent signs."""
    confs = default_confs(Path("/Users/x/Library/Application Support/ü 100%"), "local[2]")
    assert confs["spark.scheduler.allocation.file"] == (
        "file:/Users/x/Library/Application Support/ü 100%/fairscheduler.xml"
    )
