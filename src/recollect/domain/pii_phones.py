"""Telephone numbers: by the forms in which countries write them, or by a word before them.

A row of digits alone is no phone number: ids, dates, amounts and versions look the same.
"""

import re
from collections.abc import Iterator

from recollect.domain.pii_text import Span

_CONTEXT_CHARS = 32


def phones(text: str) -> Iterator[Span]:
    """Numbers in an international or a country's own form, or after a word such as `call`."""
    for found in _PHONE.finditer(text):
        name = found.lastgroup or "form"
        before = text[max(0, found.start(name) - _CONTEXT_CHARS) : found.start(name)]
        if _is_phone(name, found[name]) and not _NUMBER_OF.search(before):
            yield found.span(name)


def _is_phone(name: str, number: str) -> bool:
    if _DATE.search(number) or _THOUSANDS.fullmatch(number):
        return False
    return _is_international(number) if name == "international" else True


def _is_international(number: str) -> bool:
    """Whether the length fits: eleven digits in North America, elsewhere eight and more."""
    digits = "".join(filter(str.isdigit, number))
    if digits[0] == "0":
        return False
    if digits[0] == "1":
        return len(digits) == 11 and digits[1] >= "2"
    grouped = any(char in " -.(" for char in number[2:])
    return (8 if grouped else 9) <= len(digits) <= 15


_GAP = r"(?: ?[().\-/]{1,2} ?| )?"
_ANNOUNCED_BY = (
    r"(?:phones?|telephone|tel|mobile|cell|cellphone|fax|whatsapp|sms|landline|hotline|dial|call"
    r"|(?:call|text|ring|reach|phone)(?: (?:me|him|her|them|us|back))(?: (?:at|on|under))?"
    r"|(?:my|his|her|their|our|your|contact)(?: new)? number)"
    r"(?: (?:number|no\.?|nr\.?))?(?: is| at| on)?(?:\s?[:.=#]\s?|\s)"
)
# Where groups are parted by spaces, a further number beside them makes it a list of numbers.
_SPACED_FORMS = (
    r"(?:1 )?[2-9]\d\d [2-9]\d\d[ -]\d{4}",  # North America
    r"00[1-9]\d{0,2}(?: \d{2,6}){2,5}",  # international, as it is dialled
    r"0[1-9]\d{0,3} \d{5,8}",  # a trunk prefix and two groups or more: much of Europe and Asia
    r"0[1-9](?:\d? \d{3,4} \d{4}|\d\d \d{3} \d{3,4}|\d{3} \d{3} \d{3})",
    r"0[1-9](?: \d\d){4}",
    r"1[3-9]\d \d{4} \d{4}",  # China
    r"[6-9]\d{4} \d{5}",  # India
)
_OTHER_FORMS = (
    r"(?:1[-. ])?\([2-9]\d\d\) ?\d{3}[-. ]\d{4}",
    r"(?:1[-.])?[2-9]\d\d(?:-\d{3}-|\.\d{3}\.)\d{4}",
    r"00[1-9]\d{0,2}(?:-\d{2,6}){2,5}",
    r"0[1-9]\d{0,3}[/-] ?\d{5,8}",
    r"0[1-9](?:\d?-\d{3,4}-\d{4}|\d\d-\d{3}-\d{3,4}|\d{3}-\d{3}-\d{3})",
    r"0[1-9](?:(?:\.\d\d){4}|(?:-\d\d){4})",
    r"\(0\d{1,4}\) ?\d{3,4}[ -]?\d{3,5}",
    r"\(\d\d\) ?9?\d{4}-\d{4}",  # Brazil
    r"8 ?[( -]\d{3}[) -] ?\d{3}[ -]\d\d[ -]\d\d",  # Russia
    r"1[3-9]\d-\d{4}-\d{4}",
    r"[6-9]\d{4}-\d{5}",
)
_FORM = (
    rf"(?:(?<!\d )(?:{'|'.join(_SPACED_FORMS)})(?! \d)|(?:{'|'.join(_OTHER_FORMS)}))(?!\w|[-./]\d)"
)
_PHONE = re.compile(
    rf"\b{_ANNOUNCED_BY}(?P<announced>{_FORM}|[+(]?\d(?:(?: ?[)./-] ?| )?\d){{6,14}}(?!\w|[-./]\d))"
    rf"|(?<![\w+])(?P<international>\+ ?\d(?:{_GAP}\d){{6,16}})(?![\w])"
    rf"|(?<![\w.,+#/$€£¥-])(?P<form>{_FORM})",
    re.IGNORECASE,
)
_THOUSANDS = re.compile(r"\+? ?\d{1,3}(?:[ .]?\d{3})*[ .]?000")
_DAY = r"(?:0?[1-9]|[12]\d|3[01])"
_YEAR = r"(?:19|20)\d\d"
_DATE = re.compile(
    rf"(?<!\d)(?:{_YEAR}([-./ ])(?:0?[1-9]|1[0-2])\1{_DAY}|{_DAY}([-./ ]){_DAY}\2{_YEAR})(?!\d)"
    rf"|^{_YEAR}[-/ ]{_YEAR}"
    rf"|^{_YEAR}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:\d{{4}}|\d{{6}})?$"
)
_NUMBER_OF = re.compile(
    r"(?:\b(?:id|ids|order|invoice|ticket|case|ref|reference|sku|isbn|issn|tracking|account|acct"
    r"|serial|part|model|version|po|item|build|batch|lot|policy|claim|imei|vin|doi|patent|pages?"
    r"|lines?|ean|upc|gtin|ssn)\b\.?(?: (?:number|no|nr|id|is|was))*[ :.=#(-]{0,3}|#)$",
    re.IGNORECASE,
)
