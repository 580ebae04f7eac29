"""Prints the units and the extractors of the installed genai-prices, then random answers and what it extracts.

The first line is the names of the units, the second the providers with their extractors as they are published. Each
other line is an answer: provider, API, the answer, whether a value in it has a wrong type, and what the library
returns: the model and the units, or null where it raises.

    python extracted.py SEED COUNT
"""

import dataclasses
import json
import random
import sys

from genai_prices import types
from genai_prices.data import providers
from genai_prices.units import _get_registry

MODELS = ['claude-opus-5', 'gpt-5', '', None, 5]


def published(value):
    """A part of the data as it is published."""
    if isinstance(value, list | tuple):
        return [published(item) for item in value]
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return {name.removesuffix('_'): published(item) for name, item in fields.items() if name[0] != '_'}
    return value


def steps_of(path):
    return [path] if isinstance(path, str) else list(path)


def random_number(rng):
    kind = rng.random()
    if kind < 0.15:
        return 0
    if kind < 0.3:
        return rng.randrange(1, 10 ** rng.randint(2, 9)) / 1000
    if kind < 0.32:
        return -rng.randrange(1, 100)
    if kind < 0.34:
        return rng.random() < 0.5
    return rng.randrange(1, 10 ** rng.randint(1, 12))


def random_value(rng, answer):
    """What stands at the end of a path: a number, null, or something else."""
    kind = rng.random()
    if kind < 0.08:
        return None
    if kind < 0.1:
        answer['has_wrong_type'] = True
        return rng.choice(['12', [3], {'tokens': 4}])
    return random_number(rng)


def put(rng, answer, into, steps, value):
    """Puts a value at a path, unless something else is on the way."""
    for position, step in enumerate(steps):
        is_last = position + 1 == len(steps)
        if isinstance(step, types.ArrayMatch):
            text = step.match.equals
            item = next((item for item in into if isinstance(item, dict) and item.get(step.field) == text), None)
            if item is None:
                if rng.random() < 0.1:
                    into.append(rng.choice([None, 7, {step.field: 'OTHER', 'tokenCount': 3}]))
                item = {step.field: rng.choice([text, text.lower()])}
                into.append(item)
            into = item
            continue
        if is_last:
            into[step] = value
            return
        if into.get(step) is None or not isinstance(into[step], dict | list):
            if step in into:
                return
            kind = rng.random()
            if kind < 0.03:
                into[step] = None
                return
            if kind < 0.05:
                answer['has_wrong_type'] = True
                into[step] = rng.choice(['details', 3])
                return
            into[step] = [] if isinstance(steps[position + 1], types.ArrayMatch) else {}
        if isinstance(into[step], list) != isinstance(steps[position + 1], types.ArrayMatch):
            return
        into = into[step]


def random_answer(rng, extractor, others):
    answer = {'data': {}, 'has_wrong_type': False}
    root = steps_of(extractor.root)
    kind = rng.random()
    if kind < 0.03:
        put(rng, answer, answer['data'], root, None)
    elif kind > 0.06:
        usage = {}
        missing = rng.choice([0, 0.1, 0.5])
        # Mostly its own paths, now and then those of another extractor too.
        mappings = list(extractor.mappings) + (list(rng.choice(others).mappings) if rng.random() < 0.1 else [])
        for mapping in mappings:
            if rng.random() >= (missing / 4 if mapping.required else missing):
                put(rng, answer, usage, steps_of(mapping.path), random_value(rng, answer))
        if rng.random() < 0.1:
            usage['unknown'] = {'count': random_number(rng)}
        put(rng, answer, answer['data'], root, usage)
    if rng.random() < 0.8:
        put(rng, answer, answer['data'], steps_of(extractor.model_path), rng.choice(MODELS))
    return answer


def extracted(extractor, data):
    try:
        model, usage = extractor.extract(data)
    except ValueError:
        return None
    return [model, {key: json.dumps(value) for key, value in usage._reported_values().items()}]


def main():
    rng, count = random.Random(int(sys.argv[1])), int(sys.argv[2])
    print(json.dumps(list(_get_registry().units)))
    print(json.dumps([{'id': provider.id, 'extractors': published(provider.extractors)} for provider in providers]))
    apis = [(provider.id, extractor) for provider in providers for extractor in provider.extractors or []]
    others = [extractor for _, extractor in apis]
    for index in range(count):
        # Each API is tried equally often.
        provider, extractor = apis[index % len(apis)]
        answer = random_answer(rng, extractor, others)
        data, has_wrong_type = answer['data'], answer['has_wrong_type']
        print(json.dumps([provider, extractor.api_flavor, data, has_wrong_type, extracted(extractor, data)]))


main()
