"""SARIF output is valid: by the schema of the standard, and by a tighter one of what opi-xform writes.

In the tighter one every object is closed: a property that opi-xform does not mean to write is an error.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema

Schema = dict[str, Any]
TEXT: Schema = {"type": "string"}
BAG: Schema = {"type": "object"}
STRINGS: Schema = {"type": "object", "additionalProperties": TEXT}


def closed(required: str, **properties: Schema) -> Schema:
    return {"type": "object", "additionalProperties": False, "required": required.split(), "properties": properties}


def several(items: Schema, least: int = 0, unique: bool = False) -> Schema:
    return {"type": "array", "minItems": least, "uniqueItems": unique, "items": items}


def count(least: int) -> Schema:
    return {"type": "integer", "minimum": least}


def one_of(*values: str) -> Schema:
    return {"enum": list(values)}


MESSAGE = closed("text", text={"type": "string", "minLength": 1})
MULTIFORMAT = closed("text", text=TEXT, markdown=TEXT)
REGION = closed("startLine", startLine=count(1), startColumn=count(1), endLine=count(1), endColumn=count(1))
ARTIFACT = closed("uri", uri={"type": "string", "format": "uri-reference", "pattern": "^[^ \\\\]+$"})
LOCATION = closed(
    "",
    id=count(-1),
    physicalLocation=closed("artifactLocation", artifactLocation=ARTIFACT, region=REGION),
    logicalLocations=several(closed("name", name=TEXT, kind=TEXT), unique=True),
    message=MESSAGE,
)
FLOW = closed("locations", locations=several(closed("location", location=LOCATION), least=1))
RESULT = closed(
    "message ruleId ruleIndex level",
    ruleId=TEXT,
    ruleIndex=count(0),
    level=one_of("none", "note", "warning", "error"),
    message=MESSAGE,
    locations=several(LOCATION),
    partialFingerprints=STRINGS,
    codeFlows=several(closed("threadFlows", threadFlows=several(FLOW, least=1))),
    relatedLocations=several(LOCATION, unique=True),
    suppressions=several(
        closed("kind", kind=one_of("inSource", "external"), status=one_of("accepted", "underReview", "rejected"))
    ),
    baselineState=one_of("new", "unchanged", "updated", "absent"),
    properties=BAG,
)
RULE = closed(
    "id",
    id=TEXT,
    name=TEXT,
    shortDescription=MULTIFORMAT,
    fullDescription=MULTIFORMAT,
    help=MULTIFORMAT,
    defaultConfiguration=closed("", level=one_of("none", "note", "warning", "error")),
)
DRIVER = closed("name", name=TEXT, version=TEXT, rules=several(RULE, unique=True))
RUN = closed(
    "tool",
    tool=closed("driver", driver=DRIVER),
    columnKind=one_of("utf16CodeUnits", "unicodeCodePoints"),
    results=several(RESULT),
    properties=BAG,
)
SARIF = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    **closed(
        "version runs",
        **{"$schema": {"type": "string", "format": "uri"}},
        version={"const": "2.1.0"},
        runs=several(RUN),
    ),
}
STANDARD: Schema = json.loads(Path(__file__).with_name("data").joinpath("sarif-2.1.0-rtm.5.json").read_text("utf-8"))
"""tests/data/README.md says where it is from."""


def parsed(text: str) -> Any:
    """A SARIF log, which must be valid."""
    log = json.loads(text)
    jsonschema.Draft4Validator(STANDARD).validate(log)
    jsonschema.Draft202012Validator(SARIF).validate(log)
    return log
