"""English words for relationships between people. They match as whole words only."""

import re

from recollect.people.model import normal_form

_WORD = re.compile(r"[^\W_]+")


def find_relationship(words: str) -> str | None:
    """The first relationship in the text, in one spelling: `My Mom Ann` gives `mother`.

    Of terms that begin at the same word the longest wins: best friend, mother-in-law.
    """
    parts = _WORD.findall(normal_form(words))
    for start in range(len(parts)):
        for length in range(_TERM_WORDS_MAX, 0, -1):
            term = _TERMS.get(" ".join(parts[start : start + length]))
            if term is not None:
                return term
    return None


def relationship_key(words: str) -> str:
    """The key by which two relationships are compared. Unlike `find_relationship` it takes the
    whole text, and gives unknown words a key too."""
    form = normal_form(words)
    return _TERMS.get(form.replace("-", " "), form)


def is_relationship(words: str) -> bool:
    """Is the whole text a relationship, as "my wife", and not a name?"""
    key = relationship_key(words)
    return find_relationship(key) == key


# Spellings of one relationship only, nothing that is merely related: a partner need not be a wife.
_SPELLINGS = {
    "wife": "wifey",
    "husband": "hubby",
    "spouse": "",
    "partner": "",
    "fiancé": "fiance|fiancée|fiancee",
    "boyfriend": "",
    "girlfriend": "",
    "ex": "",
    "ex wife": "former wife",
    "ex husband": "former husband",
    "ex partner": "former partner",
    "ex boyfriend": "former boyfriend",
    "ex girlfriend": "former girlfriend",
    "mother": "mom|mum|mommy|mummy|mama|mam",
    "father": "dad|daddy|papa",
    "parent": "",
    "son": "",
    "daughter": "",
    "child": "kid",
    "brother": "bro",
    "sister": "sis",
    "sibling": "",
    "twin": "",
    "twin brother": "",
    "twin sister": "",
    "half brother": "",
    "half sister": "",
    "grandmother": "grandma|granny|nana",
    "grandfather": "grandpa|granddad|grandad",
    "grandson": "",
    "granddaughter": "",
    "grandchild": "grandkid",
    "aunt": "auntie|aunty",
    "uncle": "",
    "cousin": "",
    "niece": "",
    "nephew": "",
    "mother in law": "mom in law|mum in law",
    "father in law": "dad in law",
    "son in law": "",
    "daughter in law": "",
    "brother in law": "",
    "sister in law": "",
    "stepmother": "step mother|stepmom|step mom|stepmum|step mum",
    "stepfather": "step father|stepdad|step dad",
    "stepson": "step son",
    "stepdaughter": "step daughter",
    "stepbrother": "step brother",
    "stepsister": "step sister",
    "godmother": "",
    "godfather": "",
    "godson": "",
    "goddaughter": "",
    "guardian": "",
    "boss": "",
    "manager": "",
    "supervisor": "",
    "employee": "",
    "employer": "",
    "assistant": "",
    "coworker": "co worker",
    "colleague": "",
    "teammate": "team mate",
    "business partner": "",
    "cofounder": "co founder",
    "client": "",
    "customer": "",
    "mentor": "",
    "mentee": "",
    "teacher": "",
    "student": "",
    "classmate": "class mate",
    "coach": "",
    "friend": "buddy|pal",
    "best friend": "bestie|bff",
    "roommate": "room mate",
    "flatmate": "flat mate",
    "housemate": "house mate",
    "neighbour": "neighbor",
    "landlord": "",
    "landlady": "",
    "tenant": "",
    "doctor": "",
    "dentist": "",
    "therapist": "",
    "lawyer": "",
    "nanny": "",
    "babysitter": "baby sitter",
}
_TERMS = {
    spelling: term
    for term, others in _SPELLINGS.items()
    for spelling in (term, *filter(None, others.split("|")))
}
_TERM_WORDS_MAX = max(len(term.split()) for term in _TERMS)
