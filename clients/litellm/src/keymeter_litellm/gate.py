"""In front of LiteLLM's routes: a request reaches them with what routes.APIS lists and nothing else, and ends there even if its
client leaves.

LiteLLM reads its own arguments from the body, from headers and from the query, on each route in another way. So all three are
written anew before it reads any of them: what was checked is what LiteLLM gets.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlencode

import httpx
import orjson
from litellm.proxy import proxy_server
from litellm.proxy.auth.auth_utils import get_request_route
from litellm.types.utils import all_litellm_params
from starlette.datastructures import Headers, UploadFile
from starlette.requests import Request

from . import holds, refusals, routes
from .refusals import Refusal

if TYPE_CHECKING:
    from .metering import MeteredRequest, _PROXY_Keymeter

log: Final = logging.getLogger("keymeter_litellm")

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

SCOPE: Final = "keymeter"
MAX_BODY: Final = 64 * 1024 * 1024
"""In bytes. It is read before the key is checked."""

# LiteLLM's own arguments, and members of other APIs: nothing for this provider. Clients send some of them out of habit, so they
# are removed, not refused.
_REMOVED: Final = frozenset(all_litellm_params) | routes.LIMITS | routes.MEMBERS | {
    *("context_window_fallbacks", "content_policy_fallbacks", "model_group_retry_policy", "router_settings_override"),
    *("timeout", "base_url", "drop_params", "additional_drop_params", "callbacks", "service_callback"),
}  # fmt: skip

# What LiteLLM and the providers need of HTTP, where LiteLLM looks for a key, and what says who asks.
_HEADERS: Final = frozenset(
    {
        *("host", "content-type", "content-length", "accept", "user-agent", "traceparent", "tracestate"),
        "x-forwarded-for",
        *("authorization", "x-api-key", "api-key", "x-goog-api-key", "ocp-apim-subscription-key", "x-litellm-api-key"),
        *("anthropic-version", "anthropic-beta"),
    }
)
_FILES: Final = frozenset({"file", "image", "image[]", "mask", "mask[]"})
# Google's clients may send their key in it. LiteLLM takes models, versions and more from the others.
_QUERY: Final = frozenset({"key"})


@dataclass
class Passage:
    """A request behind the gate. Authentication refuses it if it has a refusal."""

    api: routes.Api
    refusal: Refusal | None
    metered: MeteredRequest | None = None


def passage_of(scope: Mapping[str, Any]) -> Passage | None:
    passage = scope.get(SCOPE)
    return passage if isinstance(passage, Passage) else None


class Gate:
    def __init__(self, app: App, plugin: _PROXY_Keymeter) -> None:
        self._app = app
        self._plugin = plugin
        self._allow = plugin.settings.allow
        # The loop itself keeps only weak references to tasks.
        self._running: set[asyncio.Future[None]] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        api = None
        if scope["type"] == "http":
            api = routes.api_of(scope["method"], get_request_route(Request(scope)))
        if api is None:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        passage = Passage(api, None)
        body, content_type = b"{}", "application/json"
        try:
            raw = await _read(receive)
            if raw is None:
                return
            if api.form and headers.get("content-type", "").partition(";")[0].strip().lower() == "multipart/form-data":
                body, content_type = await _form(api, self._allow, scope, raw)
            else:
                body = _written(cleaned(api, self._allow, _object(raw)))
        except Refusal as refusal:
            passage.refusal = refusal
        self._rewrite(scope, headers, body, content_type)
        scope[SCOPE] = passage
        if passage.refusal is None and api.call_types:
            await self._carry_out(scope, passage, _once(body), receive, send)
        else:
            await self._app(scope, _once(body, receive), send)

    def _rewrite(self, scope: Scope, headers: Headers, body: bytes, content_type: str) -> None:
        allowed = _HEADERS | {name.lower() for name in self._allow}
        if isinstance(own := proxy_server.general_settings.get("litellm_key_header_name"), str):
            allowed |= {own.lower()}
        kept = [(name, value) for name, value in headers.raw if name.decode("latin-1").lower() in allowed]
        for name, value in ((b"content-type", content_type), (b"content-length", str(len(body)))):
            kept = [each for each in kept if each[0].lower() != name] + [(name, value.encode("latin-1"))]
        scope["headers"] = kept
        query = parse_qsl(scope.get("query_string", b"").decode("latin-1"), keep_blank_values=True)
        scope["query_string"] = urlencode([each for each in query if each[0] in _QUERY | self._allow]).encode()
        # LiteLLM keeps there what it has read of the request before.
        scope.pop("parsed_body", None)
        for name in [name for name in scope.get("state") or () if name.startswith("_cached")]:
            del scope["state"][name]

    async def _carry_out(self, scope: Scope, passage: Passage, body: Receive, receive: Receive, send: Send) -> None:
        """Nobody behind the gate learns that the client leaves: the provider works on, and LiteLLM reads what it bills.

        After the time that the request has, counted again from then on, the hold is charged.
        """
        left = asyncio.Event()

        status = 0

        async def send_unless_left(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            if passage.metered is not None and message.get("body") and status < 400:  # of HTTP
                passage.metered.has_answer = True
            if not left.is_set():
                try:
                    await send(message)
                except OSError:
                    left.set()

        async def watch() -> None:
            while (await receive())["type"] != "http.disconnect":
                pass
            left.set()

        async def limit() -> None:
            await left.wait()
            await asyncio.sleep(self._plugin.seconds_of(passage.metered))
            if passage.metered is not None:
                self._plugin.give_up(passage.metered)
            work.cancel()

        work = asyncio.ensure_future(self._app(scope, body, send_unless_left))
        helpers = (asyncio.ensure_future(watch()), asyncio.ensure_future(limit()))

        def done(_: object) -> None:
            self._running.discard(work)
            for helper in helpers:
                helper.cancel()
            if passage.metered is not None:
                self._plugin.expect_report(passage.metered)

        self._running.add(work)
        work.add_done_callback(done)
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            # By `limit`; or by the server, which has ended the connection.
            left.set()
            if not work.cancelled():
                raise


async def _read(receive: Receive) -> bytes | None:
    """None if the client left. Raises Refusal."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            raise refusals.too_large(MAX_BODY)
        if not message.get("more_body", False):
            return b"".join(parts)


def _once(body: bytes, then: Receive | None = None) -> Receive:
    """Gives the body, and then nothing for ever."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive() -> Message:
        if messages:
            return messages.pop()
        if then is not None:
            return await then()
        await asyncio.Event().wait()
        raise AssertionError

    return receive


def _object(raw: bytes) -> Mapping[str, Any]:
    try:
        body = orjson.loads(raw or b"{}")
    except ValueError:
        raise refusals.invalid("the body is not valid JSON") from None
    if not isinstance(body, dict):
        raise refusals.invalid("the body must be a JSON object")
    return body


def _written(body: Mapping[str, Any]) -> bytes:
    try:
        return orjson.dumps(body)
    except TypeError:
        raise refusals.invalid("the body is nested too deeply") from None


async def _form(api: routes.Api, allow: frozenset[str], scope: Scope, raw: bytes) -> tuple[bytes, str]:
    """The form with what may pass, written anew, and its content type."""
    try:
        form = await Request(dict(scope), _once(raw)).form()
    except Exception:
        raise refusals.invalid("the body is not a valid form") from None
    fields: dict[str, Any] = {}
    files: list[tuple[str, tuple[str, bytes, str]]] = []
    for name, value in form.multi_items():
        if isinstance(value, UploadFile):
            if name not in _FILES:
                raise refusals.invalid(f"`{_shown(name)}` must not be a file")
            files.append((name, (value.filename or name, await value.read(), value.content_type or "application/octet-stream")))
        elif name.endswith("[]"):
            fields.setdefault(name, []).append(value)
        elif name in fields:
            raise refusals.invalid(f"`{_shown(name)}` is given twice")
        else:
            fields[name] = value
    await form.close()
    if any(name in fields for name, _ in files):
        raise refusals.invalid("a file and a text have the same name")
    kept = cleaned(api, allow, {**fields, **dict(files)})
    data = {name: value for name, value in kept.items() if name in fields}
    written = httpx.Request("POST", "http://form", data=data, files=[each for each in files if each[0] in kept])
    return written.read(), written.headers.get("content-type", "application/x-www-form-urlencoded")


# --- What may pass ----------------------------------------------------------------------------------------------------


def cleaned(api: routes.Api, allow: frozenset[str], body: Mapping[str, Any]) -> dict[str, Any]:
    """The body with what may pass. Raises Refusal."""
    kept = _members(body, api.members | allow, api.camel)
    for name, members in api.nested.items():
        if (value := kept.get(name)) is not None:
            if not isinstance(value, Mapping):
                raise refusals.invalid(f"`{name}` must be an object")
            kept[name] = _members(value, members | allow, api.camel, f"{name}.")
    # Some providers, and LiteLLM on its way to them, take a limit of 0 for none.
    for name, least in (*((name, api.least_limit) for name in api.limits), *((name, 0) for name in api.answers)):
        if (value := _at(kept, name)) is not None and ((number := holds.whole(value)) is None or number < least):
            raise refusals.invalid(f"`{name}` must be a whole number of {least} or more")
    if not isinstance(kept.get("stream", False), bool | None):
        raise refusals.invalid("`stream` must be true or false")
    if kept.get("metadata") is not None and "metadata" not in allow:
        kept["metadata"] = _texts(kept["metadata"])
    _check_tools(api, allow, kept.get("tools"))
    return kept


def _texts(metadata: object) -> dict[str, str]:
    """The providers' metadata are texts. LiteLLM's are lists and objects, also written as JSON, and choose its deployments."""
    if not isinstance(metadata, Mapping) or not all(isinstance(text, str | None) for text in metadata.values()):
        raise refusals.not_metered("`metadata` other than an object of texts is not metered here")
    return {name: text for name, text in metadata.items() if text is not None}


def _members(body: Mapping[str, Any], allowed: frozenset[str], camel: bool = False, where: str = "") -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for given, value in body.items():
        name = _camel(given) if camel else given
        if name in kept:
            raise refusals.invalid(f"`{where}{_shown(given)}` is given twice")
        if name in allowed:
            kept[name] = value
        elif name == "background" and value:
            raise refusals.not_metered("answers in the background are not metered here; leave out `background`")
        elif not _REMOVED.intersection((name, given)) and value is not None:
            raise refusals.not_metered(f"`{where}{_shown(given)}` is not metered here; leave it out")
    return kept


def _check_tools(api: routes.Api, allow: frozenset[str], tools: object) -> None:
    if tools is None or not api.tools:
        return
    for tool in tools if isinstance(tools, list) else [tools]:
        if not isinstance(tool, Mapping):
            raise refusals.invalid("`tools` must be a list of objects")
        # Google's are called as their member. Of Anthropic's only `custom` may be left out.
        kinds = [_camel(name) for name in tool] if api.camel else [str(tool.get("type") or "custom")]
        for kind in kinds:
            if kind not in allow and not re.fullmatch(api.tools, kind):
                raise refusals.not_metered(f"tools of the type `{_shown(kind)}` are not metered here")
        if api.tool_members and not allow.intersection(kinds):
            for name in tool.keys() - api.tool_members - allow:
                raise refusals.not_metered(f"`tools.{_shown(name)}` is not metered here; leave it out")
        if tool.get("type") == "mcp" and not str(tool.get("server_url") or "https:").startswith(("https:", "http:")):
            # LiteLLM calls models again and again with the tools of its own servers.
            raise refusals.not_metered("tools of this proxy are not metered here")
        if tool.get("type") == "namespace":
            _check_tools(api, allow, tool.get("tools"))


def _camel(name: str) -> str:
    """Google takes both spellings, LiteLLM and its other providers mostly this one."""
    return re.sub(r"_([a-z])", lambda letter: letter[1].upper(), name)


def _at(body: Mapping[str, Any], path: str) -> object:
    value: object = body
    for name in path.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value


def _shown(name: str) -> str:
    """A client's text, in a sentence."""
    return re.sub(r"[^\w.\-\[\] ]", "?", name[:64])
