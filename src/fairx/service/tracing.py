"""Requests as spans of OpenTelemetry: where they go is said by its own variables, OTEL_*."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from .observing import Tracer

EXTRA = "--traces needs {}: pip install 'fairx[tracing]'"
UNNAMED = "unknown_service"  # as OpenTelemetry calls a service unless OTEL_SERVICE_NAME is set
FAILED = 500


def tracer(provider: Any = None) -> Tracer:
    """Return what makes a span of each request; `provider` is the one of OTEL_* unless given."""
    try:
        from opentelemetry import propagate, trace
    except ModuleNotFoundError as error:
        raise ImportError(EXTRA.format(error.name)) from error
    found = (provider or exporting()).get_tracer("fairx")

    @contextmanager
    def span(scope: Any, number: str) -> Iterator[Callable[[int], None]]:
        carrier = {
            name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]
        }
        about = {
            "http.request.method": scope["method"], "url.path": scope["path"], "fairx.request_id": number,
        }  # fmt: skip
        name = f"{scope['method']} {named(scope['path'])}"
        kind, context = trace.SpanKind.SERVER, propagate.extract(carrier)
        with found.start_as_current_span(name, context, kind, about) as made:
            yield lambda status: _note(made, status)

    def _note(made: Any, status: int) -> None:
        made.set_attribute("http.response.status_code", status)
        if status >= FAILED:
            made.set_status(trace.StatusCode.ERROR)

    return span


def named(path: str) -> str:
    """Return a path without what is different in each: so many names a trace store cannot group.

    Examples
    --------
    >>> named("/v1/experiments/shop/decisions/17")
    '/v1/experiments/{name}/decisions/{id}'
    """
    parts = path.split("/")
    if parts[1:3] == ["v1", "experiments"]:
        parts[3:4] = ["{name}"] if len(parts) > 3 else []
        parts[5:] = ["{id}"] if len(parts) > 5 else []
    elif parts[1:3] == ["v1", "tokens"]:
        parts[3:4] = ["{id}"] if len(parts) > 3 else []
    elif parts[1:2] != ["v1"]:
        parts[2:] = []
    return "/".join(parts)


def exporting() -> Any:
    """Return a provider that sends spans as OTEL_* says."""
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import SERVICE_NAME, Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ModuleNotFoundError as error:
        raise ImportError(EXTRA.format(error.name)) from error
    about = Resource.create()
    if f"{about.attributes[SERVICE_NAME]}".startswith(UNNAMED):
        about = about.merge(Resource({SERVICE_NAME: "fairx"}))
    provider = TracerProvider(resource=about)
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    return provider
