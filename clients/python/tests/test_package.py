"""What is published: the README does what it says, and the package is complete."""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import httpx
import pytest

import keymeter_client
from keymeter_client import KeymeterTokens

from .clients import wait_until
from .service import Account, Service, free_port
from .test_provider_usage import PRICES

HERE = Path(__file__).parents[1]
README = (HERE / "README.md").read_text()
# What a reader has: a model that costs a cent.
MODEL = """
from types import SimpleNamespace

def ask_model(question):
    return "Because of the air.", SimpleNamespace(usd=0.01, prompt=900, completion=400)

"""


@pytest.fixture
def environment(service: Service, account: Account) -> dict[str, str]:
    return {
        "KEYMETER_URL": service.url,
        "KEYMETER_CREDENTIAL": service.credential,
        "KEYMETER_ACCESS_TOKEN": account.access_token,
        "PYTHONPATH": str(HERE / "src"),
    }


def program(number: int) -> str:
    programs: list[str] = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    return programs[number]


def test_the_first_program_of_the_readme_charges_and_is_refused(account: Account, environment: dict[str, str]) -> None:
    key = account.key(10_000)
    said = []
    for _ in range(2):
        code = MODEL + program(0).replace("sk-…", key.text)
        ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
        said.append(ran.stdout.strip())
    (comment,) = re.findall(r"print\(error\)  # (.*)", program(0))
    assert said == ["Because of the air.", comment]
    assert account.used(key) == 5_000
    (charge,) = account.charges(key)
    assert (charge["model_name"], charge["prompt_tokens"], charge["completion_tokens"]) == ("gpt-5", 900, 400)


def test_the_program_of_the_readme_about_usage_charges_what_each_provider_says(
    account: Account, environment: dict[str, str], tmp_path: Path
) -> None:
    # What a reader has: SDKs, whose objects are those of pydantic or alike.
    (tmp_path / "answers.py").write_text(
        "class Answer:\n"
        "    def __init__(self, **members): self.members = members\n"
        "    def __call__(self, *_, **__): return self\n"
        "    def __getattr__(self, name): return self\n"
        "    def model_dump(self, **_): return self.members\n"
    )
    openai = "usage={'prompt_tokens': 100, 'completion_tokens': 10, 'total_tokens': 110}"
    for name, variable, members in (
        ("openai", "OpenAI", openai),
        ("anthropic", "Anthropic", "usage={'input_tokens': 100, 'output_tokens': 20}"),
        ("google", "genai", "usageMetadata={'promptTokenCount': 100, 'candidatesTokenCount': 30}"),
    ):
        (tmp_path / f"{name}.py").write_text(f"from answers import Answer\n{variable} = Answer({members})\n")
    (tmp_path / "sitecustomize.py").write_text(
        f"import httpx\nhttpx.post = lambda *_, **__: httpx.Response(200, json=dict({openai}))\n"
    )
    account.service.root("PUT", "/api/admin/prices", PRICES)
    key = account.key()
    code = program(1).replace("sk-…", key.text)
    python_path = {"PYTHONPATH": f"{tmp_path}:{environment['PYTHONPATH']}"}
    ran = subprocess.run(
        [sys.executable, "-c", code], env=environment | python_path, capture_output=True, text=True, check=True
    )
    assert ran.stdout == "150\n"
    assert account.used(key) == 150 + 200 + 250 + 150


def test_the_application_of_the_readme_charges_and_is_refused(
    account: Account, environment: dict[str, str], tmp_path: Path
) -> None:
    key = account.key(10_000)
    (tmp_path / "application.py").write_text(MODEL.replace("def", "async def") + program(2))
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "application:app", "--port", str(port), "--log-level", "error"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment) as server, httpx.Client() as http:

        def listens() -> bool:
            try:
                return http.get(f"http://127.0.0.1:{port}/docs").status_code == 200
            except httpx.ConnectError:
                return False

        try:
            wait_until("it listens", listens)
            url, headers = f"http://127.0.0.1:{port}/v1/answers?question=Why", {"Authorization": f"Bearer {key.text}"}
            assert http.post(url, headers=headers).json() == "Because of the air."
            wait_until("it is settled", lambda: account.used(key) == 5_000)
            assert http.post(url, headers=headers).status_code == 402
        finally:
            server.terminate()


def test_the_program_of_the_readme_about_keys_creates_and_rotates_one(account: Account, environment: dict[str, str]) -> None:
    code = "keys = []\ndeploy = keys.append\n" + program(3) + "\nprint(*keys)"
    ran = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True)
    lines = ran.stdout.splitlines()
    assert "ci working 500000" in lines
    first, second = lines[-1].split()
    with KeymeterTokens(account.service.url, account.access_token) as tokens:
        (made,) = [each for each in tokens.list() if each.name == "ci"]
        assert made.note == "for the tests, and the builds"
        assert tokens.reveal(made.id) == second != first
        assert len(tokens.old_keys(made.id)) == 1


def test_the_wheel_and_the_source_are_complete(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(tmp_path)], cwd=HERE, check=True, capture_output=True)
    version = keymeter_client.__version__
    modules = {f"keymeter_client/{path.name}" for path in (HERE / "src/keymeter_client").iterdir() if path.is_file()}
    assert "keymeter_client/py.typed" in modules
    with zipfile.ZipFile(tmp_path / f"keymeter_client-{version}-py3-none-any.whl") as wheel:
        names = set(wheel.namelist())
        metadata = wheel.read(f"keymeter_client-{version}.dist-info/METADATA").decode()
    assert {name for name in names if name.startswith("keymeter_client/")} == modules
    assert f"keymeter_client-{version}.dist-info/licenses/LICENSE" in names
    for line in ("Name: keymeter-client", f"Version: {version}", "License-Expression: Apache-2.0", "Requires-Python: >=3.10"):
        assert line in metadata
    assert re.findall(r"^Requires-Dist: (.*)$", metadata, re.MULTILINE) == ["httpx<1,>=0.27"]
    with tarfile.open(tmp_path / f"keymeter_client-{version}.tar.gz") as source:
        names = {name.partition("/")[2] for name in source.getnames()}
    assert {"README.md", "CHANGELOG.md", "LICENSE", "pyproject.toml", "src/keymeter_client/py.typed"} <= names
    assert not {name for name in names if name.startswith("tests")}


def test_the_changelog_begins_with_this_version() -> None:
    versions = re.findall(r"^## \[(.*?)\]", (HERE / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert versions[0] == keymeter_client.__version__


def test_the_licence_is_that_of_the_service() -> None:
    assert (HERE / "LICENSE").read_text() == (HERE / "../../LICENSE").read_text()
