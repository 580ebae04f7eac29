"""What the environment says about proxies and certificates."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from keymeter_client import AsyncKeymeter, Keymeter, Unavailable

from .clients import client, token_client
from .service import Account, Service

KINDS = ["threads", "asyncio"]
PROXY_VARIABLES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"]
CREDENTIAL = "kmg_a-credential-that-no-proxy-may-see"


class Proxy:
    """Keeps what it gets, and answers that it is no proxy."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.got: list[bytes] = []
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self.got.append(connection.recv(65536))
                connection.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@pytest.fixture
def proxy_of_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Proxy]:
    """Which all variables name, for every host."""
    proxy = Proxy()
    for name in PROXY_VARIABLES:
        monkeypatch.setenv(name, proxy.url)
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    yield proxy
    proxy.close()


@pytest.mark.parametrize("kind", KINDS)
def test_no_proxy_sees_what_is_not_encrypted(
    service: Service, account: Account, proxy_of_environment: Proxy, kind: str
) -> None:
    # Schemes and hosts have no case.
    for url in (service.url, service.url.replace("http://127.0.0.1", "HTTP://LOCALHOST")):
        with client(kind, url, service.credential) as km, token_client(kind, url, account.access_token) as tokens:
            assert km.verify("sk-1").reason == "invalid_key"
            list(tokens.list())
    # Nor elsewhere than on this machine.
    with client(kind, "http://keymeter.invalid", CREDENTIAL) as km, pytest.raises(Unavailable, match="ConnectError"):
        km.verify("sk-1")
    assert proxy_of_environment.got == []


@pytest.mark.parametrize("kind", KINDS)
def test_a_proxy_tunnels_what_is_encrypted_and_sees_only_the_name_of_the_service(
    proxy_of_environment: Proxy, kind: str
) -> None:
    with client(kind, "HTTPS://keymeter.invalid", CREDENTIAL) as km, pytest.raises(Unavailable, match="ProxyError"):
        km.verify("sk-1")
    assert proxy_of_environment.got
    for got in proxy_of_environment.got:
        assert got.startswith(b"CONNECT keymeter.invalid:443 HTTP/1.1\r\n")
        assert CREDENTIAL.encode() not in got
        assert b"authorization" not in got.lower()


@pytest.mark.parametrize("kind", KINDS)
def test_netrc_adds_no_password(service: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str) -> None:
    (tmp_path / ".netrc").write_text("default login me password secret\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    monkeypatch.setenv("HOME", str(tmp_path))
    with client(kind, service.url, service.credential) as km:
        assert km.verify("sk-1").reason == "invalid_key"


@pytest.mark.parametrize("kind", KINDS)
def test_a_redirect_is_not_followed(kind: str) -> None:
    """It would carry the credential and the key to another server."""
    other = Proxy()
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answers() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                head = f"HTTP/1.1 307 Temporary Redirect\r\nLocation: {other.url}/\r\nContent-Length: 0\r\n\r\n"
                connection.sendall(head.encode())

        threading.Thread(target=answers, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with client(kind, url, CREDENTIAL) as km, pytest.raises(Unavailable, match="HTTP status 307"):
            km.verify("sk-1")
    assert other.got == []
    other.close()


@pytest.mark.parametrize("kind", [Keymeter, AsyncKeymeter])
def test_the_authorities_of_the_environment_are_read_for_what_is_encrypted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: type[Keymeter | AsyncKeymeter]
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "none.pem"))
    kind("http://127.0.0.1:1", CREDENTIAL)
    with pytest.raises(FileNotFoundError):
        kind("https://127.0.0.1:1", CREDENTIAL)
