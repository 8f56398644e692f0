"""Which settings need a restart, and what the embedded server starts with. No Spark is started."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from engine.model.errors import EngineError, UsageError
from engine.session import confs
from engine.session.home import default_home, prepare_home
from engine.session.jars import delta_package, wanted_packages

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(
    ("key", "static"),
    [
        ("spark.sql.shuffle.partitions", False),
        ("spark.databricks.delta.merge.materializeSource", False),
        ("fs.s3a.endpoint", False),
        ("spark.sql.catalog.other", False),
        ("spark.executor.memory", True),
        ("spark.hadoop.fs.s3a.access.key", True),
        ("spark.jars.packages", True),
        ("spark.sql.extensions", True),
        ("spark.sql.warehouse.dir", True),
        ("spark.delta.logStore.class", True),
    ],
)
def test_a_setting_is_static_when_spark_reads_it_once_at_its_start(key: str, static: bool) -> None:
    assert confs.is_static(key) is static


def test_settings_are_split_into_the_servers_and_the_sessions() -> None:
    static, runtime = confs.split_confs({"spark.executor.memory": "2g", "spark.sql.ansi.enabled": "false"})
    assert static == {"spark.executor.memory": "2g"}
    assert runtime == {"spark.sql.ansi.enabled": "false"}


@pytest.mark.parametrize("key", ["spark.connect.grpc.binding.port", "spark.master"])
def test_the_servers_own_address_cannot_be_set(key: str) -> None:
    with pytest.raises(UsageError):
        confs.split_confs({key: "1"})


def test_the_users_extension_is_added_to_deltas_and_packages_are_resolved_once(tmp_path: Path) -> None:
    given = {"spark.sql.extensions": "a.B", "spark.jars.packages": "g:a:1"}
    made = confs.server_confs(prepare_home(tmp_path), "local[2]", given, [tmp_path / "d.jar"], tmp_path)
    assert made["spark.sql.extensions"] == "io.delta.sql.DeltaSparkSessionExtension,a.B"
    assert "spark.jars.packages" not in made
    assert "spark.jars" not in made  # a local driver has it on its class path


def test_a_cluster_gets_the_jars_and_keeps_its_addresses(tmp_path: Path) -> None:
    given = {"spark.jars": "/x/own.jar"}
    made = confs.server_confs(prepare_home(tmp_path), "yarn", given, [Path("/j/d.jar")], tmp_path)
    assert made["spark.jars"] == "/j/d.jar,/x/own.jar"
    assert "spark.driver.host" not in made
    assert "spark.sql.shuffle.partitions" not in made


def test_a_sites_own_settings_win_over_the_defaults_and_its_metastore_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "spark-defaults.conf").write_text("# x\nspark.driver.memory   3g\nspark.sql.x=a=b\n")
    (tmp_path / "hive-site.xml").write_text("<configuration/>")
    monkeypatch.setenv("SPARK_CONF_DIR", str(tmp_path))
    made = confs.server_confs(prepare_home(tmp_path / "home"), "yarn", {}, [], tmp_path)
    assert made["spark.driver.memory"] == "3g"
    assert made["spark.sql.x"] == "a=b"
    assert "spark.hadoop.javax.jdo.option.ConnectionURL" not in made


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ({}, [delta_package(version("pyspark"))]),
        ({"spark.jars.packages": "g:a:1"}, [delta_package(version("pyspark")), "g:a:1"]),
        ({"spark.jars.packages": "io.delta:delta-spark_2.13:9"}, ["io.delta:delta-spark_2.13:9"]),
        ({"spark.jars": "/a/delta-spark_4.2_2.13-4.4.0.jar"}, []),
    ],
)
def test_deltas_package_is_asked_for_unless_the_user_brings_delta(given: dict[str, str], wanted: list[str]) -> None:
    assert wanted_packages(given) == wanted


@pytest.mark.parametrize("release", ["4.0", "4.1", "4.2"])
def test_each_release_of_spark_has_a_jar_of_delta_of_its_own(release: str) -> None:
    assert delta_package(f"{release}.1") == f"io.delta:delta-spark_{release}_2.13:{version('delta-spark')}"


def test_values_survive_the_properties_file() -> None:
    text = confs.properties({"spark.a": "C:\\x\ny", "spark.b": " lead=:#", "spark.c d": "é"})
    assert text == "spark.a=C:\\\\x\\ny\nspark.b=\\ lead=:#\nspark.c\\ d=é\n"


@pytest.mark.parametrize(
    ("master", "cores"),
    [("local", 1), ("local[3]", 3), ("local[2,4]", 2), ("yarn", 0), ("spark://h:7077", 0)],
)
def test_cores_of_a_local_master(master: str, cores: int) -> None:
    assert confs.local_cores(master) == cores


def test_the_home_is_named_by_the_environment_and_made_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DELTAMERGE_CONSOLE_HOME", str(tmp_path / "h"))
    home = prepare_home(default_home())
    assert home == tmp_path / "h"
    assert home.stat().st_mode & 0o777 == 0o700


def test_a_home_that_cannot_be_written_is_one_clear_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(EngineError) as raised:
        prepare_home(tmp_path / "file" / "home")
    assert raised.value.condition == "HOME_NOT_WRITABLE"
    assert "--home" in raised.value.hint


def test_importing_the_session_modules_imports_no_spark() -> None:
    script = (
        "import sys, engine.session.connect, engine.session.server, engine.session.classic\n"
        "print([m for m in sys.modules if m.split('.')[0] in ('pyspark', 'grpc', 'py4j', 'pandas')])"
    )
    said = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "[]"
