"""Object stores by one word: the jars, settings and credentials of ``--store s3`` (``abfs``, ``gcs``).

Credentials stay in the environment, from which the driver's JVM inherits them: none is in a file, a command line or
Spark's settings. Hadoop reads ``${env.NAME}`` in a value of its settings when it needs it; for S3 the driver's Spark
reads the AWS variables itself (SparkHadoopUtil.appendS3CredentialsFromEnvironment) and hands them to its executors.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

import engine.spark
from engine.model.errors import UsageError
from engine.session.java import spark_home

STORES = ("s3", "abfs", "gcs")

#: What each store's client reads from the environment: a server that was started with other values does not fit.
VARIABLES: Mapping[str, tuple[str, ...]] = {
    "s3": (
        *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"),
        *("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_REGION", "AWS_DEFAULT_REGION"),
        *("AWS_PROFILE", "AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE"),
        *("AWS_ROLE_ARN", "AWS_WEB_IDENTITY_TOKEN_FILE"),
    ),
    "abfs": (
        *("AZURE_STORAGE_ACCOUNT", "AZURE_STORAGE_KEY"),
        *("AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET"),
    ),
    "gcs": ("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT"),
}

#: Delta calls it for each commit; it writes one only if no other driver has written that version.
LOG_STORE = "io.deltamerge.storage.ConditionalS3LogStore"
LOG_STORE_JAR = Path(next(iter(engine.spark.__path__))) / "log_store" / "deltamerge-log-store.jar"

_PACKAGES = {"s3": "hadoop-aws", "abfs": "hadoop-azure", "gcs": "hadoop-gcp"}
_S3A = "org.apache.hadoop.fs.s3a"
# The keys that Spark took from the environment, else a profile, a web identity, the role of a container or instance.
_CREDENTIALS = (
    f"{_S3A}.TemporaryAWSCredentialsProvider",
    f"{_S3A}.SimpleAWSCredentialsProvider",
    "software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider",
)
_OAUTH = "org.apache.hadoop.fs.azurebfs.oauth2"
_AMAZON = re.compile(r"(?:^|\.)amazonaws\.com(?:\.cn)?$")


@dataclass(frozen=True)
class Store:
    """What a store adds to a server: ``packages`` to download (Maven coordinates), ``jars`` of ours, and ``confs``, the
    static settings of Spark, without credentials."""

    packages: tuple[str, ...] = ()
    jars: tuple[Path, ...] = ()
    confs: Mapping[str, str] = field(default_factory=dict)


def store_named(name: str, environ: Mapping[str, str] | None = None) -> Store:
    """The store of that name ("" is none), with what ``environ`` says of endpoint and region.

    Raises UsageError ``BAD_STORE`` for a name or an endpoint that cannot be used.
    """
    env = os.environ if environ is None else environ
    if not name:
        return Store()
    if name not in STORES:
        raise UsageError("BAD_STORE", f"There is no store {name!r}.", f"Use one of {', '.join(STORES)}.")
    confs = {"s3": _s3_confs, "abfs": _abfs_confs, "gcs": _gcs_confs}[name](env)
    jars: tuple[Path, ...] = ()
    hadoop = hadoop_version()
    if name == "s3" and LOG_STORE_JAR.is_file() and _creates_on_condition(hadoop):
        jars = (LOG_STORE_JAR,)
        confs |= {f"spark.delta.logStore.{scheme}.impl": LOG_STORE for scheme in ("s3a", "s3")}
    return Store((f"org.apache.hadoop:{_PACKAGES[name]}:{hadoop}",), jars, confs)


def _creates_on_condition(hadoop: str) -> bool:
    """Whether S3A has the conditional create that our log store needs (HADOOP-19256): not that of Spark 4.0."""
    return tuple(int(part) for part in re.findall(r"\d+", hadoop)[:3]) >= (3, 4, 2)


def hadoop_version() -> str:
    """The version of the Hadoop client that Spark ships: a store's connector must be of the same."""
    (client,) = (spark_home() / "jars").glob("hadoop-client-api-*.jar")
    return client.stem.removeprefix("hadoop-client-api-")


def fingerprint(name: str, key: str, environ: Mapping[str, str] | None = None) -> str:
    """A keyed digest of what the store's client reads from ``environ``: tells a change, and nothing else."""
    env = os.environ if environ is None else environ
    values = [env.get(variable, "") for variable in VARIABLES.get(name, ())]
    return hmac.new(key.encode(), json.dumps([name, values]).encode(), hashlib.sha256).hexdigest()


def _s3_confs(env: Mapping[str, str]) -> dict[str, str]:
    """S3A's settings (Hadoop's core-default.xml), for paths of ``s3a://`` and ``s3://``."""
    confs = {
        "fs.s3.impl": f"{_S3A}.S3AFileSystem",
        "fs.s3a.aws.credentials.provider": ",".join(_CREDENTIALS),
        # If the store hangs, each call of S3A ends after 90 s (5 tries of Hadoop's 60 s: 300 s), and a plan makes two.
        # A store that is away for 10 s is waited for. Hadoop raises less than 15 s to that (AWSClientConfig).
        "fs.s3a.attempts.maximum": "2",
        "fs.s3a.retry.limit": "3",
        "fs.s3a.retry.interval": "1500ms",
        "fs.s3a.retry.throttle.limit": "6",
        "fs.s3a.connection.establish.timeout": "15s",
        # of one attempt in all: to complete an upload of many parts may take longer than an answer to begin
        "fs.s3a.connection.request.timeout": "60s",
        "fs.s3a.connection.timeout": "20s",
    }
    endpoint = env.get("AWS_ENDPOINT_URL_S3") or env.get("AWS_ENDPOINT_URL") or ""
    region = env.get("AWS_REGION") or env.get("AWS_DEFAULT_REGION") or ""
    if endpoint:
        host = _host(endpoint)
        confs["fs.s3a.endpoint"] = endpoint
        if not _AMAZON.search(host):
            # Its buckets have no host names of their own, and it has no regions: any one signs.
            confs["fs.s3a.path.style.access"] = "true"
            region = region or "us-east-1"
    if region:
        confs["fs.s3a.endpoint.region"] = region
    return _for_hadoop(confs)


def _host(endpoint: str) -> str:
    try:
        parts = urlsplit(endpoint)
        host = parts.hostname or ""
    except ValueError:
        host = ""
    if not host or parts.scheme not in ("http", "https"):
        raise UsageError("BAD_STORE", "The endpoint of S3 is no URL.", "Set AWS_ENDPOINT_URL_S3=https://HOST:PORT.")
    if parts.username or parts.password:
        raise UsageError(
            "CREDENTIALS_IN_URL",
            "AWS_ENDPOINT_URL_S3 holds credentials, which logs would show.",
            "Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY instead.",
        )
    return host


def _abfs_confs(env: Mapping[str, str]) -> dict[str, str]:
    """A storage account's key, else a service principal, else the managed identity of the machine."""
    confs = {"fs.azure.io.retry.max.retries": "5"}
    account = env.get("AZURE_STORAGE_ACCOUNT", "")
    if account and env.get("AZURE_STORAGE_KEY"):
        confs[f"fs.azure.account.key.{account}.dfs.core.windows.net"] = "${env.AZURE_STORAGE_KEY}"
    elif env.get("AZURE_CLIENT_ID") and env.get("AZURE_CLIENT_SECRET") and env.get("AZURE_TENANT_ID"):
        tenant = env["AZURE_TENANT_ID"]
        confs |= {
            "fs.azure.account.auth.type": "OAuth",
            "fs.azure.account.oauth.provider.type": f"{_OAUTH}.ClientCredsTokenProvider",
            "fs.azure.account.oauth2.client.endpoint": f"https://login.microsoftonline.com/{tenant}/oauth2/token",
            "fs.azure.account.oauth2.client.id": env["AZURE_CLIENT_ID"],
            "fs.azure.account.oauth2.client.secret": "${env.AZURE_CLIENT_SECRET}",
        }
    else:
        confs |= {
            "fs.azure.account.auth.type": "OAuth",
            "fs.azure.account.oauth.provider.type": f"{_OAUTH}.MsiTokenProvider",
        }
    return _for_hadoop(confs)


def _gcs_confs(env: Mapping[str, str]) -> dict[str, str]:
    """The key file of a service account, else the service account of the machine."""
    confs = {"fs.gs.impl": "org.apache.hadoop.fs.gs.GoogleHadoopFileSystem"}
    if env.get("GOOGLE_APPLICATION_CREDENTIALS"):
        confs |= {
            "fs.gs.auth.type": "SERVICE_ACCOUNT_JSON_KEYFILE",
            "fs.gs.auth.service.account.json.keyfile": env["GOOGLE_APPLICATION_CREDENTIALS"],
        }
    if env.get("GOOGLE_CLOUD_PROJECT"):
        confs["fs.gs.project.id"] = env["GOOGLE_CLOUD_PROJECT"]
    return _for_hadoop(confs)


def _for_hadoop(confs: Mapping[str, str]) -> dict[str, str]:
    return {f"spark.hadoop.{key}": value for key, value in confs.items()}
