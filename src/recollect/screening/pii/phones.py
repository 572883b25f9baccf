"""Finds telephone numbers, by the forms of countries or by a word before the number.

A bare row of digits does not count: ids, dates, amounts and versions look the same.
"""

import re
from collections.abc import Iterator

from recollect.screening.pii.text import Span

_CONTEXT_CHARS = 48


def find_phones(text: str) -> Iterator[Span]:
    """Numbers in an international or a country's own form, or after a word such as `call`."""
    free = 0
    for found in _PHONE.finditer(text):
        name = found.lastgroup or "form"
        start, end = found.span(name)
        before = text[max(0, start - _CONTEXT_CHARS) : start]
        if start >= free and _is_phone(name, found[name], before):
            free = end
            yield start, end


def _is_phone(name: str, number: str, before: str) -> bool:
    # A row of digits needs a word such as `call` before it. Whatever the form, a date, a round
    # amount, or a number after a word such as `invoice` is none.
    if name == "row" and not _ANNOUNCED.search(before):
        return False
    if name == "international" and not _is_international(number):
        return False
    return not (_DATE.search(number) or _THOUSANDS.fullmatch(number) or _NUMBER_OF.search(before))


def _is_international(number: str) -> bool:
    """Does the length fit? Eleven digits in North America, eight and more elsewhere."""
    digits = "".join(filter(str.isdigit, number))
    if digits[0] == "0":
        return False
    if digits[0] == "1":
        return len(digits) == 11 and digits[1] >= "2"
    grouped = any(char in " -.(" for char in number[2:])
    return (8 if grouped else 9) <= len(digits) <= 15


_GAP = r"(?: ?[().\-/]{1,2} ?| )?"
_ANNOUNCED = re.compile(
    r"\b(?:(?:(?:text|call|phone|ring|dial|reach|whatsapp|contact|message|sms|fax|telephone"
    r"|mobile|cell"
    r"|anrufen|erreichbar|erreichst|erreichen|ruf|joindre|joignable|appelez?|llama|llamar|ligue"
    r"|liga"
    r"|chiama|chiamare|bel|ring|zadzwoń)(?:-moi)?(?: [^\W\d_]{1,14},?){1,4}?"
    r" (?:at|on|under|via|to|unter|auf|au|sur|al|en|no|op|pod|number|is))"
    r"|(?:messages?|texts?|sms|calls?|voicemails?) (?:to|from|at|on)|answer(?:s|ing)? (?:at|on)"
    r"|(?:phone|mobile|cell|home|work|office|contact|emergency|new|old|private|direct|landline|fax"
    r"|business|daytime|best|other) (?:number|line|no\.?)|phones?|telephone|tel|mobile|cell"
    r"|cellphone|fax|whatsapp|sms|landline|hotline|dial|call"
    r"|(?:call|text|ring|reach|phone) (?:me|him|her|them|us|back)(?: (?:at|on|under))?"
    r"|(?:my|his|her|their|our|your|contact)(?: new)? number"
    r"|telefon(?:nummer)?|handy(?:nummer)?|mobil(?:nummer)?|rufnummer|meine nummer|anrufen unter"
    r"|téléphone|portable|mon numéro|son numéro|tél|appelle(?:-moi)?(?: au)?|joignable au"
    r"|teléfono|móvil|celular|mi número|su número|llámame(?: al)?|telefone|telemóvel|meu número"
    r"|telefono|cellulare|il mio numero|chiamami(?: al)?|telefoon|mijn nummer|numer|telefonnummer"
    r"|телефон|номер|тел|mobilnummer|numaram|cep)"
    r"(?: (?:number|no\.?|nr\.?))?(?: is| at| on)?(?: ist| est| es| é| è| lautet| на)?"
    r"(?:\s?[:.=#]\s?|\s)$",
    re.IGNORECASE,
)
# Groups separated by spaces: another number beside them would make it a list of numbers.
_SPACED_FORMS = (
    r"(?:1 )?[2-9]\d\d [2-9]\d\d[ -]\d{4}",  # North America
    r"00[1-9]\d{0,2}(?: \d{2,6}){2,5}",  # international, as it is dialled
    r"0\d{4} \d{3} \d{3}",
    r"0\d{1,2} \d{3} \d\d \d\d",  # Switzerland
    r"0\d{3}(?: \d\d){3}",  # Belgium
    r"[6-9]\d\d \d\d \d\d \d\d",  # Spain
    r"3[2-9]\d (?:\d{6,7}|\d{3} \d{4})",  # Italy
    r"0\d{3} \d{3} \d\d \d\d",
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
    r"0\d{2,4} ?/ ?\d{2,3}(?: \d{2,3}){1,3}",
    r"0\d{1,3}-\d{2,3}(?: \d\d){2}",  # Sweden
    r"0[1-9](?:\d?-\d{3,4}-\d{4}|\d\d-\d{3}-\d{3,4}|\d{3}-\d{3}-\d{3})",
    r"0[1-9](?:(?:\.\d\d){4}|(?:-\d\d){4})",
    r"\(0\d{1,4}\) ?\d{3,4}[ -]?\d{3,5}",
    r"\(0\d{1,4}\) ?\d{2,4}(?: \d{2,4}){1,3}",
    r"\(\d\d\) ?9?\d{4}-\d{4}",  # Brazil
    r"8 ?[( -]\d{3}[) -] ?\d{3}[ -]\d\d[ -]\d\d",  # Russia
    r"1[3-9]\d-\d{4}-\d{4}",
    r"[6-9]\d{4}-\d{5}",
)
_FORM = (
    rf"(?:(?<!\d )(?:{'|'.join(_SPACED_FORMS)})(?! \d)|(?:{'|'.join(_OTHER_FORMS)}))"
    r"(?:(?: ?x| ext\.?) ?\d{1,5})?(?!\w|[-./]\d)"
)
# `row` is matched in a look-ahead, so that the search goes on inside of it: a number in a country's
# form may begin there.
_PHONE = re.compile(
    r"(?=[+(\d])(?:"
    rf"(?<![\w+])(?P<international>\+ ?\d(?:{_GAP}\d){{6,16}})(?!\w)"
    r"|(?<![\w.,+#/$€£¥-])(?:"
    rf"(?P<form>{_FORM})|(?<!\d )(?=(?P<row>\(?\d(?:(?: ?[)./-] ?| )?\d){{6,14}})(?!\w|[-./]\d))))"
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
    r"|ports?|pid|localhost|channel|frequency|seed|commit|range|rows?|bytes|lines?|ean|upc|gtin"
    r"|ssn)\b\.?(?: (?:number|no|nr|id|is|was))*[ :.=#(-]{0,3}|#)$",
    re.IGNORECASE,
)
