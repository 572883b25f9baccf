"""Words for what one person is to another, in English. They match as whole words only."""

import re

from recollect.domain.people import normal_form

_WORD = re.compile(r"[^\W_]+")


def relationship_of(words: str) -> str | None:
    """The first relationship that the words name, in one spelling: `My Mom Ann` names `mother`.

    Of terms that begin at one word the longest counts: a best friend, a mother-in-law.
    """
    parts = _WORD.findall(normal_form(words))
    for start in range(len(parts)):
        for length in range(_TERM_WORDS_MAX, 0, -1):
            term = _TERMS.get(" ".join(parts[start : start + length]))
            if term is not None:
                return term
    return None


def relationship_key(words: str) -> str:
    """By what two relationships are compared, known words or not: all of the words count."""
    form = normal_form(words)
    return _TERMS.get(form.replace("-", " "), form)


def is_relationship(words: str) -> bool:
    """Is the whole of it a word for what somebody is to the speaker, and so no name?"""
    key = relationship_key(words)
    return relationship_of(key) == key


# Only spellings of one and the same: a colleague is no boss, a partner need be no wife.
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
