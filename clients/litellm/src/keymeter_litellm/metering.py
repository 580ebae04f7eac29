"""The plug-in: LiteLLM's hooks, from the authentication of a request to the report of what it cost."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import ipaddress
import logging
import os
import re
import weakref
from collections.abc import Coroutine, Mapping
from decimal import Decimal
from typing import Any, Final

import httpx
import litellm
from fastapi import Request as HttpRequest
from keymeter_client import AsyncKeymeter, AsyncSpend, KeymeterError, Refused, Unavailable, Verification, new_request_id
from litellm.integrations.custom_logger import CustomLogger
from litellm.proxy import proxy_server
from litellm.proxy._types import LitellmUserRoles, UserAPIKeyAuth
from litellm.proxy.auth.auth_utils import get_request_route
from litellm.proxy.auth.route_checks import RouteChecks
from pydantic import PrivateAttr

from . import gate, holds, layout, refusals, routes, settings
from .proof import Proof, prove
from .refusals import Refusal

log: Final = logging.getLogger("keymeter_litellm")

# No list of addresses has it, except one that allows all.
NO_ADDRESS: Final = "0.0.0.0"  # noqa: S104 # an address of clients, nothing listens there
MAX_KEY_LENGTH: Final = 1_024
MOST_USD: Final = Decimal(1_000_000)
START_SECONDS: Final = 10
LONGEST_PAUSE_SECONDS: Final = 30.0
FLUSH_SECONDS: Final = 5
REPORT_SECONDS: Final = 10


class MeteredRequest:
    """What is known of a request with a key of Keymeter. It has the key, so nothing shows or copies it."""

    def __init__(self, key: str, ip: str, api: routes.Api | None = None) -> None:
        self.key = key
        self.ip = ip
        self.api = api
        self.spend: AsyncSpend | None = None
        self.ended = False
        self.given_up = False
        """Its hold was charged, so nothing more is."""
        self.timed_out = False
        """An attempt that was sent had no answer in time. The provider may work on, and bill it."""
        self.has_answer = False
        """Some of its answer was sent to the client."""
        self.flat_usd: Decimal | None = None
        """What it costs if the model has no price."""
        self.model = ""
        self.call_type = ""
        self.reported: set[tuple[str, str]] = set()
        self.log_object: weakref.ref[Any] | None = None

    def __repr__(self) -> str:
        return "MeteredRequest()"

    def __copy__(self) -> MeteredRequest:
        return self

    def __deepcopy__(self, memo: object) -> MeteredRequest:
        return self

    def __reduce__(self) -> str:
        raise TypeError("a metered request has an API key and cannot be written")


class MeteredKey(UserAPIKeyAuth):
    """A key as LiteLLM sees it. LiteLLM's copies share the request, and nobody else can set it."""

    _request: MeteredRequest | None = PrivateAttr(default=None)


# LiteLLM calls plug-ins whose name has this word also for a request that says "no-log".
class _PROXY_Keymeter(CustomLogger):  # noqa: N801
    def __init__(self) -> None:
        super().__init__()
        layout.check()
        layout.let_streams_end()
        self.settings = settings.read(os.environ)
        self.keymeter = AsyncKeymeter(max_spends=self.settings.max_requests)
        self.proof: Proof | None = None
        self._proven = asyncio.Event()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        layout.before_routes(lambda app: gate.Gate(app, self))
        layout.before_shutdown(self.close)
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return
        self._start()

    # --- Start and stop -----------------------------------------------------------------------------------------------

    def _start(self) -> None:
        """Proves that requests are metered. Until then they wait; if they are not, the process ends."""
        if self._loop is None:
            self._loop = asyncio.get_running_loop()
            self._start_task = self._loop.create_task(self._prove())

    async def _prove(self) -> None:
        self.proof = Proof()
        try:
            await prove(self, auth, self.proof)
        except Exception as error:
            log.critical("LiteLLM does not start, because its requests would not be metered: %s", error)
            logging.shutdown()
            os._exit(3)
        finally:
            self.proof = None
        self._proven.set()
        log.info("requests are metered by Keymeter")

    async def close(self) -> None:
        """Sends what is not settled yet; for up to 5 seconds if Keymeter does not answer."""
        if not await layout.flush_events(FLUSH_SECONDS):
            log.error("LiteLLM has not reported all costs before its end")
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=1)
        await self.keymeter.close()

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- Authentication -----------------------------------------------------------------------------------------------

    async def authenticate(self, request: HttpRequest, api_key: str) -> UserAPIKeyAuth:
        self._start()
        refusals.keep_in_answers(request)
        kind = routes.kind_of(request.scope.get("method"), path := get_request_route(request))
        master_key = proxy_server.master_key
        if master_key and hmac.compare_digest(str(api_key).encode(), str(master_key).encode()):
            if kind is not routes.Kind.FREE and (kind is routes.Kind.METERED or RouteChecks.is_llm_api_route(path)):
                raise refusals.not_metered("the master key is for administration; send a key of Keymeter")
            return UserAPIKeyAuth(api_key=master_key, user_role=LitellmUserRoles.PROXY_ADMIN, user_id="default_user_id")
        is_proof = self.proof is not None and self.proof.has(api_key)
        if not is_proof and not self._proven.is_set():
            try:
                await asyncio.wait_for(self._proven.wait(), START_SECONDS)
            except asyncio.TimeoutError:
                raise refusals.unavailable() from None
        if not isinstance(api_key, str) or not api_key or len(api_key) > MAX_KEY_LENGTH:
            raise refusals.invalid_key()
        if kind is routes.Kind.NOT_METERED:
            raise refusals.not_metered(f"{path} is not metered here, so API keys cannot be used for it")
        passage = gate.passage_of(request.scope)
        if passage is None and request.method != "GET":
            log.critical("a request to %s has not passed the gate, so it is refused", path)
            raise refusals.misconfigured()
        metered = MeteredRequest(api_key, _address(request), passage.api if passage is not None else None)
        key = MeteredKey(api_key=hashlib.sha256(api_key.encode()).hexdigest())
        key._request = metered
        if not is_proof:
            # Before anything is counted, which takes a while.
            verified = await self._verify(metered)
            if kind is routes.Kind.FREE:
                _identify(key, verified.user_id, verified.name)
        if passage is not None:
            if passage.refusal is not None:
                raise passage.refusal
            passage.metered = metered
        return key

    async def _verify(self, request: MeteredRequest) -> Verification:
        try:
            verified = await self.keymeter.verify(request.key, ip=request.ip)
        except KeymeterError as error:
            raise refusals.refusal_of(error) from None
        # What costs something needs a reservation, which says what is missing.
        if not verified.valid and not refusals.is_amount(verified.reason or ""):
            raise refusals.refusal_of_reason(verified.reason or "", verified.retry_after)
        return verified

    # --- Before the request -------------------------------------------------------------------------------------------

    async def async_pre_call_hook(
        self, user_api_key_dict: Any, cache: Any, data: dict[str, Any], call_type: str
    ) -> dict[str, Any]:
        request = request_of(user_api_key_dict)
        if request is None:
            raise refusals.not_metered("requests need a key of Keymeter")
        if request.api is None or call_type not in request.api.call_types:
            raise refusals.not_metered(f"{call_type} is not metered here")
        model = data.get("model")
        if not isinstance(model, str) or not model:
            raise Refusal(400, "invalid_request_error", "missing_model", "name the model in `model`", refusals.NO_RETRY)
        if "," in model:
            raise refusals.not_metered("one model for each request")
        if data.get("stream") and call_type in ("acompletion", "atext_completion"):
            _count_stream(data)
        if request.spend is not None:
            # LiteLLM tries another model because its own rate limit refused this one.
            self._end(request, failed=True)
        request.spend, request.ended, request.timed_out = None, False, False
        request.model, request.call_type = model, call_type
        usd = await self._hold(request, call_type, data, model)
        await self._reserve(request, usd, model)
        if (log_object := data.get("litellm_logging_obj")) is not None:
            request.log_object = weakref.ref(log_object)
        reservation = request.spend.reservation if request.spend is not None else None
        if reservation is not None:
            _identify(user_api_key_dict, reservation.user_id, reservation.name)
            for name in ("metadata", "litellm_metadata"):
                if isinstance(metadata := data.get(name), dict) and "user_api_key_auth" in metadata:
                    metadata |= {
                        "user_api_key_user_id": user_api_key_dict.user_id,
                        "user_api_key_alias": user_api_key_dict.key_alias,
                    }
        return data

    async def _hold(self, request: MeteredRequest, call_type: str, data: dict[str, Any], model: str) -> Decimal:
        router = proxy_server.llm_router
        prices = holds.prices(router, model) if router is not None else []
        request.flat_usd = flat = self.settings.unpriced_usd
        if flat is None and not (prices and all(map(holds.is_price, prices))):
            raise refusals.model_not_priced(model)
        # A fallback without a price may answer, and costs the hold.
        others = [] if router is None else [holds.prices(router, each) for each in holds.fallbacks_of(router, model)]
        may_answer = [*prices, *(price for each in others for price in each)]
        costs = [Decimal(0)]
        if not prices or not all(map(holds.is_price, may_answer)):
            costs.append(holds.LEAST_USD if flat is None else flat)
        dear = [price for price in may_answer if holds.is_price(price) and not holds.is_free(price)]
        for price in dear:
            if (what := holds.unpriced(price, data)) is not None:
                raise refusals.not_metered(f"{what} of the model {model} has no price here")
        if dear:
            need = await asyncio.to_thread(holds.need_of, call_type, data, model)
            costs.append(holds.LEAST_USD)
            costs += [holds.hold_usd(price, need, self.settings.max_tokens) * self.settings.markup for price in dear]
        return min(max(costs), MOST_USD)

    async def _reserve(self, request: MeteredRequest, usd: Decimal, model: str) -> None:
        keymeter = self.keymeter
        if self.proof is not None and self.proof.has(request.key):
            request.spend = self.proof.spend()
            return
        spend = keymeter.spend(
            request.key,
            usd=usd,
            model=model,
            ip=request.ip,
            ttl_seconds=self.settings.ttl_seconds,
            on_expiry=self.settings.on_expiry,
        )
        try:
            await spend.begin()
        except KeymeterError as error:
            raise refusals.refusal_of(error) from None
        request.spend = spend

    # --- While it is carried out, see gate.Gate -----------------------------------------------------------------------

    def seconds_of(self, request: MeteredRequest | None) -> float:
        """How long it may take after its client has left."""
        router = proxy_server.llm_router
        seconds = (router.timeout if router is not None else None) or litellm.request_timeout
        if router is not None and request is not None and request.model:
            seconds = max([seconds, *holds.timeouts(router, request.model)])
        return float(seconds)

    def give_up(self, request: MeteredRequest) -> None:
        """The provider may work on, and nobody will hear what it bills."""
        if request.spend is not None and not request.ended:
            log.warning("a request to %s has had its time after its client left: its hold is charged", request.model)
            request.given_up = True
            self._end(request, failed=False)

    def expect_report(self, request: MeteredRequest) -> None:
        """LiteLLM has carried it out, and reports what it cost in a moment. It forgets some requests without a word."""
        if request.spend is not None and not request.ended:
            self._run(self._await_report(request))

    async def _await_report(self, request: MeteredRequest) -> None:
        await asyncio.sleep(REPORT_SECONDS)
        if not request.ended:
            await layout.flush_events(self.settings.ttl_seconds / 2)
        if not request.ended:
            on_expiry = self.settings.on_expiry
            log.warning("LiteLLM reports no end of a request to %s, so its hold ends (%s)", request.model, on_expiry)
            request.given_up = True
            self._end(request, failed=on_expiry == "release")

    # --- After the request --------------------------------------------------------------------------------------------

    async def async_log_success_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        request = request_in(kwargs)
        cost = self._cost(kwargs, request)
        if request is None:
            if cost:
                log.error("a request without a key of Keymeter cost %s USD, which nobody is charged", cost)
            return
        event = (str(kwargs.get("litellm_call_id")), str(start_time))
        if event in request.reported:
            return
        request.reported.add(event)
        if request.given_up:
            return
        if request.spend is None or request.ended:
            if cost:
                log.error("a request cost %s USD without a reservation: it is charged now", cost)
                self._run(self._charge(request, cost))
            return
        if cost is None:
            log.error("LiteLLM does not know what a request to %s cost: its hold is charged", request.model)
        else:
            self._tell(request.spend, cost, _report(kwargs))
        self._end(request, failed=False)

    async def async_log_failure_event(self, kwargs: Any, response_obj: Any, start_time: Any, end_time: Any) -> None:
        """Of one attempt. Another one may follow."""
        request = request_in(kwargs)
        if request is not None and _timed_out(kwargs.get("exception")):
            request.timed_out = True

    async def async_post_call_failure_hook(
        self,
        request_data: dict[str, Any],
        original_exception: Exception,
        user_api_key_dict: Any,
        traceback_str: str | None = None,
    ) -> None:
        request = request_of(user_api_key_dict)
        if request is None or request.spend is None or request.ended:
            return
        log_object = request.log_object() if request.log_object is not None else None
        if log_object is not None and log_object.async_success_log_enqueued:
            # The answer was there and something refused it afterwards. The report of its cost is under way.
            return
        if request.timed_out or _timed_out(original_exception):
            log.warning("a request to %s had no answer in time: its hold is charged", request.model)
            request.given_up = True
            self._end(request, failed=False)
            return
        cost = _usd(request_data.get("response_cost"))
        if cost:
            self._tell(request.spend, cost * self.settings.markup, request_data.get("standard_logging_object"))
        elif request.has_answer:
            log.warning("an answer of %s has failed on its way, and nobody knows its cost: its hold is charged", request.model)
            request.given_up = True
        self._end(request, failed=not request.given_up)

    def _cost(self, kwargs: Mapping[str, Any], request: MeteredRequest | None) -> Decimal | None:
        """In dollars, as it is charged; None if nobody knows it."""
        if kwargs.get("cache_hit") is True:
            return Decimal(0)
        cost = _usd(kwargs.get("response_cost"))
        price = _price(kwargs)
        if cost and request is not None and price is not None and holds.is_unheard(price, request.call_type, _report(kwargs)):
            # LiteLLM counts the text alone, and the provider bills the sound too.
            return None
        if cost or request is None:
            return None if cost is None else cost * self.settings.markup
        if price is None or not holds.is_price(price):
            # A model without a price costs LiteLLM nothing.
            return request.flat_usd
        if holds.is_free(price):
            return Decimal(0)
        # LiteLLM cannot read each answer. What it cannot read is not free.
        usage = holds.usage_usd(price, _report(kwargs))
        log.warning("LiteLLM says that a request to %s cost %s; by its usage it is %s USD", request.model, cost, usage)
        return None if usage is None else usage * self.settings.markup

    def _tell(self, spend: AsyncSpend, cost: Decimal, report: object) -> None:
        tokens = report if isinstance(report, Mapping) else {}
        try:
            spend.cost(
                usd=cost, prompt_tokens=_count(tokens, "prompt_tokens"), completion_tokens=_count(tokens, "completion_tokens")
            )
        except ValueError as error:
            log.error("a cost of %s USD cannot be charged, so at least the hold is: %s", cost, error)

    def _end(self, request: MeteredRequest, failed: bool) -> None:
        """Settles or releases, in a task of its own: LiteLLM cancels its reports after 20 seconds."""
        spend = request.spend
        if spend is None or request.ended:
            return
        request.ended = True
        self._run(spend.end(_Failed() if failed else None))

    async def _charge(self, request: MeteredRequest, cost: Decimal) -> None:
        """Of what had no reservation. Bounded by the requests that LiteLLM carries out."""
        request_id = new_request_id()
        pause = 0.5
        while True:
            try:
                await self.keymeter.charge(request.key, usd=cost, model=request.model or None, request_id=request_id)
                return
            except Unavailable as error:
                log.warning("a cost of %s USD waits for Keymeter: %s", cost, error)
            except Refused as error:
                log.error("a cost of %s USD could not be charged: %s", cost, error)
                return
            await asyncio.sleep(pause)
            pause = min(pause * 2, LONGEST_PAUSE_SECONDS)


class _Failed(Exception):
    """The request failed."""


def request_of(key: object) -> MeteredRequest | None:
    return key._request if isinstance(key, MeteredKey) else None


def request_in(kwargs: Mapping[str, Any]) -> MeteredRequest | None:
    """The request that LiteLLM reports about. Its place depends on the route."""
    for place in (kwargs.get("litellm_params"), kwargs):
        for name in ("metadata", "litellm_metadata"):
            metadata = place.get(name) if isinstance(place, Mapping) else None
            if isinstance(metadata, Mapping) and (request := request_of(metadata.get("user_api_key_auth"))) is not None:
                return request
    return None


def _identify(key: UserAPIKeyAuth, user_id: int | None, name: str | None) -> None:
    key.user_id = None if user_id is None else str(user_id)
    key.key_alias = name


def _price(kwargs: Mapping[str, Any]) -> holds.Price | None:
    """Of the deployment that answered; None if it is none of the configuration."""
    parameters = kwargs.get("litellm_params")
    info = parameters.get("model_info") if isinstance(parameters, Mapping) else None
    deployment = info.get("id") if isinstance(info, Mapping) else None
    router = proxy_server.llm_router
    if router is None or not isinstance(deployment, str):
        return None
    found = router.get_deployment(model_id=deployment)
    return None if found is None else holds.price_of(router, deployment, found.litellm_params.model)


def _report(kwargs: Mapping[str, Any]) -> object:
    return kwargs.get("standard_logging_object")


def _count_stream(data: dict[str, Any]) -> None:
    """Asks the provider for the counts at the end of the stream: LiteLLM's own do not have what the client does not see."""
    options = data.get("stream_options")
    if not isinstance(options, dict) or options.get("include_usage") is not True:
        data["stream_options"] = {**(options if isinstance(options, dict) else {}), "include_usage": True}
        data[layout.STRIP_USAGE] = True


def _timed_out(error: object) -> bool:
    """After it was sent. A provider's gateway may say so too."""
    causes: list[BaseException] = []
    while isinstance(error, BaseException) and len(causes) < 10:
        causes.append(error)
        error = error.__cause__ or error.__context__
    if any(isinstance(cause, (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)) for cause in causes):
        return False
    return any(
        isinstance(cause, (litellm.Timeout, httpx.TimeoutException, asyncio.TimeoutError))
        or getattr(cause, "status_code", None) in (504, 524)
        for cause in causes
    )


def _address(request: HttpRequest) -> str:
    """Of the connection. uvicorn puts that of the client there if a trusted proxy names it, some of which add a port."""
    host = request.client.host if request.client else ""
    if port := re.fullmatch(r"(?:\[(.+)\]|([^:]+))(?::\d+)?", host):
        host = port[1] or port[2]
    try:
        return str(ipaddress.ip_address(host.partition("%")[0]))
    except ValueError:
        return NO_ADDRESS


def _usd(cost: object) -> Decimal | None:
    if isinstance(cost, bool) or not isinstance(cost, (int, float)):
        return None
    exact = Decimal(repr(cost))
    return exact if exact.is_finite() and exact >= 0 else None


def _count(report: Mapping[str, Any], name: str) -> int:
    value = report.get(name)
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else 0


plugin: Final = _PROXY_Keymeter()


async def auth(request: HttpRequest, api_key: str) -> UserAPIKeyAuth:
    """LiteLLM's `custom_auth`."""
    return await plugin.authenticate(request, api_key)
