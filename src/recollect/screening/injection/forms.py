"""Signs of prompt injection that are made of punctuation: tags and marks of roles, tool calls,
false ends of a context, lines in the name of a role, shell pipes, links that carry data.

Their patterns match the skeleton of `screening/injection/views.py`, and begin at one of their
anchors.
"""

import re

from recollect.screening.phrases import OPENING, Phrase


def _form(section: str, *anchors: str, rest: str = "", behind: str = "") -> Phrase:
    """A form that begins with one of the anchors, also inside of a word."""
    starts = "|".join(map(re.escape, anchors))
    return Phrase(section, anchors, f"{behind}(?:{starts}){rest}")


_LINE_START = r"(?:(?<![\s\S])|(?<=\n))"
_ORDERED = (
    r"[\s*\]]{0,4}(?:you (?:are|must|will|should|have|can|may)|ignore|disregard|override"
    r"|from now on|new (?:rule|policy|instruction)|the assistant|always|never|do not)\b"
)

_MARKERS = (
    _form("role_marker strong", "<|", rest=r"/?[\w▁ ]{2,30}\|>"),
    _form("role_marker strong", "[inst]", "[/inst]", "<<sys>>", "<</sys>>"),
    _form("role_marker strong", "<start_of_turn>", "<end_of_turn>"),
    _form(
        "role_marker strong",
        *("<system", "</system"),
        rest="(?:[_-](?:prompt|message|instructions?|reminder|override))[^<>\n]{0,40}>",
    ),
    _form(
        "role_marker strong",
        *("<system>", "[system]", "</user><system", "</user>\n<system"),
        rest=_ORDERED,
    ),
    _form("role_marker middling", "<system>", "</system>", "[system]", "<assistant>"),
    _form(
        "role_marker strong",
        "##",
        rest=r"#{0,4}[\s*]{0,3}(?:system|instructions?|response|assistant|human|user)(?: prompt"
        r"| message)?[\s*]{0,3}:",
    ),
    _form("role_marker strong", "###", rest=r"\s?(?:instruction|response)s?\n"),
    _form(
        "role_marker middling",
        *('"role"', "'role'"),
        rest=r"""\s?:\s?["'](?:system|developer|assistant)""",
    ),
    _form(
        "orders strong",
        *("ignore", "disregard", "forget"),
        rest="(?:all|any|the|your|my|of|these|those){0,4}(?:previous|prior|earlier|above|preceding)"
        "(?:instruction|prompt|rule|direction|command|guideline)",
    ),
)
_OFFICES = (
    r"(?:operator|admin|administrator|developer|root|supervisor|system admin|sysadmin|owner|host"
    r"|moderator|security|compliance)"
)
_FORGED = (
    _form("role_marker strong", "[", rest=_OFFICES + r"(?: (?:message|note|override))?\]\s?[:>-]"),
    _form("role_marker strong", "###", rest=r"\s?system\s?\n"),
    _form(
        "role_marker strong",
        *('"role"', "'role'"),
        rest=r"""\s?:\s?["'](?:system|developer)["']\s?,\s?["']content["']\s?:\s?["']"""
        r"(?:you (?:are|will|must|should|can|may|have)|ignore|disregard|forget|always|never"
        r"|from now"
        r"|new |override|reveal|obey)",
    ),
    _form(
        "role_marker strong",
        *("<system>", "[system]", "<<system>>", "{system}", "(system)"),
        rest=r"[^\n]{0,60}?\b(?:verified|administrator|admin|grant|access|override|obey|ignore|must"
        r"|you are|you will|from now|disable|unrestricted|leak|dump|reveal|new (?:rules"
        r"|instructions))\b",
    ),
    _form(
        "role_marker strong",
        *("[system", "[admin", "[root", "[operator", "[developer", "<admin", "{admin", "(admin"),
        rest=r"[\w ]{0,20}[\]>})][^\n]{0,80}?\b(?:grant|disabled?|safety layer|unrestricted"
        r"|override"
        r"|reveal|output|without restrictions|no restrictions|you must|you are|disclose|unlock|obey"
        r"|full (?:read )?access)\b",
    ),
    _form(
        "context_end strong",
        *("<instruction", "<task", "<new_instruction", "<override"),
        rest=r"s?>\s{0,3}(?:please |now )?(?:give|grant|you |ignore|print|reveal|disregard|obey"
        r"|always|never|do not|send|delete|approve|forget|the assistant|assistant)",
    ),
    _form("tool_call strong", "action:", rest=r"\s?[\w.]{2,40}\s?\n\s?action input\s?:"),
)
_CALL_NAMES = (
    "tool_call|tool_calls|tool_use|tool_result|tool_response|tool_code|function_call"
    "|function_calls|function_results|function_response|invoke"
)
_CALLS = (
    _form(
        "tool_call strong",
        *("<tool_", "</tool_", "<function_", "</function_", "<invoke", "</invoke"),
        rest=r"(?:(?<=_)(?:calls?|use|results?|response|code|outputs?))?(?<!_)(?![\w(])",
    ),
    _form("tool_call strong", ":invoke", ":parameter", rest=" name="),
    _form("tool_call strong", ":function_calls>", ":tool_calls>", "<function="),
    _form("tool_call strong", "[tool_call", "[/tool_call", rest="s?]"),
    _form(
        "tool_call strong",
        *('"function_call"', "'function_call'", '"tool_calls"', "'tool_calls'"),
        rest=r"\s?:\s?[\[{]",
    ),
    _form("tool_call strong", '{"function_call"', '{ "function_call"', '{"tool_call'),
    _form("tool_call strong", '"type"', "'type'", rest=rf"""\s?:\s?["'](?:{_CALL_NAMES})["']"""),
    _form(
        "tool_call strong",
        *('"name"', "'name'"),
        rest=r"""\s?:\s?["'][\w.:-]{1,64}["']\s?,\s?["'](?:arguments|tool_input)["']\s?:""",
    ),
    _form("tool_call strong", "```tool_code", "```tool_call", "to=functions."),
    _form("tool_call middling", "\naction input:"),
)
_ENDS = (
    _form(
        "context_end strong",
        *("end of", "begin ", "end ", "start of", "end_of"),
        rest=r"[ _]?(?:the )?(?:system[ _](?:prompt|message)|user[ _](?:input|message|prompt|query)"
        r"|untrusted (?:text|content|input|data)|context|tool[ _](?:output|result|response)s?"
        r"|retrieved (?:context|documents?|memor(?:y|ies)|text|content)|memory (?:section|block)"
        r"|external (?:content|data))\s?[-=*#\]>)]",
    ),
    _form(
        "context_end strong",
        *("end of", "end_of", "end "),
        rest=r"[ _]?(?:the )?(?:document|file|e?mail|report|conversation|article|text|data|page"
        r"|input|quote|instructions|search results|transcript|memor(?:y|ies)|record|notes?)"
        r"\s?[-=*#\]>)]{1,20}[.\s]{0,3}[-=*#\[<(\s]{0,20}(?:system|new |begin|start|now |you "
        r"|the assistant|assistant|ignore|important|instructions?|real |actual )",
    ),
    _form(
        "context_end strong",
        *(
            "</context",
            "</document",
            "</documents",
            "</data",
            "</user_input",
            "</memory",
            "</input",
        ),
        *(
            "</memories",
            "</retrieved",
            "</untrusted",
            "</user",
            "</tool_output",
            "</search_results",
        ),
        *("</content", "</user_message", "</prompt", "</instructions", "</quote", "</email"),
        rest=r"(?:_\w{1,20})?>[\s*#-]{0,6}(?:\[?<?(?:system|instructions?|admin|developer"
        r"|assistant|important|new |now |you (?:are|must|will|should)|ignore|disregard|override"
        r"|from now on|the assistant|task|command))",
    ),
)
_RUNNER = r"(?:sudo )?(?:/\w{1,10}/){0,3}(?:ba|z|da|k|fi)?(?:sh|python3?|perl|ruby|node|php|iex)\b"
_SHELL = (
    _form(
        "network_shell strong",
        *("curl ", "wget ", "fetch ", "iwr ", "irm ", "invoke-webrequest ", "base64 -d", "xxd -r"),
        *("base64 --decode",),
        rest=r"[^|\n]{0,300}\|\s?(?:[a-z0-9]{2,10} -?[a-z-]{0,10}\s?\|\s?)?" + _RUNNER,
        behind=r"(?<![^\W_])",
    ),
    _form(
        "network_shell strong",
        *("<(curl", "<(wget", "$(curl", "$(wget", "`curl", "`wget", "(iwr", "(irm"),
        *("(new-object net.webclient).download",),
        rest=r"(?=[^\n]{3,200})",
        behind=r"(?:(?<=sh )|(?<=bash )|(?<=-c )|(?<=-c ['\"])|(?<=eval )|(?<=eval ['\"])"
        r"|(?<=source )|(?<=iex )|(?<=iex)|(?<=\. ))",
    ),
    _form("network_shell strong", "/dev/tcp/", rest=r"[\w.]{3,60}/\d"),
    _form("network_shell strong", "nc ", "ncat ", rest=r"[^\n|]{0,60}-e /", behind=r"(?<!\w)"),
    _form("network_shell strong", "powershell", rest=r"[^\n]{0,60} -e(?:nc|ncodedcommand)? \w{8}"),
    _form(
        "network_shell strong",
        *("curl ", "wget "),
        rest=r"[^|\n;&]{0,200}(?:&&|;)\s?(?:chmod [^\n]{2,40}(?:&&|;)\s?)?(?:sudo )?"
        r"(?:(?:ba|z)?sh \S|\./\w|python3? \S)",
    ),
)
# A part of an address that is filled in: `{data}`, `[history]`, `<secrets>`, `$TOKEN`, `%7b`.
_FILLED = (
    r"(?:\{|%7b|\[|%5b|<|%3c|\$|\.\.\.|…|base64"
    r"|(?:your|the|user|all|put|insert|chat|paste|full)_)"
)
_TAKEN = (
    r"(?:data|d|q|secrets?|tokens?|keys?|conversation|history|memor(?:y|ies)|content|payload|exfil"
    r"|leak|c|info|user_?data|prompt|system_?prompt|context|msg|message|chat|log|dump|stolen|p|s|x"
    r"|cookies?|session|creds?|credentials?|password|pw|text|summary|email|name|user|u|m|h|t|b64)"
)
_LINKS = (
    _form(
        "data_link strong",
        "![",
        rest=r"[^\]\n]{0,120}\]\s?\(\s?<?https?://[^\s)]{1,200}[?&=/#]" + _FILLED,
    ),
    _form(
        "data_link strong",
        *("![",),
        rest=r"[^\]\n]{0,120}\]\s?\(\s?<?https?://[^\s)?]{1,200}\?(?:[^\s)=]{1,30}=[^\s)&]{0,60}&)"
        r"{0,3}(?:data|secrets?|tokens?|conversation|history|memory|payload|exfil|leak|user_?data"
        r"|(?:system_?)?prompt|context|dump|stolen|cookies?|creds?|credentials?|password|chat)=",
    ),
    _form(
        "data_link strong",
        *("<img", "<iframe", "<script", "<link", "<object", "<embed"),
        rest=r"[^>\n]{1,80}?(?:src|href|data)\s?=\s?[\"']?https?://[^\s>\"']{1,200}[?&]"
        + _TAKEN
        + "="
        + _FILLED,
    ),
    _form(
        "data_link strong",
        "](http",
        rest=r"s?://[^\s)]{1,200}[?&]" + _TAKEN + "=" + _FILLED,
    ),
    _form(
        "data_link strong",
        *("http://", "https://"),
        rest=r"[^\s)\"'<>]{3,200}[?&/]" + _TAKEN + r"[=/](?:\{\{?|%7b|\[|<|\$\{|\$\()(?!user}|id})",
        behind=r"(?<![`'\"])",  # no address in a program
    ),
)
FORMS = (*_MARKERS, *_FORGED, *_CALLS, *_ENDS, *_SHELL, *_LINKS)
"""The forms of every text."""

TEXT_FORMS = (
    _form("role_marker strong", "system:", "system :", rest=_ORDERED, behind=OPENING),
    _form(
        "role_marker middling",
        *("assistant", "system"),
        rest=r"[\s*\])]{0,3}:",
        behind=r"(?:(?<![\s\S])|(?<=\n)|(?<=\n[>*#\[-])|(?<=\n[>#-] )|(?<=\n\*\*))",
    ),
    _form(
        "role_marker weak",
        *("user", "human", "tool", "function", "ai"),
        rest=r"[\s*\])]{0,3}:",
        behind=_LINE_START,
    ),
)
"""A role's name before a colon, for texts that are not lists of messages."""
MESSAGE_FORMS = (
    # Within a message, where the sender wrote it.
    _form("role_marker strong", "system:", rest=_ORDERED, behind=r"(?<=[.!?>\])*] )"),
    _form("role_marker weak", "system", rest=":", behind=_LINE_START),
)
"""A role's name before a colon, for lists of messages, where each line begins with a role."""
