# SPDX-License-Identifier: Apache-2.0
"""docs/json.schema.json, and what of a document does not follow it."""
import json

from program import SOURCE

SCHEMA = json.loads((SOURCE / "docs" / "json.schema.json").read_text())
KINDS = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None),
         "integer": int, "number": (int, float)}


def is_kind(value, name):
    return isinstance(value, KINDS[name]) and (isinstance(value, bool) == (name == "boolean"))


def problems(value, rule, path="$"):
    """What JSON Schema has against `value`, of the words that the schema uses."""
    unknown = rule.keys() - {"$ref", "description", "type", "const", "enum", "minimum", "maximum",
                             "items", "minItems", "maxItems", "properties", "required",
                             "additionalProperties", "oneOf", "anyOf"}
    if unknown:
        raise AssertionError(f"the schema has words that the test does not know: {unknown}")
    if "$ref" in rule:
        return problems(value, SCHEMA["$defs"][rule["$ref"].rsplit("/", 1)[1]], path)
    for word, wanted in (("oneOf", lambda n: n == 1), ("anyOf", lambda n: n >= 1)):
        if word in rule:
            found = [problems(value, each, path) for each in rule[word]]
            if not wanted(found.count([])):
                return [f"{path}: fits {found.count([])} of {word}"] + min(found, key=len)
            return []
    kinds = rule.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_kind(value, kind) for kind in kinds):
        return [f"{path}: {value!r} is no {kinds}"]
    out = []
    if "const" in rule and value != rule["const"]:
        out.append(f"{path}: {value!r} is not {rule['const']!r}")
    if "enum" in rule and value not in rule["enum"]:
        out.append(f"{path}: {value!r} is none of {rule['enum']}")
    if is_kind(value, "number"):
        if value < rule.get("minimum", value) or value > rule.get("maximum", value):
            out.append(f"{path}: {value} is out of range")
    if isinstance(value, list):
        if not rule.get("minItems", 0) <= len(value) <= rule.get("maxItems", len(value)):
            out.append(f"{path}: {len(value)} items")
        for i, each in enumerate(value):
            out += problems(each, rule.get("items", {}), f"{path}[{i}]")
    if isinstance(value, dict):
        known, more = rule.get("properties", {}), rule.get("additionalProperties", {})
        out += [f"{path}.{key}: is missing" for key in rule.get("required", []) if key not in value]
        for key, each in value.items():
            if key in known:
                out += problems(each, known[key], f"{path}.{key}")
            elif more is False:
                out.append(f"{path}.{key}: is not in the schema")
            else:
                out += problems(each, more, f"{path}.{key}")
    return out


def hold(test, name, text):
    """A document of the schema's definition `name`, the number at its head."""
    document = json.loads(text)
    test.assertEqual(problems(document, SCHEMA["$defs"][name]), [])
    test.assertEqual(problems(document, {"anyOf": SCHEMA["anyOf"]}), [])
    test.assertEqual(next(iter(document)), "schema")
    return document


def seen_keys(document, name, found=None):
    """The keys that a document has of each definition: {"pool": {"id", ...}}."""
    found = {} if found is None else found

    def look(value, rule):
        if "$ref" in rule:
            seen_keys(value, rule["$ref"].rsplit("/", 1)[1], found)
        elif isinstance(value, list):
            for each in value:
                look(each, rule.get("items", {}))
        elif isinstance(value, dict):
            for each in value.values():
                look(each, rule.get("additionalProperties", {}))

    rule = SCHEMA["$defs"][name]
    for key, value in document.items():
        found.setdefault(name, set()).add(key)
        look(value, rule["properties"][key])
    return found


def definitions_of(name, found=None):
    """The definition and those that it leads to."""
    found = set() if found is None else found
    if name not in found:
        found.add(name)
        text = json.dumps(SCHEMA["$defs"][name])
        for part in text.split('"#/$defs/')[1:]:
            definitions_of(part.split('"', 1)[0], found)
    return found
