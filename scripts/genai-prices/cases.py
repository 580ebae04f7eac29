"""Prints the units and the data of the installed genai-prices, then random requests and what they cost by it.

The first line is the units, the second the data as it is published. Each other line is a request: provider, name of a model,
time, context, units, and the units of quota that it costs, or null where it has no price. The library finds the model, the
prices in force and the parts of units; only the sum is made of fractions here, because its decimals have 28 digits.

    python cases.py SEED COUNT
"""

import dataclasses
import datetime
import json
import math
import random
import re
import sys
from decimal import Decimal
from fractions import Fraction

from genai_prices import types
from genai_prices.data import providers
from genai_prices.data_units import unit_data
from genai_prices.units import _get_registry

QUOTA_PER_USD = 500_000
# Values by which providers name their standard price, which the library does not check.
STANDARD = {'service_tier': {'default', 'standard', 'auto', 'on_demand'}}

# What the library does in its code: at least ten seconds.
MINIMUMS = {('groq', 'whisper-large-v3'), ('groq', 'whisper-large-v3-turbo')}

registry = _get_registry()
reported_units = [unit for unit in registry.units.values() if unit.usage_key != 'requests']


def published(value):
    """The JSON of a part of the data."""
    match value:
        case Decimal():
            return f'{value:f}'
        case datetime.time():
            return json.dumps(value.isoformat() + ('' if value.tzinfo else 'Z'))
        case datetime.date():
            return json.dumps(value.isoformat())
        case types.ModelPrice():
            return published(value._comparable_values())
        case dict():
            return '{' + ','.join(f'{json.dumps(key)}:{published(item)}' for key, item in value.items()) + '}'
        case list() | tuple():
            return '[' + ','.join(published(item) for item in value) + ']'
        case _ if dataclasses.is_dataclass(value):
            fields = {field.name.removesuffix('_'): getattr(value, field.name) for field in dataclasses.fields(value)}
            return published({key: item for key, item in fields.items() if item is not None and key[0] != '_'})
        case _:
            return json.dumps(value)


def is_part(part, whole):
    return whole.dimensions.items() < part.dimensions.items()


def random_count(rng, unit, starts):
    if unit.dimensions['family'] == 'durations':
        return Decimal(rng.randrange(1, 10 ** rng.randint(1, 7))) / 1000
    if starts and rng.random() < 0.3:
        return max(0, rng.choice(starts) + rng.randint(-1, 1))
    return rng.randrange(1, 10 ** rng.randint(1, 9))


def random_units(rng, rates):
    """Counts in which every whole is at least the sum of its parts."""
    priced = [registry.unit_for_price_key(key) for key in rates]
    known = [unit for unit in reported_units if any(unit is rate or is_part(unit, rate) for rate in priced)]
    # Now and then a unit without a rate.
    chosen = rng.sample(known, min(len(known), rng.randint(0, 4))) + rng.sample(reported_units, int(rng.random() < 0.05))
    starts = [tier.start for rate in rates.values() if isinstance(rate, types.TieredPrices) for tier in rate.tiers]
    own = {unit.usage_key: random_count(rng, unit, starts) for unit in chosen}
    counts = {}
    for unit in reported_units:
        parts = [count for key, count in own.items() if registry.units[key] is unit or is_part(registry.units[key], unit)]
        if parts or (priced and rng.random() < 0.2):
            counts[unit.usage_key] = sum(parts)
    return counts


def random_time(rng, model):
    conditions = [price.constraint for price in model.prices] if isinstance(model.prices, list) else []
    conditions += [variant.constraint for variant in model.price_variants or []]
    conditions = [condition for condition in conditions if condition is not None]
    at = rng.randrange(1_704_067_200, 1_830_297_600)
    if conditions and rng.random() < 0.5:
        match rng.choice(conditions):
            case types.StartDateConstraint(start_date=day):
                midnight = datetime.datetime.combine(day, datetime.time(), datetime.UTC)
                return int(midnight.timestamp()) + rng.choice([-1, 0, 1, 86_400])
            case types.TimeOfDateConstraint(start_time=start, end_time=end):
                hour = rng.choice([start, end])
                return at - at % 86_400 + hour.hour * 3_600 + hour.minute * 60 + hour.second + rng.choice([-1, 0, 1])
    return at


def cost(provider, model, at, context, units):
    """What a request costs in dollars, or None if it has no price."""
    time = datetime.datetime.fromtimestamp(at, datetime.UTC)
    active = [v for v in model.price_variants or [] if v.constraint is None or v.constraint.active(time)]
    selected = [v for v in active if all(context.get(key) == value for key, value in v.when.items())]
    for key, value in context.items():
        if value not in STANDARD.get(key, ()) and not any(key in variant.when for variant in selected):
            return None
    rates = {k: v for k, v in model.get_prices(time, context)._comparable_values().items()}
    priced = [registry.unit_for_price_key(key) for key in rates]
    for key, count in units.items():
        unit = registry.units[key]
        if count > 0 and not any(unit is rate or is_part(unit, rate) for rate in priced):
            return None
    usage = types.Usage(**{key: count for key, count in units.items()})
    try:
        if (provider, model.id) in MINIMUMS and usage.audio_seconds > 0:
            usage.audio_seconds = max(usage.audio_seconds, 10)
        resolved = [(registry.unit_for_price_key(key), rate) for key, rate in rates.items()]
        counts = types._compute_registry_priced_counts(resolved, usage)
        total_input = usage.input_tokens if any(isinstance(rate, types.TieredPrices) for _, rate in resolved) else 0
    except ValueError:
        return None
    total = Fraction(0)
    for unit, rate in resolved:
        of_one = types.calc_unit_price(rate, 1, total_input, 1)
        total += Fraction(of_one) * Fraction(counts[unit.usage_key]) / unit.per
    return total


def random_name(rng, rule, model):
    """A name that a rule may be for."""
    match rule:
        case types.ClauseEquals(equals=text):
            return text
        case types.ClauseStartsWith(starts_with=text):
            return text + rng.choice(['', '-x', ':free', '-20260715', '-2026-07-15'])
        case types.ClauseContains(contains=text) | types.ClauseEndsWith(ends_with=text):
            return rng.choice(['', 'eu.', 'a/']) + text
        case types.ClauseOr(or_=rules) | types.ClauseAnd(and_=rules):
            return random_name(rng, rng.choice(rules), model)
        case _:
            return model.id


def spelt(rng, name):
    """The same name as others write it."""
    compact = re.sub(r'-(20\d\d)-(\d\d)-(\d\d)', r'-\1\2\3', name)
    return rng.choice([name, name, name.upper(), compact])


def main():
    rng, count = random.Random(int(sys.argv[1])), int(sys.argv[2])
    print(json.dumps(unit_data))
    print(published(list(map(without_none, providers))))
    models = [(provider, model) for provider in providers for model in provider.models]
    sellers = [provider for provider in providers if provider.fallback_model_providers]
    for _ in range(count):
        provider, model = rng.choice(models)
        name = spelt(rng, random_name(rng, model.match, model) if rng.random() < 0.5 else model.id)
        if rng.random() < 0.1:
            provider = rng.choice(sellers)
        found = provider.find_model(name, all_providers=providers)
        model = found or model
        if found is not None and not any(found is own for own in provider.models):
            found = dataclasses.replace(found, price_variants=None)
        at = random_time(rng, model)
        context = {}
        for _ in range(rng.choice([0, 0, 1, 2])):
            if model.price_variants:
                context |= rng.choice(model.price_variants).when
        if found is None or not has_price(found):
            rates, dollars = {}, None
            units = random_units(rng, rates)
        else:
            rates = found.get_prices(datetime.datetime.fromtimestamp(at, datetime.UTC), context)._comparable_values()
            units = random_units(rng, rates)
            dollars = cost(provider.id, found, at, context, units)
        quota = None if dollars is None else math.ceil(dollars * QUOTA_PER_USD)
        units = {key: str(count) for key, count in units.items()}
        print(json.dumps([provider.id, name, at, context, units, quota]))


def without_none(provider):
    kept = dataclasses.replace(provider)
    for field in dataclasses.fields(provider):
        if getattr(kept, field.name) is None:
            delattr(kept, field.name)
    return kept


def has_price(model):
    sets = [model.prices] if isinstance(model.prices, types.ModelPrice) else [price.prices for price in model.prices]
    return bool(sets) and all(prices._comparable_values() for prices in sets)


main()
