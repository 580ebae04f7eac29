"""One running service for all tests; its ledger is checked at the end."""

from __future__ import annotations

import os
import tempfile
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from keymeter_client import AsyncKeymeter, Keymeter, KeymeterTokens

from .clients import client, token_client
from .service import Account, LossyProxy, Service

ROOT = Path(__file__).parents[3]


def program() -> Path:
    found = Path(os.environ.get("KEYMETER_PROGRAM", ROOT / "target/debug/keymeter"))
    if not found.is_file():
        pytest.exit(f"{found} is missing; build it with: cargo test --locked --no-run", returncode=2)
    return found


@pytest.fixture(scope="session")
def service() -> Iterator[Service]:
    with tempfile.TemporaryDirectory(prefix="keymeter-client-") as directory:
        # The private PostgreSQL of root runs as another account, which must reach its files.
        os.chmod(directory, 0o711)
        service = Service(program(), Path(directory))
        try:
            yield service
            report = service.doctor()
            assert report.returncode == 0, report.stdout + report.stderr
            assert "sk-" not in service.output()
        finally:
            service.stop()


@pytest.fixture(scope="session")
def account(service: Service) -> Account:
    """With a wallet that is always enough."""
    return Account(service, wallet=10**12)


@pytest.fixture(scope="session", params=["threads", "asyncio"])
def km(request: pytest.FixtureRequest, service: Service) -> Iterator[Keymeter]:
    """Both clients: what they have in common is tested with each."""
    with client(request.param, service.url, service.credential) as keymeter:
        yield keymeter


@pytest.fixture(params=["threads", "asyncio"])
def tokens(request: pytest.FixtureRequest, service: Service) -> Iterator[KeymeterTokens]:
    """Both clients for one's own tokens, each with an account that has none."""
    person = Account(service, wallet=10**12)
    with token_client(request.param, service.url, person.access_token) as client:
        yield client


@pytest.fixture
async def akm(service: Service) -> AsyncIterator[AsyncKeymeter]:
    async with AsyncKeymeter(service.url, service.credential) as keymeter:
        yield keymeter


@pytest.fixture
def proxy(service: Service) -> Iterator[LossyProxy]:
    proxy = LossyProxy(service.port)
    yield proxy
    proxy.close()
