"""English words and phrases about health, money, legal trouble and intimacy.

A single word is listed only if it has no everyday meaning. Others are listed in phrases only:
"expecting" is said of parcels, "depression" of roads, "debt" of programs.
"""

import re
from functools import cache

_HEALTH = """
    adhd allergy allergic alzheimer amputation amputated aneurysm antibiotic arthritis
    asthma asthmatic autism autistic biopsy cancer carcinoma chemo chemotherapy cholesterol
    cirrhosis colonoscopy crohn dementia diabetes diabetic dialysis disability dyslexia dyslexic
    eczema endometriosis epilepsy epileptic fibromyalgia glaucoma hepatitis herpes hiv
    hospitalised hospitalized hypertension ibs illness insulin leukaemia leukemia lupus lymphoma
    mastectomy medication melanoma menopause metastasis migraine mri osteoporosis paralysed
    paralyzed parkinson pneumonia prescribed psoriasis rehab sclerosis surgery tuberculosis
    tumor tumour vasectomy
"""
_MIND = """
    anorexia anorexic antidepressant anxiety bipolar bulimia bulimic depressed insomnia ocd paranoia
    psychiatric psychosis ptsd schizophrenia schizophrenic suicidal suicide
"""
_PREGNANCY = """
    abortion infertile infertility ivf miscarriage miscarried pregnant pregnancy
    stillbirth trimester
"""
_MONEY = """
    alimony bankrupt bankruptcy foreclosure indebted insolvency insolvent mortgage
    overdraft overdrawn paycheck payslip salary
"""
_LAW = """
    arrested convicted deported deportation divorce divorced divorcing dui dwi felon felony
    imprisoned incarcerated indicted indictment jail jailed lawsuit misdemeanor misdemeanour parole
    prison prosecuted subpoena sued suing
"""
_INTIMACY = """
    asexual bisexual condom contraception contraceptive erectile fetish gay homosexual
    homosexuality lesbian libido nonbinary porn pornography queer rape raped sexuality sexually
    transgender transsexual viagra
"""
SENSITIVE_WORDS = frozenset((_HEALTH + _MIND + _PREGNANCY + _MONEY + _LAW + _INTIMACY).split())
"""Lower case, in the singular."""

_IS = r"(?:am|is|are|was|were|been|be|feels?|feeling|felt|getting|got|\w+'(?:m|s|re))"
_HAS = r"(?:have|has|had|having|got|gets|getting|caught|suffer(?:s|ed|ing)?(?: from)?)"
_WHOSE = r"(?:my|your|his|her|our|their|\w+'s)"
_LIMB = (
    "(?:ankle|arm|back|collarbone|elbow|finger|foot|hand|hip|knee|leg|neck|nose|rib|shoulder|toe"
    "|wrist)s?"
)
_CHILD = r"(?:baby|babies|child|boy|girl|son|daughter|twins?|triplets|little one)"
_MONEY_SUM = r"(?:[$€£]\s?\d|\d[\d.,]*\s?k?\s?(?:[$€£]|usd|eur|gbp|dollars|euros|pounds)|\d+k\b)"

_HEALTH_PHRASES = (
    rf"{_HAS} (?:a |an )?(?:mild |small |minor )?(?:stroke|aids|covid|flu|concussion|std|sti)\b"
    r"(?! shot| jab)",
    r"seizures?\b(?! of)|(?:in|uses?|needs?|using) a wheelchair",
    r"tested positive for",
    r"diagnos(?:ed with|is of)",
    rf"{_WHOSE} (?:medical |official )?diagnosis",
    r"heart (?:attack|disease|condition|failure|surgery)",
    r"(?:high|low) blood (?:pressure|sugar)",
    r"blood pressure (?:medicine|pills?|tablets?)",
    r"(?:kidney|liver|lung|heart|bone marrow) (?:transplant|failure|disease)",
    r"(?:chronic|terminal|autoimmune|rare|genetic|sexually transmitted) "
    r"(?:pain|fatigue|illness|diseases?|conditions?)",
    rf"{_HAS} (?:a |an )?(?:\w+ )?(?:disease|disorder|infection)",
    r"terminally ill",
    r"(?:in|to|from|out of|left) (?:the )?hospital (?:since|for|after|with|again|yesterday|today)",
    r"(?:admitted|taken|rushed) to (?:the )?(?:hospital|hospice|intensive care)",
    rf"{_IS} in (?:the )?hospital\b",
    rf"(?:{_IS}|called in|off) (?:very |really |quite |badly |seriously )?"
    r"(?:sick|ill)\b(?! of)",
    r"sick leave",
    rf"(?:broke|broken|fractured|tore|sprained) (?:{_WHOSE}|an?|both) (?:\w+ )?{_LIMB}",
    rf"(?:a |{_WHOSE} )(?:broken|fractured|torn|sprained) {_LIMB}",
    r"(?:disabled (?:person|veteran|since)|(?:physically|mentally|severely) disabled)",
    r"(?:recovering|an) alcoholic\b(?! drink| beverage| punch)",
    r"(?:drug|alcohol|substance|opioid|gambling) (?:abuse|addiction|addict|problem|dependency)",
    r"addicted to (?:drugs|alcohol|opioids|heroin|cocaine|gambling|painkillers|pills|porn)",
    r"(?:drug|heroin|accidental) overdose|overdosed",
    rf"{_WHOSE} prescription\b(?! glasses| lens)",
    rf"{_WHOSE} (?:medicine|meds|blood test|test results|health (?:problem|issue)s?)",
    r"(?:takes?|taking|on) (?:\w+ )?(?:meds|painkillers|blood thinners|statins|beta blockers)",
    r"in remission|multiple sclerosis|cystic fibrosis|down syndrome|sickle cell",
)
_MIND_PHRASES = (
    r"(?<!great )(?<!tropical )(?<!economic )(?<!the )depression\b"
    r"(?! in the| of the| era|-era| between)",
    r"(?:postpartum|postnatal|clinical|severe) depression",
    r"(?:panic|anxiety) attacks?|panic disorder",
    r"(?:eating|personality|mood|sleep) disorder",
    r"mental(?:ly)? (?:health|ill(?:ness)?|breakdown|disorder|hospital)",
    r"nervous breakdown|self[- ]harm(?:s|ed|ing)?|(?:kill|hurt)(?:ing)? (?:my|him|her)self",
    rf"{_IS} (?:completely |totally |so )?burn(?:ed|t) out|(?:has|had|with|from) burnout",
    rf"(?:{_WHOSE}|sees? a|seeing a|saw a|visits? a) (?:therapist|psychiatrist|psychologist)",
    r"(?:in|to|goes to|started|starting|couples) (?:couples )?therapy\b",
)
_PREGNANCY_PHRASES = (
    rf"expecting (?:\w+ ){{0,3}}?{_CHILD}\b",
    r"expecting (?:my|our|his|her|their) (?:first|second|third|fourth)\b(?! \w)",
    r"lost (?:my|our|his|her|their|the) (?:unborn )?baby",
    r"(?<!than )(?<!what )(?<!as )(?<!that )\b(?:\w+ and )?\w+(?: (?:am|are|is)|'m|'re|'s) "
    r"(?:also |now |both |finally )?expecting(?=\s?(?:$|[.,;:!?)…—-])"
    r"| (?:again|soon|together|for the (?:first|second|third) time|in (?!the|a\b)\w+"
    r"|this|next|and)\b)",
    r"(?:trying|try) (?:for a baby|to conceive|to get pregnant)",
    r"bab(?:y|ies) (?:is|are) due|having a baby|c-section|morning sickness",
    r"(?:maternity|paternity) leave|fertility (?:treatment|clinic|drugs)",
)
_MONEY_PHRASES = (
    r"(?<!tech )(?<!technical )(?<!design )(?<!documentation )(?<!test )(?<!code )(?<!sleep )"
    r"\bdebts?\b(?! in the (?:code|codebase))",
    r"net worth|credit score|payday loans?|student loans?|life savings|child support|food stamps",
    rf"{_WHOSE} (?:\w+ )?(?:income(?! statement| tax)|wages?|earnings|savings|pension|pay rise"
    r"|loans?|bonus(?! points?| track| level))\b",
    r"(?:household|monthly|annual|yearly|gross|taxable) income|minimum wage",
    rf"(?:earns?|earned|earning|owes?|owed|borrowed|inherited) (?:\w+ ){{0,3}}?{_MONEY_SUM}",
    rf"(?:makes?|making|paid) {_MONEY_SUM}[\d.,k]* (?:\w+ )?(?:an?|per|every) "
    r"(?:hour|week|month|year)",
    r"(?:owes?|owed|borrowed|inherited) (?:\w+ ){0,3}?money",
    r"lost (?:all )?(?:my|his|her|their) money",
    rf"{_IS} (?:totally |completely |flat |dead )?broke(?=\s?(?:$|[.,;:!?)])| and| until)",
    r"(?:took|take|taking) out a (?:\w+ )?loan",
    r"evicted from (?:\w+ )?(?:flat|home|house|apartment)|fac(?:es|ing) eviction",
    r"(?:unemployment|disability|housing|welfare) benefits?|on welfare|behind on (?:the )?rent",
    r"(?:can't|cannot|can not|couldn't) afford (?:\w+ )?"
    r"(?:rent|mortgage|house|flat|food|bills?|medicine|tuition|groceries|heating)\b",
    r"financial(?:ly)? (?:trouble|problems?|ruin(?:ed)?)",
    r"money (?:troubles?|problems?|worries)",
)
_LAW_PHRASES = (
    r"(?:criminal|police) (?:record|charges?|convictions?|investigation)",
    r"under (?:arrest|investigation for|house arrest)|pleaded guilty|pled guilty",
    r"(?:on|violated|broke) probation|(?:on|posted|made) bail|restraining order",
    r"court (?:date|case|hearing|order|summons)",
    r"(?:going|goes|went|taken|took|taking) (?:\w+ )?to court",
    r"custody (?:battle|case|dispute|of)|immigration status",
    r"undocumented (?:immigrant|worker|migrant)",
    r"(?:seek|seeks|seeking|sought|applied for|claimed) asylum",
    r"legal (?:trouble|problems?|dispute|proceedings|battle|action against)",
    r"in trouble with the law",
    r"charged with (?:\w+ )?(?:a crime|assault|burglary|fraud|murder|possession|theft)",
    r"drunk driving|house arrest|tax (?:fraud|evasion)",
)
_INTIMACY_PHRASES = (
    r"(?:ha(?:ve|s|d|ving)|casual|oral|unprotected|premarital) sex\b|sex (?:life|with|drive|toys?)",
    r"sexual (?:orientation|preference|relationship|assault|abuse|harassment|partner|problem)s?",
    r"(?:ha(?:ve|s|d|ving)|secret|love|extramarital) (?:an |a )?(?:secret )?affair",
    r"(?:cheat(?:s|ed|ing) on|slept with|sleeping with) (?:me|him|her|them|my|his|their|\w+'s)\b",
    r"sleep(?:s|ing) around",
    r"c[ao]m(?:e|es|ing) out (?:as|to (?:my|his|her|their))|trans (?:man|woman|person)|non-binary",
    r"birth control|one[- ]night stand|morning[- ]after pill|nude (?:photo|picture|selfie)s?",
    r"domestic (?:violence|abuse)",
    r"abusive (?:relationship|husband|wife|partner|marriage|father|mother)",
    rf"(?:separat(?:ed|ing) from|split(?:ting)? (?:up )?(?:with|from)|le(?:ft|aving)) {_WHOSE} "
    r"(?:husband|wife|spouse)\b(?! an?\b| the\b| at\b| in\b)",
    r"gender (?:identity|transition|reassignment)",
)


def _compile_phrases(*phrases: str) -> re.Pattern[str]:
    return re.compile(r"(?<!\w)(?:" + "|".join(phrases) + r")")


@cache
def sensitive_pattern() -> re.Pattern[str]:
    """The pattern of sensitive phrases, for lower-case text with straight apostrophes and single
    spaces."""
    return _compile_phrases(
        *(*_HEALTH_PHRASES, *_MIND_PHRASES, *_PREGNANCY_PHRASES),
        *(*_MONEY_PHRASES, *_LAW_PHRASES, *_INTIMACY_PHRASES),
    )


@cache
def confidence_pattern() -> re.Pattern[str]:
    """The pattern of requests to keep something confidential, for the same form of text."""
    return _compile_phrases(*_CONFIDENCE)


_KEPT = r"(?:to (?:your|our)sel(?:f|ves)|between us|quiet|secret|private|confidential|under wraps)"
_NOT = r"(?:don't|dont|do not|never|please not|must not|mustn't|shouldn't|can't|cannot)"
_CONFIDENCE = (
    r"between (?:us\b(?! and| there| two| is\b| was\b)|you and me|ourselves|the two of us)",
    rf"{_NOT} (?:ever |please )?tell\b(?! me\b| us\b| the difference| time\b)",
    r"(?:told|asked|promised|supposed|allowed)(?: me| her| him| us)? not to (?:tell|say|share)",
    rf"{_NOT} (?:ever |please )?(?:share|repeat|mention|spread|pass on) (?:this|it|that)\b",
    r"(?<!rise )(?<!drop )(?<!fall )(?<!gain )(?<!growth )(?<!increase )(?<!decrease )(?<!grown )"
    r"(?<!boost )(?<!lacking )in (?:strict |strictest )?confidence\b(?! interval| level| score)",
    rf"keep (?:this|it|that|these|what i (?:say|said)) (?:\w+ )?(?:\w+ )?{_KEPT}",
    r"(?:this|that|it) (?:is|stays|must stay|should stay|has to stay) (?:just |strictly )?"
    r"(?:confidential|a secret|secret|between us)\b",
    r"(?:it's|that's) (?:just |strictly )?(?:confidential|a secret|off the record)\b",
    r"(?:confidentially|off the record|mum's the word|for your (?:ears|eyes) only)\b",
    r"(?:nobody|no one|no-one)(?: else)? (?:knows (?:yet|about (?:this|it))|(?:may|must) know)",
    r"not a word to (?:any|no)",
)
