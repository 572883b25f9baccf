"""Words and placeholders that may follow `password is` without being the password."""

import re


def is_ordinary(word: str) -> bool:
    """Does a word, in any letter case, describe a secret instead of being it?

    Of words joined by hyphens or slashes one ordinary part is enough: `case-sensitive`, `n/a`.
    """
    parts = _JOINTS.split(word.lower().strip("'"))
    return word.lower() in _ORDINARY or any(_is_common(part) for part in parts)


def is_function_word(word: str) -> bool:
    """Is it a word such as `the` or `of`, of which no passphrase is made?"""
    return word.lower() in _FUNCTION


def is_placeholder(value: str) -> bool:
    """Is it a placeholder: `<your-password>`, `${TOKEN}`, `****`, `[redacted]`?"""
    return _PLACEHOLDER.match(value) is not None


def _is_common(part: str) -> bool:
    part = part.removesuffix("'s")
    return part in _ORDINARY or part in _FUNCTION or _PARTICIPLE.fullmatch(part) is not None


_JOINTS = re.compile(r"[-/]")
_PLACEHOLDER = re.compile(
    r"\$\{|\$\(|\{\{|%\(|\$[A-Z_][A-Z0-9_]*\b|%[A-Z_]+%"
    r"|<[A-Za-z][A-Za-z _.-]{0,60}>|\{[A-Za-z_.]{0,60}(?:![ars])?\}|%[drs](?!\w)"
    r"|\[[A-Za-z][A-Za-z _-]{0,60}\]"
    r"|[Yy][Oo][Uu][Rr][_-][A-Za-z_-]{1,60}(?![A-Za-z0-9])"
    r"|[^\w\s]{3,}$|[xX]{3,12}$|_+$"
)
# "compromised", "unreachable": said of a secret far more often than used as one.
_PARTICIPLE = re.compile(r"[a-z]{4,}ed|[a-z]{4,}[ai]ble|[a-z]{6,}ing|[a-z]{5,}less")

_FUNCTION_WORDS = """
    a about above after again all also always an and another any anymore anyway anywhere are as
    at back be because been before being below between both but by can cannot could did do does
    done down during each either else enough ever every everyone everything everywhere few for
    forever from get gets given had has have he her here hers him his how i if in inside instead
    into is it its just later less like made make many may maybe me mine more most much must my
    neither never no nobody none nor not nothing now of off on once one only or other our ours
    out outside over own part per perhaps please probably quite rather same see she should since
    so some somebody someone something somewhere soon still such than that the their theirs them
    then there these they this those though through thus to today together tomorrow tonight too
    twice under until up upon us used very via was we were what whatever when where whether
    which while who whose why will with within without would yes yesterday yet you your yours
"""
_ORDINARY_WORDS = """
    1password absent accepted access account active added alive allowed alphanumeric already
    ambiguous annoying apparently array ask asked authentication automatic available awful bad
    base64 basic best better bitwarden blank bool boolean boring broken bytes case certainly
    changed changing char characters chars cheap check clear code common complete complex
    compulsory confidential confirm correct crucial curious current dashlane database dead
    default definitely deleted deprecated detail different difficult digit digits disabled
    documented dynamic easier easy eight email empty enabled encrypted enter env environment
    error essential exact example excellent exist expired expires external fail failed failing
    fails fair fake false field fifteen file fine five fixed forgotten four fourteen free fresh
    function generated github gitlab gone good great guessable half hard harder hash hashed
    header hex hidden hint hopefully identical illegal immutable important impossible
    inaccessible incomplete incorrect ineffective inf initial input insecure int integer
    internal invalid irrelevant it's json jwt keepass kept key keychain known lacking lastpass
    leaked legal length letters level limited line local locked login long longer lost low
    lowercase managed mandatory manual match max maximum meaningless medium memorable mentioned
    merged min minimum mismatch missing mixed model name needed new nil nine null number numbers
    numeric oauth oauth2 object obligatory obsolete obvious obviously offline often ok okay old
    omitted online open openai option optional outdated owned page param parameter passwords
    pasted pending permanent persistent personal plain plaintext pointless poor possibly
    predictable present previous printed private production progress prohibited prompt proper
    protected provided public pw random read readonly ready recent redacted refused regenerated
    rejected reliable removed repeated requested required reset restricted retired reusable
    reused revoked right risky room rotated safe safer saved secret secrets secretstr section
    secure sensitive sent set seven several shared short shorter shown silly simple simpler
    single six sixteen solid sometimes somewhat special staging stale standard static step store
    stored str string strong stronger stupid sufficient supposedly symbols sync tba tbd
    temporary ten terrible text three time token tokens tough trivial true twelve two type
    unchanged unclear undefined unfortunately unique unknown unsafe unset unusual update updated
    upper uppercase url used useful useless user username usually utf8 vacant valid value
    variable vault version visible void vulnerable weak weaker weird words working worthless
    written wrong zero
"""
_FUNCTION = frozenset(_FUNCTION_WORDS.split())
_ORDINARY = frozenset(_ORDINARY_WORDS.split())
