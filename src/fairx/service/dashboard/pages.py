"""The pages and their routes. They read, and nothing else."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from fairx.auditing.slates import SlateAudit
from fairx.service import answers, views
from fairx.service.access import ANY, READ, Grant
from fairx.service.audits import Audits
from fairx.service.failures import answered
from fairx.service.runtime import Runtime
from fairx.store.errors import NotFound
from fairx.store.settings import written
from fairx.store.snapshots import Snapshot

from . import facts, words
from .facts import Counted, Judged
from .looks import Looks
from .rendering import Renderer

ASK = 'Basic realm="fairx", charset="UTF-8"'  # browsers ask for it; the token is the password
Handler = Callable[[Request], Awaitable[Response]]


def pages(runtime: Runtime, audits: Audits) -> list[Route]:
    """Return the routes of the dashboard."""
    made = _Pages(runtime, audits)
    return [
        Route("/", made.guarded(made.experiments)),
        Route("/experiments/{name}", made.guarded(made.experiment)),
        Route("/experiments/{name}/arms/{arm:path}", made.guarded(made.arm)),
        Route("/static/{file}", made.guarded(made.static)),
    ]


class _Pages:
    """What answers requests for pages."""

    def __init__(self, runtime: Runtime, audits: Audits) -> None:
        self._runtime, self._looks, self._renderer = runtime, Looks(runtime, audits), Renderer()

    async def experiments(self, request: Request) -> Response:
        """List the experiments that the viewer may read."""
        grant, looks = self._admit(request, ANY), self._looks
        snapshots = views.readable(self._runtime.deciders, grant)
        await looks.over(snapshots)
        found = [
            (views.experiment(each), looks.counts.last(each), looks.judged.last(each))
            for each in snapshots
        ]
        return await self._page(request, "experiments.html", {"found": found})

    async def experiment(self, request: Request) -> Response:
        """Show one experiment."""
        snapshot, order = self._snapshot(request), request.query_params.get("order", "fair")
        judged = await self._looks.judged.of(snapshot)
        counted = await self._looks.counts.of(snapshot)
        every = facts.rows(counted.status, judged.audit)
        about = _about(snapshot, counted, judged) | {
            "every": every,
            "rows": facts.ordered(every, order),
            "orders": facts.ORDERS,
            "order": order,
        }
        return await self._page(request, "experiment.html", about)

    async def arm(self, request: Request) -> Response:
        """Show one arm, to its owner too: no other arm is on the page."""
        snapshot = self._snapshot(request)
        name = request.path_params["arm"] or request.query_params.get("arm", "")
        number = {arm.name: number for number, arm in enumerate(snapshot.arms)}.get(name)
        if number is None:
            raise NotFound(f"arm {name!r} does not exist in {snapshot.experiment.name!r}")
        judged, times = await self._looks.candidacies.of(snapshot)
        counted = await self._looks.counts.of(snapshot)
        if number >= len(counted.status.arms):
            raise NotFound(f"arm {name!r} is new: try again in a few seconds")
        row = facts.rows(counted.status, judged.audit)[number]
        candidacies = times[number] if row.line else 0
        about = _about(snapshot, counted, judged) | {"row": row, "candidacies": candidacies}
        return await self._page(request, "arm.html", about)

    async def static(self, request: Request) -> Response:
        """Send a file of ours."""
        return self._renderer.file(request.path_params["file"])

    def guarded(self, handler: Handler) -> Handler:
        """Return the handler with a page for each failure."""

        async def endpoint(request: Request) -> Response:
            try:
                return await handler(request)
            except Exception as error:  # noqa: BLE001 - answered and logged
                return await self._failed(error, request)

        return endpoint

    def _snapshot(self, request: Request) -> Snapshot:
        name = request.path_params["name"]
        self._admit(request, name)
        return self._runtime.decider(name).snapshot

    def _admit(self, request: Request, name: str) -> Grant:
        header = request.headers.get("authorization")
        return self._runtime.access.admit(header.encode("latin-1") if header else None, READ, name)

    async def _page(self, request: Request, template: str, about: dict[str, Any]) -> Response:
        return await self._renderer.page(request, template, about | {"now": self._runtime.clock()})

    async def _failed(self, error: Exception, request: Request) -> Response:
        reply = answered(error, request.url.path)
        self._runtime.metrics.failed(str(reply.status))
        headers = {name.decode(): value.decode() for name, value in reply.headers}
        if reply.status == 401:
            headers["www-authenticate"] = ASK
        problem = msgspec.json.decode(reply.body, type=answers.Failure).error
        about = {"problem": problem, "status": reply.status}
        return await self._renderer.page(request, "failure.html", about, reply.status, headers)


def _about(snapshot: Snapshot, counted: Counted, judged: Judged) -> dict[str, Any]:
    """Return what the pages of an experiment and of its arms both say."""
    settings = snapshot.experiment.settings
    return {
        "experiment": views.experiment(snapshot),
        "counted": counted,
        "judged": judged,
        "audit": judged.audit,
        "policy_words": words.POLICIES[type(settings.policy).__name__],
        "merit_words": words.merit_words(settings),
        "settings": list(words.flat(written(settings))),
        "weighted": isinstance(judged.audit, SlateAudit),
        "slates": any(arm.exposure is not msgspec.UNSET for arm in counted.status.arms),
    }
