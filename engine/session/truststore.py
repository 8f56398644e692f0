"""Let Java trust what this machine trusts, and go through the proxy that this machine uses.

A Java runtime brings its own list of certificate authorities and reads no ``https_proxy``. Behind a
company's TLS proxy it then cannot download a thing, where pip on the same machine just did.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import ssl
import struct
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

_BUNDLES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Arch, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, RHEL
    "/etc/ssl/ca-bundle.pem",  # SUSE
    "/etc/ssl/cert.pem",  # macOS, BSD
)
_PEM = re.compile(r"-----BEGIN CERTIFICATE-----.+?-----END CERTIFICATE-----", re.DOTALL)


def system_certificates(environ: Mapping[str, str] | None = None) -> list[bytes]:
    """The certificate authorities that this machine trusts, each as DER.

    From SSL_CERT_FILE, what Python's ssl was built with, or the system's usual bundle: the first
    that has any. Empty when there is none.
    """
    env = os.environ if environ is None else environ
    for name in (env.get("SSL_CERT_FILE"), ssl.get_default_verify_paths().cafile, *_BUNDLES):
        if not name:
            continue
        with contextlib.suppress(OSError, ValueError):
            text = Path(name).read_text(encoding="ascii", errors="ignore")
            certificates = [ssl.PEM_cert_to_DER_cert(pem) for pem in _PEM.findall(text)]
            if certificates:
                return list(dict.fromkeys(certificates))
    return []


def write_truststore(path: Path, certificates: list[bytes]) -> None:
    """Write ``certificates`` (DER) as a JKS truststore, which every Java still reads.

    The format: magic, version 2, the entries (tag 2: a trusted certificate; alias; time; type; DER),
    and a SHA-1 of it all keyed with a password that Java checks only when it is told one. It holds
    nothing secret.
    """
    body = struct.pack(">III", 0xFEEDFEED, 2, len(certificates))
    for number, der in enumerate(certificates):
        alias = f"ca{number}".encode()
        body += struct.pack(">IH", 2, len(alias)) + alias + struct.pack(">Q", 0)
        body += struct.pack(">H", 5) + b"X.509" + struct.pack(">I", len(der)) + der
    keyed = "changeit".encode("utf-16-be") + b"Mighty Aphrodite" + body
    path.write_bytes(body + hashlib.sha1(keyed, usedforsecurity=False).digest())


def proxy_options(environ: Mapping[str, str] | None = None) -> list[str]:
    """``https_proxy``, ``http_proxy`` and ``no_proxy`` of the environment as Java's system properties.

    User and password of a proxy are left out: they would stand on a command line that all may read.
    """
    env = os.environ if environ is None else environ
    options: list[str] = []
    for scheme in ("http", "https"):
        value = env.get(f"{scheme}_proxy") or (env.get("HTTPS_PROXY") if scheme == "https" else None)
        if not value:
            continue
        try:
            proxy = urlsplit(value if "//" in value else f"//{value}")
            host, port = proxy.hostname, proxy.port
        except ValueError:
            continue
        if host:
            options.append(f"-D{scheme}.proxyHost={host}")
            options.append(f"-D{scheme}.proxyPort={port or 80}")
    exceptions = env.get("no_proxy") or env.get("NO_PROXY") or ""
    hosts = [host.strip() for host in exceptions.split(",") if host.strip()]
    if options and hosts:
        java_hosts = [f"*{host}" if host.startswith(".") else host for host in hosts]
        options.append(f"-Dhttp.nonProxyHosts={'|'.join(java_hosts)}")
    return options
