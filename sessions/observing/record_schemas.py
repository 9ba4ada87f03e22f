"""The three tools by which workers record, as a model is offered them."""

from __future__ import annotations

from memory.observations import RELEVANCES
from sessions.chat_model import ToolSpec
from sessions.observing.json_schema import Schema

OBSERVATIONS_SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "observations": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "timestamp": {"type": "string", "description": "When it was said: YYYY-MM-DD HH:MM."},
                    "content": {"type": "string", "minLength": 1, "description": "One fact, on one plain line."},
                    "relevance": {"type": "string", "enum": list(RELEVANCES)},
                    "sources": {
                        "type": "array",
                        "minItems": 1,
                        "items": {"type": "string"},
                        "description": "Ids of the entries that say so, exactly as they are given.",
                    },
                },
                "required": ["timestamp", "content", "relevance", "sources"],
            },
        }
    },
    "required": ["observations"],
}

REFLECTIONS_SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "reflections": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "content": {"type": "string", "minLength": 1, "description": "One conclusion, on one plain line."},
                    "supports": {
                        "type": "array",
                        "minItems": 1,
                        "items": {"type": "string"},
                        "description": "Ids of the observations that it rests on, exactly as they are given.",
                    },
                },
                "required": ["content", "supports"],
            },
        }
    },
    "required": ["reflections"],
}

DROPS_SCHEMA: Schema = {
    "type": "object",
    "properties": {
        "ids": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Ids of the observations to retire, exactly as they are given.",
        },
        "reason": {"type": "string", "description": "Why, in a few words."},
    },
    "required": ["ids"],
}


def _tool(name: str, description: str, parameters: Schema) -> ToolSpec:
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": dict(parameters)},
    }


RECORD_OBSERVATIONS = _tool(
    "record_observations",
    "Record what is worth remembering. May be called several times; an empty list says that nothing is.",
    OBSERVATIONS_SCHEMA,
)
RECORD_REFLECTIONS = _tool(
    "record_reflections",
    "Record lasting conclusions. May be called several times; an empty list says that there are none.",
    REFLECTIONS_SCHEMA,
)
DROP_OBSERVATIONS = _tool(
    "drop_observations",
    "Propose observations to retire. May be called several times; an empty list says that all are to stay.",
    DROPS_SCHEMA,
)
