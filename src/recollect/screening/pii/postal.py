"""Postal addresses: a number, a word for a street, and a place."""

import re
from collections.abc import Iterator
from functools import cache

from recollect.screening.pii.text import Span


def find_addresses(text: str) -> Iterator[Span]:
    """Addresses in English, German, Dutch, French, Spanish, Italian and Portuguese form, and some
    in Polish, Russian, Swedish, Turkish, Chinese and Japanese form.

    Street and number alone don't count: shops and idioms have such names. An English address in
    lower case counts only after words such as `lives at`.
    """
    if not _DIGIT.search(text):
        return
    for found in address_pattern().finditer(text):
        yield found.span("announced" if found["announced"] else 0)


_NAME = r"(?:[^\W\d_a-z][\w.'’-]{0,30}|\d{1,3}(?:st|nd|rd|th))"
_TOWN = r"[^\W\d_a-z][^\W\d_]{0,30}(?:[.'’-][^\W\d_]{1,30}){0,3}(?!\w)"
_TOWNS = rf"{_TOWN}(?: {_TOWN}){{0,3}}"
_OF = (
    r"(?:d[eio]s?|d[eu] l[ae]s?|de l'|d'|l'|l[ae]s?|los|el|del|du|da|das|della|dei|degli|et|e|y) ?"
)
_POSTCODE = (
    r"(?:\d{5}(?:-\d{4})?|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}|[A-Z]\d[A-Z] ?\d[A-Z]\d"
    r"|\d{4} ?[A-Z]{2}|\d{4}-\d{3}|(?:[A-Z]{1,2}-)?\d{4,5})\b"
)
_COMPASS = r"(?:[NS]\.?[EW]?|[EW]|North|South|East|West)\b\.?"
_NUMBER = r"(?<![\w.,/$€£-])\d{1,5}(?:[A-Za-z]|[-/]\d{1,4})?"
_PLACE = (
    rf"(?:(?:,\s{{1,3}}|\s?\n\s?| in ){_TOWNS}(?:,\s{{1,3}}{_TOWNS}){{0,2}}"
    rf"(?:,? {{1,2}}{_POSTCODE})?"
    rf"|,? (?:{_TOWNS},? (?:[A-Z]{{2}} )?)?{_POSTCODE})"
)
_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Square|Sq|Way|Place"
    r"|Pl|Terrace|Ter|Highway|Hwy|Parkway|Pkwy|Close|Crescent|Gardens|Row|Mews|Alley|Circle|Cir"
    r"|Trail|Quay|Walk|Grove|Hill|Broadway)\b\.?"
)
_UNIT = r"(?:,? (?:(?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor)\.? ?#?|#)\w{1,6})?"
_ENGLISH = (
    rf"{_NUMBER},? (?:{_COMPASS} )?(?:{_NAME} ){{1,4}}?{_STREET}(?: {_COMPASS})?{_UNIT}"
    rf"{_PLACE}"
)
_SMALL_ENGLISH = (
    r"\b(?=[adlmrs])"
    r"(?:liv(?:e|es|ed|ing) at|address(?: is|:)?|resid(?:es?|ing) at|located at|moved to"
    r"|(?:ship|deliver|send) (?:it )?to) (?P<announced>\d{1,5}[a-z]? (?:[a-z0-9.'-]{1,20} ){1,3}?"
    r"(?:street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|place|way|terrace)\b"
    r"\.?(?:, ?| in )[a-z]{3,30})"
)
_GERMANIC_STREET = r"(?:stra(?:ß|ss)e|str\.|platz|allee|gasse|straat|gracht|laan|plein)"
_GERMANIC_PATH = r"(?:weg|ring|damm|ufer|kade|gatan|vägen|vej|gade)"
_GERMANIC = (
    rf"(?<![\w-])(?=[^\W\d_a-z])(?:[^\W\d_]{{1,30}} (?=[^\W\d_a-z]))?[\w-]{{0,40}}?(?:"
    rf"(?i:{_GERMANIC_STREET}) \d{{1,4}} ?[a-z]?(?:,\s(?:{_POSTCODE} )?|\s{_POSTCODE} ){_TOWN}"
    rf"|(?i:{_GERMANIC_PATH}) \d{{1,4}} ?[a-z]?,?\s{_POSTCODE} {_TOWN})"
)
_ROMANCE_PLACE = rf"(?:,\s(?:{_POSTCODE} )?|\s{_POSTCODE} ){_TOWN}"
_FRENCH = (
    rf"{_NUMBER}(?: (?:bis|ter|quater))?,? "
    r"(?i:rue|avenue|boulevard|bd|place|chemin|allée|impasse|quai|cours|route|square) "
    rf"(?:{_OF}){{0,2}}{_NAME}(?: (?:{_OF}){{0,2}}{_NAME}){{0,3}}{_ROMANCE_PLACE}"
)
_SOUTHERN = (
    r"(?<!\w)(?:Calle|C/|Avenida|Avda?\.?|Av\.|Plaza|Paseo|Carrer|Via|Viale|Piazza|Corso|Rua|Praça"
    rf"|Largo|Travessa) (?:{_OF}){{0,2}}{_NAME}(?: (?:{_OF}){{0,2}}{_NAME}){{0,3}},? "
    rf"(?:n[ºo°.]\.? ?)?\d{{1,4}}[A-Za-z]?{_ROMANCE_PLACE}"
)
_OTHERS = (
    rf"(?<!\w)(?:ul\.|al\.|os\.|ул\.?|улица|пр\."
    rf"|просп\.) {_NAME}(?: {_NAME}){{0,2}},? (?:д\. ?)?\d{{1,4}}\w?"
    rf"(?:[/ ](?:m\. ?|кв\. ?)?\d{{1,4}})?,? (?:\d\d-\d{{3}} )?(?:г\. ?)?{_TOWN}"  # Polish, Russian
    rf"|{_NAME}(?: {_NAME}){{0,2}} (?:Caddesi|Sokak|Sokağı|Cad\.|Sok\."
    rf"|Bulvarı),? ?(?:No: ?)?\d{{1,4}}"
    rf"|{_NAME} \d{{1,4}} ?[A-Z]?, \d{{3}} \d\d {_TOWN}"  # Swedish
    r"|[\u4e00-\u9fff]{1,6}[省市区县][\u4e00-\u9fff]{1,12}[路街道巷]\d{1,5}号"  # Chinese
    r"|[\u4e00-\u9fff]{1,4}[都道府県][\u3040-\u9fff]{1,8}[市区町村][\u3040-\u9fff]{0,10}\d{1,4}"
    r"(?:丁目\d{0,4}(?:番地?\d{0,4})?|(?:-\d{1,4}){1,3})"  # Japanese
)
_DIGIT = re.compile(r"\d")


@cache
def address_pattern() -> re.Pattern[str]:
    """The pattern of postal addresses. It takes long to compile, so that is done at first use."""
    forms = (f"(?i:{_SMALL_ENGLISH})", _ENGLISH, _FRENCH, _GERMANIC, _SOUTHERN, _OTHERS)
    return re.compile("|".join(forms))
