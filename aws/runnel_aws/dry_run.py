"""A dry run: every call that would write is written down and answered with placeholders, in botocore, below all our code."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import boto3
from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from botocore.model import ListShape, OperationModel, Shape, StructureShape

_reading = ("Describe", "Get")


class PlannedCalls:
    """The plan of a dry run: what would be done, in order."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say
        self.steps: list[str] = []

    def add(self, step: str) -> None:
        """Something that would be done now."""
        self.steps.append(step)
        self._say(step)

    def guard(self, session: boto3.Session) -> None:
        """No client made of the session from now on makes a call that is not known to only read."""
        session.events.register("before-parameter-build", self._keep_parameters)
        # What a handler of this event returns is taken for the answer; the stubs do not know.
        session.events.register("before-call", self._answer)  # type: ignore[arg-type]

    def _keep_parameters(self, params: dict[str, Any], context: dict[str, Any], **_: Any) -> None:
        context["runnel_parameters"] = params

    def _answer(
        self, model: OperationModel, context: dict[str, Any], **_: Any
    ) -> tuple[AWSResponse, Any] | None:
        if model.name.startswith(_reading):
            return None
        region = context["client_region"]
        parameters = json.dumps(_shortened(context["runnel_parameters"]), separators=(", ", ": "))
        self.add(f"{region}  {model.service_model.service_name}  {model.name}  {parameters}")
        reply = {} if model.output_shape is None else _placeholder(model.output_shape, "", 0)
        return AWSResponse("", 200, HTTPHeaders(), None), reply


def _shortened(value: Any) -> Any:
    """Without the token, which user data holds, and without its length."""
    if isinstance(value, dict):
        return {
            key: f"({len(entry)} bytes)" if key == "UserData" else _shortened(entry)
            for key, entry in value.items()
        }
    if isinstance(value, list):
        return [_shortened(entry) for entry in value]
    return value


def _placeholder(shape: Shape, name: str, depth: int) -> Any:
    """A value of the shape: texts say what they stand for, lists have one entry."""
    if isinstance(shape, StructureShape):
        return (
            {key: _placeholder(member, key, depth + 1) for key, member in shape.members.items()}
            if depth < 4
            else {}
        )
    if isinstance(shape, ListShape):
        return [_placeholder(shape.member, name, depth + 1)]
    if shape.type_name == "string":
        return f"({name})"
    return False if shape.type_name == "boolean" else 0
