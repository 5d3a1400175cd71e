"""Strict JSON, rationals and hashes: docs/certificates.md, "Texts and numbers"."""

from __future__ import annotations

import hashlib
import json
import re
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from itertools import pairwise

F = Fraction
RATIONAL = re.compile(r"-?(0|[1-9][0-9]*)(/[1-9][0-9]*)?")


class RefusedError(Exception):
    """What does not prove its claim."""


def need(condition: object, reason: str = "") -> None:
    if not condition:
        raise RefusedError(reason)


def load(text):
    def refuse(_):
        raise RefusedError("no integer")

    def whole(pairs):
        need(len(dict(pairs)) == len(pairs), "a key twice")
        return dict(pairs)

    try:
        return json.loads(text, parse_float=refuse, parse_constant=refuse, object_pairs_hook=whole,
                          parse_int=lambda t: refuse(t) if t == "-0" or len(t) > 4001 else int(t))  # fmt: skip
    except (ValueError, RecursionError) as error:
        raise RefusedError(str(error)) from None


def rational(text, least=None):
    need(isinstance(text, str) and RATIONAL.fullmatch(text), "no rational")
    above, _, below = text.partition("/")
    need(max(len(above), len(below)) <= 4000 and below != "0" and below != "1" and above != "-0", "no rational")
    number = F(int(above), int(below or 1))
    need(number.denominator == int(below or 1), "not in lowest terms")
    need(least is None or number >= least, "must be at least 0")
    return number


def index(value, size=None):
    need(type(value) is int and value >= 0 and (size is None or value < size), "no index")
    return value


def keys(value, wanted):
    need(isinstance(value, dict) and value.keys() == wanted, "keys")


def increasing(entries):
    need(isinstance(entries, list) and all(isinstance(entry, list) for entry in entries), "no list")
    need(all(type(key) is int for entry in entries for key in entry[:-1]), "no index")
    need(all(a[:-1] < b[:-1] for a, b in pairwise(entries)), "not increasing")


def sha256(value):
    return "sha256:" + hashlib.sha256(json.dumps(value, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def in_claim(number):
    if number.numerator.bit_length() + number.denominator.bit_length() <= 120:
        return str(number)
    ends = (Context(prec=6, rounding=way).divide(Decimal(number.numerator), Decimal(number.denominator))
            for way in (ROUND_FLOOR, ROUND_CEILING))  # fmt: skip
    return "a number between {} and {}".format(*ends)
