"""Who may do what: bearer tokens with a role, of one experiment or of all."""

from __future__ import annotations

import base64
import hashlib
import hmac
import math
import secrets
import time
from collections.abc import Callable
from typing import NamedTuple

from fairx.store.database import Database
from fairx.store.tokens import Token, valid_tokens

from .failures import Refused
from .limits import Bucket, retry_after

DECIDE, REWARD, READ, ADMIN = "decide", "reward", "read", "admin"
SOME = "*"  # role, whichever
ANY = "*"  # of the experiments that a token is for
PREFIX = "fairx"


class Grant(NamedTuple):
    """What the bearer of a token may do."""

    id: str
    name: str
    role: str
    experiment: str | None  # None: all, where it has a role

    def allows(self, role: str, experiment: str | None) -> bool:
        """Tell whether this grant covers a role in an experiment (None: in all of them)."""
        return (role == SOME or self.role in (role, ADMIN)) and (
            experiment == ANY or self.experiment in (None, experiment)
        )


EVERYONE = Grant("-", "no-auth", ADMIN, None)  # where no tokens are asked for, and only there
NOBODY = Grant("-", "nobody", "none", None)  # of routes that need no role
ASK = {"www-authenticate": 'Bearer, Basic realm="fairx: any name, the token as password"'}


def new_token() -> tuple[str, str, str]:
    """Return an id, the token to hand out, and the digest to keep.

    Examples
    --------
    >>> found, token, digest = new_token()
    >>> token.split("_")[1] == found and digest == digest_of(token)
    True
    """
    found = secrets.token_hex(6)
    token = f"{PREFIX}_{found}_{secrets.token_hex(24)}"
    return found, token, digest_of(token)


def digest_of(token: str) -> str:
    """Return what is kept of a token: 192 random bits need no slow hash."""
    return hashlib.sha256(token.encode()).hexdigest()


class Access:
    """The tokens that are valid, and how fast each is used."""

    def __init__(self, *, open_to_all: bool, admin_token: str | None, rate: float) -> None:
        self.open_to_all, self.rate = open_to_all, rate
        self.clock: Callable[[], float] = time.time
        self._admin = digest_of(admin_token) if admin_token else None
        self._tokens: dict[str, tuple[str, Grant, float]] = {}
        self._ever: set[str] = set()  # ids that were known: one that is no more has ended
        self._buckets: dict[str, Bucket] = {}

    def load(self, database: Database) -> int:
        """Read the tokens; return how many there are."""
        found = dict(map(_kept, valid_tokens(database)))
        self._tokens, self._ever = found, self._ever | found.keys()
        return len(found)

    def find(self, database: Database, number: str) -> bool:
        """Read one token that was not known; tell whether it is there.

        Others may end one meanwhile: what is loaded then is added to, and not replaced by what was before.
        """
        if number not in self._ever:
            found = dict(map(_kept, valid_tokens(database, number)))
            self._tokens.update(found)
        return number in self._tokens

    def admit(self, header: bytes | None, role: str, experiment: str | None) -> Grant:
        """Return the grant of a request, or refuse it."""
        grant = EVERYONE if self.open_to_all else self._known(header)
        bucket = self._buckets.get(grant.id)
        if bucket is None:
            bucket = self._buckets[grant.id] = Bucket(self.rate)
        wait = bucket.wait()
        if wait:
            message = f"requests must be at most {self.rate:g} a second for this token"
            raise Refused(429, "too_many_requests", message, {"retry-after": retry_after(wait)})
        if not grant.allows(role, experiment):
            where = f" in experiment {experiment!r}" if experiment else ""
            raise Refused(403, "forbidden", f"this needs the role {role!r}{where}")
        return grant

    def _known(self, header: bytes | None) -> Grant:
        token = _token_of(header)
        digest = digest_of(token)
        if self._admin is not None and hmac.compare_digest(digest, self._admin):
            return Grant("admin", "FAIRX_ADMIN_TOKEN", ADMIN, None)
        found = self._tokens.get(_number(token))
        if found is None or not hmac.compare_digest(digest, found[0]):
            raise _unknown()
        if self.clock() >= found[2]:
            raise Refused(401, "unauthorized", "this token has expired: ask for a new one", ASK)
        return found[1]


def _kept(token: Token) -> tuple[str, tuple[str, Grant, float]]:
    """Return the id of a token, its digest, what it allows and until when."""
    grant = Grant(token.id, token.name, token.role, token.experiment)
    return token.id, (token.digest, grant, math.inf if token.expires is None else token.expires)


def _token_of(header: bytes | None) -> str:
    """Return the token of an Authorization header, Bearer or Basic."""
    try:
        scheme, _, value = (header or b"").decode().partition(" ")
        if scheme.lower() == "basic":
            return base64.b64decode(value, validate=True).decode().partition(":")[2]
    except ValueError:  # neither UTF-8 nor base64
        raise _unknown() from None
    if scheme.lower() != "bearer" or not value:
        raise _unknown()
    return value.strip()


def id_of(header: bytes | None) -> str | None:
    """Return the id in the token of a header, if it looks like one of ours."""
    try:
        token = _token_of(header)
    except Refused:
        return None
    number = _number(token)
    return number if token.startswith(f"{PREFIX}_") and number.isalnum() else None


def _number(token: str) -> str:
    return token[len(PREFIX) + 1 :].partition("_")[0]


def _unknown() -> Refused:
    message = "a valid token is needed: send Authorization: Bearer TOKEN"
    return Refused(401, "unauthorized", message, ASK)
