"""Simulated traffic for `fairx serve --demo`: visitors, clicks that come late, twice or never."""

from __future__ import annotations

import asyncio
import math
import random
from collections.abc import Callable, Coroutine
from typing import Any, NamedTuple

import httpx

from fairx.client import AsyncClient, AsyncHandle, Conflict, Reward, ServiceError
from fairx.merit import Exponential
from fairx.policies import FairXLinTS, FairXTS

ARTICLES = {
    "Harbour opens": 0.62, "Night train returns": 0.58, "Chess final": 0.55, "Storm warning": 0.5,
    "New bakery": 0.47, "Bridge repairs": 0.42, "Council vote": 0.33, "Parking rules": 0.25,
}  # fmt: skip
SONGS = 12
DIMENSION = 6
WINDOW = 4.0  # seconds; a real site would wait for hours
RATE = 40.0  # decisions a second and experiment
PLACES = [round(1 / math.log2(1 + place), 3) for place in range(1, 6)]  # how likely each is seen
PAGES = 0.2  # of a second page for each visitor: it is five decisions in one
CROWD = 150  # visits at once; 90 are usual, most of which only read
LINES = httpx.Limits(max_connections=8)  # what a request costs its sender grows with them


async def traffic(address: str, token: str | None, seed: int) -> None:
    """Create three experiments, where they are not there, and visit them until cancelled."""
    rng = random.Random(seed)
    async with AsyncClient(
        address, token, transport=httpx.AsyncHTTPTransport(limits=LINES)
    ) as client:
        news, radio = client.experiment("demo-news"), client.experiment("demo-radio")
        merit = Exponential(6)
        await _created(news.create(list(ARTICLES), FairXTS(merit, 0.3, 0.5), reward_window_s=WINDOW,
                                   floor=0.02, reward_range=(0.0, 1.0)))  # fmt: skip
        front = client.experiment("demo-front-page")
        await _created(front.create(list(ARTICLES), FairXTS(merit, 0.3, 0.5), reward_window_s=WINDOW,
                                    reward_range=(0.0, 1.0), requires_shown=True))  # fmt: skip
        songs = [f"Song {number}" for number in range(1, SONGS + 1)]
        await _created(radio.create(songs, FairXLinTS(merit, 0.5, 0.5), dimension=DIMENSION,
                                    reward_window_s=WINDOW, reward_range=(0.0, 1.0)))  # fmt: skip
        tastes = {song: [rng.gauss(0, 0.4) for _ in range(DIMENSION)] for song in songs}
        await _first(lambda: news.decide())
        await _first(lambda: front.decide(places=PLACES))
        await _first(lambda: radio.decide(contexts=[[0.0] * DIMENSION] * SONGS))
        async with asyncio.TaskGroup() as group:
            visits = Visits(group, set())
            while True:
                await asyncio.sleep(rng.expovariate(RATE))
                visits.begin(lambda: _read(news, rng))
                visits.begin(lambda: _listen(radio, rng, tastes))
                if rng.random() < PAGES:
                    visits.begin(lambda: _scan(front, rng))


class Visits(NamedTuple):
    """Those who are there. Where the service is slow others stay away: to wait and ask again is work, too."""

    group: asyncio.TaskGroup
    there: set[asyncio.Task[None]]

    def begin(self, visit: Callable[[], Coroutine[Any, Any, None]]) -> bool:
        """Let a visitor come, unless there is a crowd."""
        if len(self.there) >= CROWD:
            return False
        task = self.group.create_task(_quietly(visit()))
        self.there.add(task)
        task.add_done_callback(self.there.discard)
        return True


async def _read(news: AsyncHandle, rng: random.Random) -> None:
    choice = await news.decide()
    await news.shown(choice.decision)
    if rng.random() < 0.05:
        return  # closed the page: no reward ever comes
    await asyncio.sleep(min(rng.expovariate(0.7), 2 * WINDOW))  # sometimes too late
    clicked = float(rng.random() < ARTICLES[choice.arm])
    for _ in range(2 if rng.random() < 0.1 else 1):  # a browser that sends twice
        await news.reward(choice.decision, clicked, final=True)


async def _scan(front: AsyncHandle, rng: random.Random) -> None:
    """Look at some places of a page, and click on what is liked: what was not seen teaches nothing."""
    page = await front.decide(places=PLACES)
    seen = [placed for placed in page.slate if rng.random() < PLACES[placed.place - 1]]
    await front.shown(page.decision, [placed.place for placed in seen])
    await asyncio.sleep(min(rng.expovariate(0.7), 2 * WINDOW))
    clicks = [placed for placed in seen if rng.random() < ARTICLES[placed.arm]]
    await front.rewards([Reward(page.decision, 1.0, place=placed.place) for placed in clicks])


async def _listen(radio: AsyncHandle, rng: random.Random, tastes: dict[str, list[float]]) -> None:
    mood = [rng.gauss(0, 1) for _ in range(DIMENSION)]
    rows = [[t * m for t, m in zip(taste, mood, strict=True)] for taste in tastes.values()]
    choice = await radio.decide(contexts=rows)
    liked = 0.5 + 0.25 * sum(rows[list(tastes).index(choice.arm)])
    await asyncio.sleep(rng.expovariate(2.0))
    await radio.reward(choice.decision, float(rng.random() < liked), final=True)


async def _created(create: Coroutine[Any, Any, Any]) -> None:
    """Create an experiment, unless it is there from last time."""
    try:
        await create
    except Conflict:
        return


async def _first(decide: Callable[[], Coroutine[Any, Any, Any]]) -> None:
    """Decide once what was compiled for it: visitors would crowd before the door meanwhile."""
    while True:
        try:
            await decide()
        except ServiceError:
            await asyncio.sleep(0.5)
        else:
            return


async def _quietly(visit: Coroutine[Any, Any, None]) -> None:
    """Let a visitor go away who is not served."""
    try:
        await visit
    except ServiceError:
        return
