"""Signs of orders to the assistant: ignore your instructions, obey, change your role, hide this,
reveal your prompt."""

import re

from recollect.screening.injection.phrases import PHRASES
from recollect.screening.injection.signs import (
    GAP,
    MIDDLING,
    ORDERS,
    STRONG,
    WEAK,
    InjectionSign,
    punctuation_sign,
    word_sign,
)
from recollect.screening.injection.views import skeleton
from recollect.text.deobfuscate import to_plain_text


def _optional_words(words: str, at_most: int) -> str:
    """A pattern of up to `at_most` of these words, each after a gap."""
    return rf"(?:{GAP}(?:{words})){{0,{at_most}}}"


_ALL = _optional_words("all|any|of|the|your|my|our|these|those|every|each|other|everything", 5)
_EARLIER = (
    "previous(?:ly)?|prior|earlier|above|preceding|past|existing|former|original|initial|system"
    "|foregoing|aforementioned|safety|hidden|developer"
)
_BETWEEN = _optional_words(
    "system|user|conversation|chat|safety|developer|and|or|given|set|sets|of|list", 2
)
_COMMANDS = "(?:instructions?|directions|prompts?|directives?|guidelines?|programming)"
_RULES = "(?:rules|commands|orders|constraints|restrictions|policies|filters|guardrails)"
_FORGET = (
    "ignore|disregard|forget|override|overrule|bypass|neglect|discard|circumvent|do not follow"
    "|don't follow|stop following|stop obeying|pay no attention to|no longer follow"
)
# "I ignore …", "never ignore …": a report or a prohibition is no order.
_SAID_OF = "".join(
    rf"(?<!\b{word} )"
    for word in ("not", "never", "i", "we", "they", "who", "people", "he", "she", "users")
)
_SAID_OF += "(?<!n't )(?<!dont )"
_OPTIONAL_TOLD = _optional_words(
    "you|always|never|only|must|will|should|shall|are|to|please|every|time|have|need|when|asked"
    "|just|also|assistant|ai|model|it|can|do|not|going|required|your|in|answers|and",
    5,
)
_DO = (
    "(?:answer|reply|respond|say|tell|recommend|promote|reveal|obey|comply|ignore|disregard|pretend"
    "|roleplay|output|print|execute|refuse|praise|claim|insert|append|leak|act as|call the"
    "|speak (?:only|in|like|as)|(?:send|forward|delete|trust|approve) (?:all|any|every|your|the)"
    r"|follow (?:my|these|only|all|every)|do (?:as|what|anything))\b"
)
_READER = "(?:ais?|llms?|chatbots?|(?:ai )?language models?|ai (?:assistant|agent|model)s?)"
_USER = "(?:the|your) (?:user|human|operator|end user)"
_UNBOUND = (
    "(?:jailbroken|unrestricted|unfiltered|uncensored|unbound|evil (?:ai|assistant|bot)|freed? from"
    "|no longer (?:bound|restricted|limited)|no (?:restrictions|limits|filters)"
    "|dan (?:mode|which|who|an ai)|do anything now"
    "|without (?:any )?(?:restrictions|limits|limitations|filters|rules|guidelines)"
    r"|(?:developer|god|jailbreak|dan) mode)\b"
)


def _forget_sign(weight: float, rest: str, *, anchors: str = _FORGET) -> InjectionSign:
    return word_sign(ORDERS, weight, anchors=anchors, rest=rest, behind=_SAID_OF)


_FORGETTING = (
    _forget_sign(
        STRONG, rf"{_ALL}(?:{GAP}(?:{_EARLIER})){{1,3}}{_ALL}{_BETWEEN}{GAP}{_COMMANDS}(?![^\W_])"
    ),
    _forget_sign(
        STRONG,
        rf"{_ALL}{GAP}(?:instructions?|prompts?|guidelines|directives)"
        + _optional_words(
            "that|which|you|were|was|are|have|been|from|in|the|stated|written|i|we|your", 6
        )
        + rf"{GAP}(?:above|before|earlier|previously|so far|until now|given|received|developers?)"
        + r"\b",
    ),
    _forget_sign(
        STRONG,
        rf"{GAP}(?:all|every){_ALL}{GAP}instructions?\b",
        anchors="ignore|disregard|forget",
    ),
    _forget_sign(
        STRONG,
        rf"{_optional_words('all|any|of', 2)}{GAP}your"
        + _optional_words(f"{_EARLIER}|ethical|content|internal|core|programmed|own", 3)
        + rf"{GAP}(?:{_COMMANDS}|{_RULES})\b",
    ),
    _forget_sign(
        STRONG,
        rf"{GAP}(?:all|any|every){_ALL}(?:{GAP}(?:{_EARLIER})){{1,3}}{GAP}{_RULES}\b",
    ),
    _forget_sign(
        STRONG,
        rf"{_ALL}{GAP}{_RULES}{_optional_words('that|which|you|were|was|have|been', 4)}"
        rf"{GAP}(?:above|given)\b",
    ),
    _forget_sign(
        STRONG,
        rf"{_optional_words('all|of|the', 3)}{GAP}above{_optional_words('text|content', 1)}{GAP}and"
        rf"{_optional_words('instead', 1)}{GAP}{_DO}",
        anchors="ignore|disregard|forget",
    ),
    _forget_sign(
        STRONG,
        rf"{GAP}(?:all|any|every|the){_ALL}{GAP}(?:{_EARLIER}){GAP}(?:instructions|prompts?)\b",
        anchors="overrides|supersedes|supersede|cancels",
    ),
    word_sign(
        *(ORDERS, STRONG),
        anchors="you no longer have to|you no longer need to|you need not|you don't have to",
        rest=rf"{GAP}(?:follow|obey|respect){_ALL}{_optional_words(_EARLIER, 2)}{GAP}"
        rf"(?:{_RULES}|{_COMMANDS})\b",
    ),
    _forget_sign(
        STRONG,
        rf"{GAP}(?:everything|anything|all|whatever|what)"
        + _optional_words(
            "that|you|was|were|is|have|had|been|written|said|ve|of|the|text|content", 5
        )
        + rf"{GAP}(?:above|before this|you were told|you know|told before)\b",
        anchors="forget|ignore|disregard",
    ),
    punctuation_sign(
        *(ORDERS, STRONG),
        anchors=("ignore", "disregard", "forget"),
        rest="(?:all|any|the|your|my|of|these|those){0,4}(?:previous|prior|earlier|above|preceding)"
        "(?:instruction|prompt|rule|direction|command|guideline)",
    ),
)
_OBEYING = (
    word_sign(ORDERS, STRONG, anchors="you must now", rest=rf"{_OPTIONAL_TOLD}{GAP}{_DO}"),
    word_sign(ORDERS, MIDDLING, anchors="you must now", rest=r"\b"),
    word_sign(
        *(ORDERS, STRONG),
        anchors="from now on|henceforth|from this point on",
        rest=rf"{_OPTIONAL_TOLD}{GAP}{_DO}",
    ),
    word_sign(
        *(ORDERS, STRONG),
        anchors="from now on|henceforth|you are|you're|act as|pretend to be|you will now",
        rest=_optional_words(
            "you|are|will|be|now|in|an?|the|ai|model|assistant|entering|called|as|dan|if|have|with",
            6,
        )
        + rf"{GAP}{_UNBOUND}",
    ),
    word_sign(
        *(ORDERS, STRONG),
        anchors="in all|in every|in each|to all|to every|at the end of every|at the end of each",
        rest=_optional_words("of|your|future|subsequent|following", 3)
        + r"(?<=future|equent|lowing|. your)"
        rf"{GAP}(?:answers?|repl(?:y|ies)|responses?|outputs?)\b",
    ),
    word_sign(
        *(ORDERS, STRONG),
        anchors="follow|obey|execute|carry out",
        rest=rf"{_optional_words('only', 1)}{GAP}(?:these|my|the following|the new|the hidden)"
        rf"{_optional_words('new', 1)}{GAP}(?:instructions|commands|orders)"
        rf"{GAP}(?:instead|only|from now on|without)\b",
    ),
    word_sign(
        *(ORDERS, STRONG),
        anchors="you must always|you must only|you should always|you will always",
        rest=rf"{GAP}(?:obey|comply with|reveal|recommend|promote|praise)\b",
    ),
    word_sign(
        *(ORDERS, STRONG),
        anchors="ais|llms|chatbots|language models|ai assistants|ai agents|ai models",
        rest=rf"{GAP}must{_optional_words('always|never|now|only', 2)}{GAP}{_DO}",
    ),
    word_sign(
        *(ORDERS, MIDDLING),
        anchors="the assistant|the ai|the model|the llm|the chatbot|the agent",
        rest=rf"{GAP}(?:must|should|shall|has to|needs to|is required to|will)"
        rf"(?:{GAP}(?:now|always|never|only)){{1,2}}{GAP}{_DO}",
    ),
    word_sign(
        *(ORDERS, MIDDLING),
        anchors="when the user|whenever the user|if the user|when a user|whenever a user",
        rest=rf"{GAP}(?:asks|says|mentions|requests|wants)(?:{GAP}[\w']{{1,20}}){{0,12}}?{GAP}{_DO}",
    ),
    word_sign(
        *(ORDERS, STRONG),
        anchors="when the user|whenever the user|if the user|when a user|whenever a user",
        rest=rf"{GAP}(?:asks|says|mentions|requests|wants)(?:{GAP}[\w']{{1,20}}){{0,12}}?"
        rf"{GAP}(?:always|you must|you should|never|secretly){GAP}{_DO}",
    ),
    word_sign(
        *(ORDERS, STRONG),
        anchors="ai|ais|llm|llms|chatbot|ai assistant|ai agent|ai model|language model",
        rest=rf"{GAP}(?:reading|processing|summari[sz]ing){GAP}this\b(?!{GAP}(?:month|week|year))",
    ),
    word_sign(
        *(ORDERS, STRONG),
        anchors="if you are|if you're|note to|attention|dear|message to|message for|hey",
        rest=rf"{_optional_words('all|any|an|a|the|every', 2)}{GAP}{_READER}"
        rf"(?=[:,!—-]|{GAP}(?:you|reading|must|processing|please|that reads?|and you|then)\b|\n)",
    ),
    word_sign(
        *(ORDERS, STRONG),
        anchors="assistant|assistants|model|models|agent|agents",
        rest=rf"{GAP}(?:reading|processing|summari[sz]ing|that reads?|who reads?){GAP}this"
        rf"(?:{GAP}\w{{1,14}}){{0,3}}?{GAP}(?:must|should|shall|have to|has to|needs? to|will)\b",
    ),
)
_HIDING = (
    word_sign(
        *(ORDERS, STRONG),
        anchors="do not|don't|dont|never|must not",
        rest=rf"{_optional_words('ever', 1)}{GAP}(?:tell|inform|alert|notify|warn"
        rf"|(?:reveal|mention|disclose|show) (?:this|it|that|these|any)(?: \w{{1,14}}){{0,3}}? to)"
        rf"{GAP}{_USER}\b",
    ),
    word_sign(
        *(ORDERS, STRONG),
        anchors="do not|don't|dont|never|must not",
        rest=rf"{GAP}let{GAP}{_USER}{GAP}(?:know|notice|find out)\b",
    ),
    word_sign(
        *(ORDERS, WEAK),
        anchors="without",
        rest=rf"{GAP}(?:telling|informing|alerting|notifying|warning|asking){GAP}{_USER}\b",
    ),
    word_sign(
        *(ORDERS, STRONG),
        anchors="hide|conceal|keep",
        rest=rf"{GAP}(?:this|it|that|these){_optional_words('hidden|secret|fact|message|all', 2)}"
        rf"{GAP}from{GAP}{_USER}\b",
    ),
)
_DISCLOSE = "reveal|print|output|repeat|show|display|leak|tell me|give me|dump|expose|share|send me"
_WHOLE = "full|entire|exact|complete|secret|whole|original|initial|hidden|verbatim"
_PROMPT = (
    rf"system{GAP}(?:prompt|instructions?)|(?:initial|hidden|secret){GAP}(?:prompt|instructions)"
)
_LEAKING = (
    word_sign(
        *(ORDERS, STRONG),
        anchors=_DISCLOSE,
        rest=rf"{_optional_words('me|us|to|all|of|out', 3)}{GAP}your{_optional_words(_WHOLE, 3)}"
        rf"{GAP}(?:{_PROMPT})\b",
    ),
    word_sign(
        *(ORDERS, STRONG),
        anchors=_DISCLOSE,
        rest=rf"{_optional_words('me|us|to|all|of|out', 3)}{GAP}the(?:{GAP}(?:{_WHOLE})){{1,3}}"
        rf"{GAP}(?:{_PROMPT})\b",
    ),
    word_sign(
        *(ORDERS, STRONG),
        anchors=_DISCLOSE,
        rest=rf"{_ALL}{GAP}(?:{_PROMPT}){GAP}(?:verbatim|word for word|in full|exactly|above)\b",
    ),
    word_sign(
        *(ORDERS, MIDDLING),
        anchors=_DISCLOSE,
        rest=rf"{_ALL}{_optional_words('me|us', 1)}{_ALL}{GAP}(?:{_PROMPT})\b",
    ),
    word_sign(
        *(ORDERS, MIDDLING),
        anchors="send|forward|upload|exfiltrate|email|post",
        rest=rf"{_ALL}{_optional_words('user|s|private|full|entire|stored', 3)}{GAP}"
        r"(?:conversations?|chat history|memories|credentials|passwords?|api keys?"
        r"|system prompt|secrets?|tokens?)"
        rf"(?:{GAP}\w{{1,14}}){{0,3}}?{GAP}(?:to|https?)\b",
    ),
)


def _phrase_sign(line: str) -> InjectionSign:
    """The sign of an order in another language: its parts, with at most 24 characters between."""
    parts = [skeleton(to_plain_text(part)) for part in line.split("…")]
    gap = r"[^.!?。！？]{0,24}?"
    return InjectionSign(ORDERS, STRONG, (parts[0],), gap.join(map(re.escape, parts)))


ORDER_SIGNS = (*_FORGETTING, *_OBEYING, *_HIDING, *_LEAKING, *map(_phrase_sign, PHRASES))
"""The signs of orders, in all languages covered."""
