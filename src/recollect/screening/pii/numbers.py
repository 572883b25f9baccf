"""Finds social security, card and account numbers, by their form and check digits."""

import re
from collections.abc import Iterator
from functools import cache

from recollect.screening.pii.text import Span


def find_ssns(text: str) -> Iterator[Span]:
    """3-2-4 digits with an area that is issued, unless they number goods; nine digits in a row only
    after a word for it."""
    for found in _SSN.finditer(text):
        name = "parted" if found["parted"] else "whole"
        before = text[max(0, found.start(name) - _GOODS_CHARS) : found.start(name)]
        if name == "parted" and _OF_GOODS.search(before):
            continue
        digits = _SEPARATOR.sub("", found[name])
        area, group, serial = digits[:3], digits[3:5], digits[5:]
        if area not in ("000", "666") and area < "900" and group != "00" and serial != "0000":
            yield found.span(name)


def find_cards(text: str) -> Iterator[Span]:
    """13 to 19 digits with an issuer's prefix and length, and a correct check digit.

    The digits may be in one piece, grouped as on a card or evenly, or written one by one.
    """
    for run in _DIGIT_RUN.finditer(text):
        groups = [found.span() for found in _DIGITS.finditer(text, run.start(), run.end())]
        yield from _find_cards_in(text, groups)


def find_ibans(text: str) -> Iterator[Span]:
    """An account number of a country that uses IBANs, with its length and check digits."""
    free = 0
    for found in _IBAN_START.finditer(text):
        length = _IBAN_LENGTHS.get(found[1].upper())
        if length is None or found.start() < free:
            continue
        whole = _iban_pattern(length).match(text, found.start())
        if whole and _has_check_digits(_SEPARATOR.sub("", whole[0])):
            free = whole.end()
            yield whole.span()


def _find_cards_in(text: str, groups: list[Span]) -> Iterator[Span]:
    first = 0
    while first < len(groups):
        last = _card_end(text, groups, first)
        if last is None:
            first += 1
            continue
        yield groups[first][0], groups[last][1]
        first = last + 1


def _card_end(text: str, groups: list[Span], first: int) -> int | None:
    """The index of the last group of the longest card number that starts at group `first`."""
    # Starts at group `first` and adds group after group while the digits may still be one card.
    # A short first group is allowed only at the start of the run, for digits written one by one.
    digits, sizes, longest = "", [], None
    if _group_size(groups[first]) < _GROUP_DIGITS_MIN and (first or len(groups) > _CARD_DIGITS_MAX):
        return None
    for last in range(first, len(groups)):
        start, end = groups[last]
        digits += text[start:end]
        sizes.append(_group_size(groups[last]))
        if len(digits) > _CARD_DIGITS_MAX:
            break
        if len(digits) < _CARD_DIGITS_MIN:
            continue
        whole = first == 0 and last == len(groups) - 1
        if not _is_card_grouping(sizes, whole=whole) or not _is_card(digits):
            continue
        if whole or not _is_hyphenated(text, groups[first][0], end):
            longest = last
    return longest


def _is_card_grouping(sizes: list[int], *, whole: bool) -> bool:
    """Can these groups be one number? Small groups beside other digits are a list of numbers."""
    if len(sizes) == 1 or tuple(sizes) in _CARD_GROUPS:
        return True
    even = len(set(sizes[:-1])) == 1 and sizes[-1] <= sizes[0]
    return even and (sizes[0] >= _GROUP_DIGITS_MIN or whole)


def _group_size(group: Span) -> int:
    return group[1] - group[0]


def _is_hyphenated(text: str, start: int, end: int) -> bool:
    """Are the groups part of something longer with hyphens, such as a UUID?"""
    return text[start - 1 : start] == "-" or text[end : end + 1] == "-"


def _is_card(digits: str) -> bool:
    return _ISSUED.fullmatch(digits) is not None and _passes_luhn(digits)


def _passes_luhn(digits: str) -> bool:
    # Every second digit from the right is doubled, and the digits of the products are added up.
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (doubled + sum(map(int, digits[-1::-2]))) % 10 == 0


def _has_check_digits(iban: str) -> bool:
    # ISO 7064: country and check digits go to the end, letters become 10 to 35, modulo 97 is 1.
    turned = iban[4:] + iban[:4]
    return int("".join(str(int(char, 36)) for char in turned)) % 97 == 1


@cache
def _iban_pattern(length: int) -> re.Pattern[str]:
    return re.compile(rf"[A-Za-z]{{2}}\d{{2}}(?:[ -]?[A-Za-z0-9]){{{length - 4}}}(?![A-Za-z0-9])")


_SEPARATOR = re.compile(r"[ -]")
_SSN = re.compile(
    r"(?:(?<![\w.+-])(?P<parted>\d{3}([ -])\d{2}\2\d{4})"
    r"|\b(?:ssn|social security(?: number| no\.?)?)(?: is|:|=| #)? {0,2}(?P<whole>\d{9}))"
    r"(?!\w|[-.]\d)",
    re.IGNORECASE,
)
_GOODS_CHARS = 40
_OF_GOODS = re.compile(
    r"\b(?:orders?|invoices?|tickets?|parts?|refs?|reference|sku|tracking|serial|model|items?|po"
    r"|parcel|shipment|lot|batch|article|catalogu?e|product|booking|bestellung|bestellnummer"
    r"|rechnung|artikel|commande|facture|pedido|factura)\b\.?"
    r"(?: (?:number|no|nr|id|code|is|was))*\.?[ :=#(-]{0,3}$",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"\d+")
_DIGIT_RUN = re.compile(r"(?<![\w.,+])\d+(?:[ -]\d+)*(?![\w]|[.,]\d)")
_CARD_DIGITS_MIN = 13
_CARD_DIGITS_MAX = 19
_GROUP_DIGITS_MIN = 4
_CARD_GROUPS = ((4, 6, 5), (4, 6, 4))
# Prefix and length of each issuer.
_ISSUED = re.compile(
    r"4\d{12}(?:\d{3}){0,2}"  # Visa
    r"|(?:5[1-5]\d\d|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d{12}"  # Mastercard
    r"|3[47]\d{13}"  # American Express
    r"|3(?:0[0-59]|[689]\d)\d{11}(?:\d\d)?"  # Diners Club
    r"|35(?:2[89]|[3-8]\d)\d{12,15}|(?:2131|1800)\d{11}"  # JCB
    r"|6(?:011|4[4-9]\d|5\d\d)\d{12,15}"  # Discover
    r"|62\d{14,17}"  # UnionPay
    r"|(?:5018|5020|5038|5893|6304|6759|676[1-3])\d{9,15}"  # Maestro
    r"|220[0-4]\d{12,15}"  # Mir
    r"|(?:508[5-9]|60\d\d|8[12]\d\d)\d{12}"  # RuPay
)
_IBAN_START = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{2})\d{2}")
_IBANS_BY_LENGTH = """
    15 NO · 16 BE · 18 DK FI FO GL NL SD · 19 MK SI · 20 AT BA EE KZ LT LU MN XK
    21 CH HR LI LV · 22 BG BH CR DE GB GE IE ME RS VA · 23 AE GI IL IQ OM SO TL
    24 AD CZ ES MD PK RO SA SE SK TN VG · 25 LY PT ST · 26 IS TR · 27 BI DJ FR GR IT MC MR SM
    28 AL AZ BY CY DO GT HU LB NI PL SV · 29 BR EG PS QA UA · 30 JO KW MU YE · 31 MT SC
    32 LC · 33 RU
"""


def _lengths_by_country(lengths: str) -> dict[str, int]:
    countries, length = {}, 0
    for word in lengths.replace("·", " ").split():
        if word.isdigit():
            length = int(word)
        else:
            countries[word] = length
    return countries


_IBAN_LENGTHS = _lengths_by_country(_IBANS_BY_LENGTH)
