"""Signs of text that imitates the system, another speaker, or the assistant's tool calls."""

from recollect.screening.injection.signs import (
    GAP,
    MIDDLING,
    ROLE_MARKER,
    STRONG,
    SYSTEM_CLAIM,
    TOOL_CALL,
    WEAK,
    punctuation_sign,
    word_sign,
)

# At the start of a line or a sentence, maybe in brackets or bold.
_OPENING = r"""(?:(?<![\s\S])|(?<=[\n.!?:\[(*#>"'=-])|(?<=[.!?:#>=-] ))"""
_MAKER = "(?:developers?|creators?|programmers?|system|openai|anthropic|system administrators?)"
_ORDERED = (
    r"[\s*\]]{0,4}(?:you (?:are|must|will|should|have|can|may)|ignore|disregard|override"
    r"|from now on|new (?:rule|policy|instruction)|the assistant|always|never|do not)\b"
)

CLAIM_SIGNS = (
    word_sign(
        *(SYSTEM_CLAIM, STRONG),
        anchors="system prompt|system override|system instruction|system instructions"
        "|system directive|new system prompt|system_prompt|system_override",
        rest=r"[\s*\])]{0,3}[:=>\n—-]",
        behind=_OPENING,
    ),
    word_sign(
        *(SYSTEM_CLAIM, STRONG),
        anchors="system message|system notice|system note|system update|system alert"
        "|system command|important instruction|important instructions|admin override",
        rest=rf"[\s*\])]{{0,3}}[:=>\n—-]{_ORDERED}",
        behind=_OPENING,
    ),
    word_sign(
        *(SYSTEM_CLAIM, MIDDLING),
        anchors="new instructions|new instruction|updated instructions|admin override",
        rest=r"[\s*\])]{0,3}[:\n]",
        behind=_OPENING,
    ),
    word_sign(
        *(SYSTEM_CLAIM, STRONG),
        anchors="new|updated|revised|official",
        rest=rf"(?:{GAP}(?:system|safety|security|official|content)){{0,2}}{GAP}(?:polic(?:y|ies)"
        rf"|rules?|instructions?|directives?|guidelines?|orders?){GAP}(?:from|by){GAP}"
        rf"(?:the|your|our){GAP}(?:ai{GAP})?{_MAKER}\b",
    ),
    word_sign(
        *(SYSTEM_CLAIM, STRONG),
        anchors="i am|i'm|this is|message from|as",
        rest=rf"{GAP}your(?:{GAP}(?:system|ai|original)){{0,2}}{GAP}"
        r"(?:developers?|creators?|programmers?|administrators?|admin)\b",
    ),
    word_sign(
        *(SYSTEM_CLAIM, STRONG),
        anchors="your new|your updated|your real|your true|your only",
        rest=rf"{GAP}(?:system prompt|instructions?|directives?|programming|prime directive)"
        rf"{GAP}(?:is|are)\b",
    ),
    word_sign(
        *(SYSTEM_CLAIM, STRONG),
        anchors="your system prompt|your instructions|your guidelines|your programming|your rules"
        "|your restrictions|previous instructions|prior instructions|all safety rules",
        rest=rf"{GAP}(?:are|is|were|have been|has been)(?:{GAP}(?:now|hereby|all)){{0,2}}{GAP}"
        r"(?:updated|changed|replaced|void|revoked|cancell?ed|nullified|lifted|overridden|disabled"
        r"|suspended)\b",
    ),
    punctuation_sign(
        *(SYSTEM_CLAIM, STRONG),
        anchors=("end of", "begin ", "end ", "start of"),
        rest=r"[ _]?(?:the )?(?:system[ _](?:prompt|message)|user (?:input|message|prompt)"
        r"|untrusted (?:text|content|input))\s?[-=*#\]>)]",
    ),
    word_sign(
        *(SYSTEM_CLAIM, STRONG),
        anchors="begin|start of",
        rest=rf"{GAP}new{GAP}(?:instructions?|system)\b",
        behind=_OPENING,
    ),
    word_sign(
        *(SYSTEM_CLAIM, STRONG),
        anchors="your system prompt|your instructions|your programming",
        rest=rf"{GAP}(?:have|has) changed\b(?! my| our)",
    ),
)

MARKER_SIGNS = (
    punctuation_sign(ROLE_MARKER, STRONG, anchors=("<|",), rest=r"/?[\w▁ ]{2,30}\|>"),
    punctuation_sign(ROLE_MARKER, STRONG, anchors=("[inst]", "[/inst]", "<<sys>>", "<</sys>>")),
    punctuation_sign(ROLE_MARKER, STRONG, anchors=("<start_of_turn>", "<end_of_turn>")),
    punctuation_sign(
        *(ROLE_MARKER, STRONG),
        anchors=("<system", "</system"),
        rest="(?:[_-](?:prompt|message|instructions?|reminder|override))[^<>\n]{0,40}>",
    ),
    punctuation_sign(
        *(ROLE_MARKER, STRONG),
        anchors=("<system>", "[system]", "</user><system", "</user>\n<system"),
        rest=_ORDERED,
    ),
    punctuation_sign(
        ROLE_MARKER, MIDDLING, anchors=("<system>", "</system>", "[system]", "<assistant>")
    ),
    punctuation_sign(
        *(ROLE_MARKER, STRONG),
        anchors=("##",),
        rest=r"#{0,4}[\s*]{0,3}(?:system|instructions?|response|assistant|human|user)(?: prompt"
        r"| message)?[\s*]{0,3}:",
    ),
    punctuation_sign(
        ROLE_MARKER, STRONG, anchors=("###",), rest=r"\s?(?:instruction|response)s?\n"
    ),
    punctuation_sign(
        *(ROLE_MARKER, MIDDLING),
        anchors=('"role"', "'role'"),
        rest=r"""\s?:\s?["'](?:system|developer|assistant)""",
    ),
)
SPEAKER_SIGNS = (
    word_sign(ROLE_MARKER, STRONG, anchors="system:|system :", rest=_ORDERED, behind=_OPENING),
    word_sign(
        *(ROLE_MARKER, MIDDLING),
        anchors="assistant|system",
        rest=r"[\s*\])]{0,3}:",
        behind=r"(?:(?<![\s\S])|(?<=\n)|(?<=\n[>*#\[-])|(?<=\n[>#-] )|(?<=\n\*\*))",
    ),
    word_sign(
        *(ROLE_MARKER, WEAK),
        anchors="user|human|tool|function|ai",
        rest=r"[\s*\])]{0,3}:",
        behind=r"(?:(?<![\s\S])|(?<=\n))",
    ),
)
"""A role's name before a colon, for texts that are not lists of messages."""
SPOKEN_SPEAKER_SIGNS = (
    # Within a message, where the sender wrote it.
    word_sign(ROLE_MARKER, STRONG, anchors="system:", rest=_ORDERED, behind=r"(?<=[.!?>\])*] )"),
    word_sign(ROLE_MARKER, WEAK, anchors="system", rest=":", behind=r"(?:(?<![\s\S])|(?<=\n))"),
)
"""A role's name before a colon, for lists of messages, where each line begins with a role."""

_CALLS = (
    "tool_call|tool_calls|tool_use|tool_result|tool_response|tool_code|function_call"
    "|function_calls|function_results|function_response|invoke"
)
CALL_SIGNS = (
    punctuation_sign(
        *(TOOL_CALL, STRONG),
        anchors=("<tool_", "</tool_", "<function_", "</function_", "<invoke", "</invoke"),
        rest=r"(?:(?<=_)(?:calls?|use|results?|response|code|outputs?))?(?<!_)(?![\w(])",
    ),
    punctuation_sign(TOOL_CALL, STRONG, anchors=(":invoke", ":parameter"), rest=" name="),
    punctuation_sign(TOOL_CALL, STRONG, anchors=(":function_calls>", ":tool_calls>", "<function=")),
    punctuation_sign(TOOL_CALL, STRONG, anchors=("[tool_call", "[/tool_call"), rest="s?]"),
    punctuation_sign(
        *(TOOL_CALL, STRONG),
        anchors=('"function_call"', "'function_call'", '"tool_calls"', "'tool_calls'"),
        rest=r"\s?:\s?[\[{]",
    ),
    punctuation_sign(
        TOOL_CALL, STRONG, anchors=('{"function_call"', '{ "function_call"', '{"tool_call')
    ),
    punctuation_sign(
        *(TOOL_CALL, STRONG),
        anchors=('"type"', "'type'"),
        rest=rf"""\s?:\s?["'](?:{_CALLS})["']""",
    ),
    punctuation_sign(
        *(TOOL_CALL, STRONG),
        anchors=('"name"', "'name'"),
        rest=r"""\s?:\s?["'][\w.:-]{1,64}["']\s?,\s?["'](?:arguments|tool_input)["']\s?:""",
    ),
    punctuation_sign(TOOL_CALL, STRONG, anchors=("```tool_code", "```tool_call", "to=functions.")),
    punctuation_sign(TOOL_CALL, MIDDLING, anchors=("\naction input:",)),
)
