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
        named = next((name for name in ("announced", "told") if found[name]), 0)
        yield found.span(named)


_NAME = r"(?:[^\W\d_a-z][\w.'’-]{0,30}|\d{1,3}(?:st|nd|rd|th))"
_TOWN = r"[^\W\d_a-z][^\W\d_]{0,30}(?:[.'’-][^\W\d_]{1,30}){0,3}(?!\w)"
_TOWNS = rf"{_TOWN}(?: {_TOWN}){{0,3}}"
_OF = (
    r"(?:d[eio]s?|d[eu] l[ae]s?|de l'|d'|l'|l[ae]s?|los|el|del|du|da|das|della|dei|degli|et|e|y) ?"
)
_POSTCODE = (
    r"(?:\d{5}(?:-\d{4})?|\d{6}|\d{3} \d{3}|[A-Z]{1,2}\d[A-Z\d]? ?\d[A-Z]{2}"
    r"|[A-Z]\d[A-Z] ?\d[A-Z]\d"
    r"|\d{4} ?[A-Z]{2}|\d{4}-\d{3}|(?:[A-Z]{1,2}-)?\d{4,5})\b"
)
_COMPASS = r"(?:[NS]\.?[EW]?|[EW]|North|South|East|West)\b\.?"
_NUMBER = r"(?<![\w.,/$€£-])\d{1,5}(?:[A-Za-z]|[-/]\d{1,4})?"
_PLACE = (
    rf"(?:(?:,\s{{1,3}}|\s?\n\s?| in ){_TOWNS}(?:,\s{{1,3}}{_TOWNS}){{0,2}}"
    rf"(?:,? {{1,2}}{_POSTCODE})?"
    rf"|,? (?:{_TOWNS},? (?:[A-Z]{{2,3}} )?)?{_POSTCODE})"
)
_STREET = (
    r"(?:Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Square|Sq|Way|Place"
    r"|Pl|Terrace|Ter|Highway|Hwy|Parkway|Pkwy|Close|Crescent|Gardens|Row|Mews|Alley|Circle|Cir"
    r"|Trail|Quay|Walk|Grove|Hill|Broadway|Loop|Path|Pike|Plaza|Turnpike|Route|Expressway|Pass"
    r"|Point"
    r"|Ridge|Run|View|Vista|Heights|Crossing|Bend|Cove|Park|Wharf|Yard|Embankment|Rise|Gate)\b\.?"
)
_UNIT = r"(?:,? (?:(?:Apt|Apartment|Suite|Ste|Unit|Flat|Floor)\.? ?#?|#)\w{1,6})?"
_ENGLISH = (
    rf"{_NUMBER},? (?:{_COMPASS} )?(?:{_NAME} ){{1,4}}?{_STREET}(?: {_COMPASS})?{_UNIT}"
    rf"{_PLACE}"
)
# A street that no word tells: with a unit, or with a state or an English code behind the town.
_UNIT_WORD = r"(?:Apt|Apartment|Suite|Ste|Flat|Unit)\.? ?#?\d{1,5}[A-Za-z]?\b"
_WORDLESS = (
    rf"{_NUMBER},? (?:{_NAME}[ ,]{{1,2}}){{1,5}}?(?:(?:\d{{1,4}}\.?,? )?\n? ?{_UNIT_WORD}"
    rf"|{_TOWN},? (?:[A-Z]{{2}},? \d{{5}}\b|[A-Z]{{1,2}}\d[A-Z\d]? \d[A-Z]{{2}}\b))"
    rf"|(?<!\w){_NAME}(?: {_NAME}){{0,3}},? \d{{1,4}}\.?,?\s\n? ?{_UNIT_WORD}"
    r"|\b(?:PSC|CMR|Unit) \d{3,5},? Box \d{2,5}[\s,]{1,3}(?:APO|DPO|FPO),? (?:AA|AE|AP) \d{5}\b"
    rf"|\bP\.? ?O\.? ?Box \d{{1,6}}{_PLACE}"
    rf"|\bPostfach \d[\d ]{{1,8}},? \d{{5}} {_TOWN}"
)
# Behind words that announce an address, a name beside a number is enough.
_ANNOUNCED = (
    r"\b(?:[Ll]iv(?:e|es|ed|ing) (?:at|on)|(?<!mail )(?<!IP )(?<!web )[Aa]ddress(?: is| was"
    r"|:)(?: now)?"
    r"|[Rr]esid(?:es?|ing|ence) (?:at|on)|(?:house|home|flat|office|shop|place) (?:is"
    r"|was) (?:at|on)"
    r"|[Mm]ov(?:ed|e|ing) (?:in)?to|(?:[Ss]hip|[Dd]eliver|[Ss]end|[Pp]ost|[Mm]ail) (?:it |them "
    r"|this )?to"
    r"|[Aa]nschrift(?: ist| lautet|:)|[Aa]dresse(?: ist| lautet| est|:)"
    r"|[Ww]ohn(?:e|t|en|haft)(?: ich| er| sie| wir| jetzt| nun){0,2} (?:in der|am|im|in|an der"
    r"|auf der)"
    r"|[Hh]abit(?:e|es|ons|ez|ent) (?:au|à|dans la)|[Dd]irección(?: es|:)|[Vv]iv(?:o|e|imos"
    r"|en) en(?: la)?"
    r"|[Ii]ndirizzo(?: è|:)|[Aa]bit(?:o|a|iamo) in|[Mm]or(?:o|a|amos) na|[Ee]ndereço(?: é|:)"
    r"|[Aa]dres(?:em jest|:| is)|[Ww]oon(?:t|de)? (?:op|aan|in)|[Mm]ieszkam? (?:przy|na))\s{1,2}"
    rf"(?P<told>\d{{1,5}}[A-Za-z]?,? (?:(?:{_OF}){{0,2}}{_NAME} ){{0,3}}(?:{_OF}){{0,2}}{_NAME}"
    rf"(?! (?:Minuten|Jahre))"
    rf"|(?:[^\W\d_]{{2,12}} ){{0,2}}{_NAME}(?: (?:{_OF}){{0,2}}{_NAME}){{0,3}},? "
    rf"(?:[Nn][ºo°r]\.? ?)?\d{{1,4}}"
    r"(?: ?[a-zA-Z])?(?![\w.:%€$£]|,\d| (?:years|months|days|Jahre|Uhr|ans|años|km|miles)))"
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
    rf"|(?i:{_GERMANIC_STREET}|{_GERMANIC_PATH}) \d{{1,4}} ?[a-z]? in {_TOWN}"
    rf"|(?i: ?{_GERMANIC_PATH}| gate| vei) \d{{1,4}} ?[a-z]?,?\s{_POSTCODE} {_TOWN})"
    # A street that no ending tells, before a code of five digits and a town.
    r"|(?<!\w)[^\W\d_a-z][^\W\d_]{1,20}\.?(?: [^\W\d_]{2,20}){0,3} \d{1,4} ?[a-z]?, (?:D-)?\d{5} "
    rf"{_TOWN}"
)
_FLOOR = (
    r"(?:,? (?:\d{1,2}[ºª°.]{0,2} ?[A-Za-z]{0,4}\.?"
    r"|piso \d{1,2}\w?|apto?\.? ?\d{1,4}|int\.? ?\d{1,3}))"
)
_ROMANCE_PLACE = (
    rf"{_FLOOR}{{0,2}}(?:(?:,\s| [-–] )(?:{_POSTCODE},? )?|\s{_POSTCODE} | (?:à|a|en|em) ){_TOWN}"
)
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
    rf"|просп\.) {_NAME}(?: {_NAME}){{0,2}},? (?:(?:д\.|дом) ?)?\d{{1,4}}\w?"
    rf"(?:[/ ](?:m\. ?|кв\. ?)?\d{{1,4}})?,? (?:\d\d-\d{{3}} )?(?:г\. ?)?{_TOWN}"  # Polish, Russian
    rf"|{_NAME}(?: {_NAME}){{0,2}} (?:Caddesi|Sokak|Sokağı|Cad\.|Sok\."
    rf"|Bulvarı),? ?(?:No: ?)?\d{{1,4}}"
    rf"|{_NAME} \d{{1,4}}(?:/\d{{1,4}})?,? \d\d-\d{{3}} {_TOWN}"  # Polish
    rf"|{_NAME} \d{{1,4}} ?[A-Z]?, \d{{3}} \d\d {_TOWN}"  # Swedish
    r"|[가-힣]{1,6}[시도] (?:[가-힣]{1,5}[구군시] ){1,2}[가-힣0-9]{1,12}[로길] ?\d{1,4}"  # Korean
    r"|[\u4e00-\u9fff]{1,6}[省市区县][\u4e00-\u9fff]{1,12}[路街道巷弄]\d{1,5}[号號弄]"  # Chinese
    r"|[\u4e00-\u9fff]{1,4}[都道府県][\u3040-\u9fff]{1,8}[市区町村][\u3040-\u9fff]{0,10}\d{1,4}"
    r"(?:丁目\d{0,4}(?:番地?\d{0,4})?|(?:-\d{1,4}){1,3})"  # Japanese
    r"|〒\d{3}-\d{4}"
)
_DIGIT = re.compile(r"\d")


@cache
def address_pattern() -> re.Pattern[str]:
    """The pattern of postal addresses. It takes long to compile, so that is done at first use."""
    forms = (
        f"(?i:{_SMALL_ENGLISH})",
        _ENGLISH,
        _WORDLESS,
        _FRENCH,
        _GERMANIC,
        _SOUTHERN,
        _OTHERS,
        _ANNOUNCED,
    )
    return re.compile("|".join(forms))
