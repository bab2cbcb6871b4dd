"""Negation: the source denies something and the translation does not, or the other way round.

Languages deny with words, endings and other verbs, and say "easy" for "not hard", so only plain cases are judged. Lost:
a text with one negated verb that does not ask, has nothing else to weigh, and a translation of ordinary length without
anything that could deny. Gained: one negated verb in the translation of a text without anything that could deny, be
misspelt for it, or be said by denying the opposite.
"""

import re

from rapidfuzz.distance import OSA

from babelquake.failures.base import Failure, detector
from babelquake.failures.lengths import relative_length
from babelquake.failures.pair import Pair, Side

SERVED = ("cs", "de", "en", "es", "fr")
"""Target languages whose ways to deny are listed."""
DENIES = {
    "en": re.compile(
        r"\b(?:(?:do|does|did|has|have|had|would|should|could|must)n['’]t|can['’]?t|cannot|won['’]?t|never"
        r"|(?:do|does|did|has|have|had|would|should|could|can|will|must) not)\b",
        re.IGNORECASE,
    ),
    "de": re.compile(r"\b(?:nicht|niemals|nie)\b", re.IGNORECASE),
}
"""Negated verbs, by source language."""
FIGURES = {
    "en": re.compile(r"\bnot (?:only|just|that)\b", re.IGNORECASE),
    "de": re.compile(
        r"\bnicht (?:nur|bloß|zuletzt|mehr|ganz|so|sehr|zu|wahr|einmal|genug|lange|weit|etwa|auf der Höhe)\b",
        re.IGNORECASE,
    ),
}
"""Denials that are often said without one."""
UNLESS = {
    "en": re.compile(
        r"\b(?:aren|is|are|was|were|wasn|isn|weren)['’]?(?:t| not)?\b.{0,12}\bnot|\b(?:any more|fuck\w*|not)\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\b(?:kein\w*|un(?!d\b|s\b|ser|ter)\w+|wenig\w*|bin|bist|ist|sind|seid|war|warst|waren|sei|seien|wär\w*|sein|gewesen)\b",
        re.IGNORECASE,
    ),
}
"""What makes a denial hard to weigh, beside the negated verb."""
UNLESS_WORDS = {
    language: frozenset(words.split())
    for language, words in {
        "en": "much many wait help until till unless without agree care only but hardly barely long mind too enough "
        "yet anymore matter if whether why stop forget miss fail far once before wrong worse better best no nor "
        "neither nothing none nobody even give given hard difficult easy worry shit damn crap hell lie lost last end "
        "believe seen good bad more less ever leave let let's let’s stand hesitate both either like remember keep",
        "de": "nichts ohne weder sondern aber wenn ob bis bevor leicht schwer vergessen lassen viel gut schlecht "
        "vielleicht oder",
    }.items()
}
"""The same: conditions, figures of speech, adjectives with an opposite."""
GAINED = {
    language: frozenset(words.split())
    for language, words in {
        "cs": "není nejsou nejsem nejsi nejsme nejste nebyl nebyla nebylo nebyli nebyly nebude nebudeš nebudeme "
        "nebudete nebudu nebudou nikdy nelze nemá nemám nemáš nemáme nemáte nemají neměl neměla nemělo neměli neměly "
        "nemůže nemůžeš nemůžeme nemůžete nemůžu nemohu nemohou nemohl nemohla nemohlo nemohli nemohly nechce nechceš "
        "nechci nechceme nechcete nechtějí nechtěl nechtěla nechtěli nechtěly nesmí nesmíš nesmíme nesmíte nesmějí "
        "nesměl nesměla nesměli neví nevím nevíš nevíme nevíte nevědí nevěděl nevěděla nevěděli nemusí nemusím nemusíš "
        "nemusíme nemusíte nemusel nemusela nemuseli",
        "de": "nicht nie niemals",
        "en": "not never cannot don't doesn't didn't hasn't haven't hadn't wouldn't shouldn't couldn't mustn't can't "
        "won't don’t doesn’t didn’t hasn’t haven’t hadn’t wouldn’t shouldn’t couldn’t mustn’t can’t won’t",
        "es": "no nunca jamás",
        "fr": "pas jamais",
    }.items()
}
"""Words that deny beyond doubt, by target language."""
UNLESS_GAINED = {
    "cs": re.compile(
        r"\?|\b(?:nejen\w*|divu|jestli|zda|než|dokud|pokud|kdyby|ale|zatím|dočkat|bylo nebylo|nic|nikdo|žádn\w+|"
        r"vyloučen\w*|vadí|pochyb\w*|problém\w*|jen|pouze|čas|chyb\w*|daleko)\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\?|\bnicht (?:nur|bloß|zuletzt|mehr|ganz|so|sehr|zu|wahr|einmal|genug|lange|weit)|"
        r"\b(?:nichts|kein\w*|ohne|weder|sondern|aber|wenn|ob|bis|bevor|noch|un\w+)\b",
        re.IGNORECASE,
    ),
    "en": re.compile(
        r"\?|\b(?:not only|wait|help|until|unless|but|if|whether|more|longer|any\w*|only|without|yet|too|enough)\b",
        re.IGNORECASE,
    ),
    "es": re.compile(
        r"[?¿]|\bno (?:obstante|solo|sólo|solamente|más|menos|bien|dej\w+|dud\w+|te preocupes|olvid\w+|pierd\w+|cabe|"
        r"tard\w+|import\w+|ces\w+|falt\w+|funcion\w+|\w+[aio]d[ao]s?)\b|"
        r"\b(?:ya|aún|todavía|que|o|más) no\b|\bno[,.!;:]|^\W*no\W|\bno\W*$|"
        r"\b(?:sino|menos que|hasta|mientras|hay|antes|sin|ni|nada|nadie|ningun\w|ningún|sí|si|pero|solo|aunque|"
        r"esperar|tiempo)\b",
        re.IGNORECASE,
    ),
    "fr": re.compile(
        r"\?|\b(?:un|le|ce|de|au|premier|chaque) pas\b|\bpas (?:de|à) |"
        r"\b(?:sans|ni|rien|personne|aucun\w*|mais|si|avant|jusqu\w*|plus|encore|seulement|que|inconvénient)\b",
        re.IGNORECASE,
    ),
}
"""What makes a denial in a translation hard to weigh: questions, conditions, figures of speech."""
MAY_DENY = {
    "en": re.compile(
        r"\?|n['’=]t\b|\b(?:\w*[nm]t|cannot|idek?|litera\w+|fau?lt\w*|most|best|probably|\w+est|n\w{0,2}v\w{0,2}r|k?no\w{0,5}|nay|nah|nei\w+|neg\w+|nil|nvm|idk|idc|ain|dunno|zero|"
        r"without|w/o|hard\w*|bare\w*|scarce\w*|rare\w*|seldom|few\w*|little|less\w*|least|only|just|merely|but|yet|"
        r"until|till?|unless|except\w*|besides?|before|instead|rather|than|though|although|however|while|whil\w+|despite|"
        r"if|whether|or|else|other\w*|still|too|so|once|ever\w*|an?\w*thing|some\w*|any\w*|free\w*|stop\w*|stay\w*|quit\w*|"
        r"fail\w*|refus\w+|lack\w*|avoid\w*|prevent\w*|den[yi]\w*|rejec\w+|ban\w*|forbid\w*|prohibi\w*|miss\w*|los[est]\w*|"
        r"losing|difficul\w*|troubl\w*|problem\w*|wrong\w*|bad\w*|false\w*|fake\w*|li(?:e|es|ed|ar|ars)|lying|myth\w*|"
        r"empt\w+|absen\w+|gone|out\w*|away|off|over|last\w*|end\w*|dea\w+|di(?:e|es|ed)|dying|kill\w*|br[eo]k\w*|down|"
        r"differ\w*|separat\w*|doubt\w*|hat(?:e|es|ed|ing)|ignor\w*|forg[eo]t\w*|leav\w+|left|resist\w*|oppos\w*|"
        r"against|behind|(?:be)?grudg\w*|reluctan\w*|splurg\w*|remember\w*|remind\w*|keep\w*|kept|hold\w*|beyond|far\w*|long\w*|short\w*|beat\w*|stupid|dumb|silly|odd\w*|strange\w*|"
        r"weird\w*|sure|car(?:e|es|ed)|mind\w*|matter\w*|worr\w+|wonder\w*|hesita\w*|fuck\w*|shit\w*|damn\w*|hell|crap\w*|"
        r"ass|sorry|sucks?|afraid|fear\w*|alone|sole\w*|sing\w+|minus|sham\w*|dis\w+|un(?!i[otv]|der|cle)\w+|under(?!st)\w{3,}|"
        r"i[mlr][lmpr]\w+|in(?:a|c|de|di|e|f|h|j|o|s|t(?!o)|v)\w+|mis\w+|non\w*|\w+less\w*|busy|forward|remain\w*|"
        r"easy|easily|possibl\w+|possibil\w+|almost|near\w*|wait\w*|weak\w*|poor\w*|ugly|strike\w*|crazy|mad|"
        r"surpris\w+|secre\w+|abandon\w*|drop\w*|skip\w*|clos\w+|block\w*|cancel\w*|exclu\w+|exempt\w*|late\w*)\b",
        re.IGNORECASE,
    ),
    "de": re.compile(
        r"\?|\b(?:nicht\w*|nie\w*|nein|nix|kein\w*|egal|gleichgültig|ohne|weder|noch|sondern|aber|doch|jedoch|wenn|falls|ob|bis|bevor|ehe|statt\w*|"
        r"anstatt|außer\w*|bloß|nur|erst|kaum|selten\w*|wenig\w*|als|oder|ander\w*|zu|so|un(?!d\b|s\b|ser|ter|ten\b)\w+|verf[aä]ll\w*|miss\w*|fehl\w*|mangel\w*|"
        r"verweiger\w*|verbot\w*|verbiet\w*|ablehn\w*|lehn\w*|verhinder\w*|vermeid\w*|verzicht\w*|scheit\w*|verlor\w*|"
        r"verlier\w*|schwer\w*|schwier\w*|leicht\w*|problem\w*|falsch\w*|schlecht\w*|lüg\w*|leer\w*|weg|aus|tot\w*|gegen|"
        r"allein\w*|einzig\w*|null|zweifel\w*|trotz\w*|obwohl|leider|\w+los\w*|\w+frei\w*|endlich|schon|mehr|weniger|"
        r"einfach\w*|mögl\w*|beide\w*|nirgend\w*|gering\w*|weit\w*|lassen|lässt|ab|halt\w*|hört?)\b",
        re.IGNORECASE,
    ),
}
"""By source language: words that deny, may be misspelt for such, or are often said by denying the opposite."""
FEWEST_WORDS = 5
"""Of a source before a denial counts as gained."""
APOSTROPHE = re.compile(r"['’]")
MOSTLY_SOURCE = 0.3
"""The share of the source's words from which a translation was hardly translated, the negation included."""
SHORTEST, LONGEST = 0.6, 1.6
"""The relative lengths between which a translation neither lost nor gained more than its negation."""


@detector("negation", family="content", needs=("source", "source language", "target language"), languages=SERVED)
def negation(pair: Pair) -> Failure | None:
    """The source denies something and nothing in the translation does, or the translation alone denies something."""
    return _lost(pair) or _gained(pair)


def _gained(pair: Pair) -> Failure | None:
    """The only negated verb of a translation whose source has nothing that denies."""
    source, made = pair.source.language, pair.translation.language
    if source is None or made is None or source.code not in MAY_DENY or made.code not in GAINED:
        return None
    denials = GAINED[made.code] & pair.translation.vocabulary
    if len(denials) != 1 or len(pair.source.words) < FEWEST_WORDS or not SHORTEST <= relative_length(pair) <= LONGEST:
        return None
    (word,) = denials
    if pair.translation.words.count(word) != 1 or not _is_plain(pair.source, source.code):
        return None
    if UNLESS_GAINED[made.code].search(pair.translation.prose):
        return None
    place = re.search(rf"\b{re.escape(word)}\b", pair.translation.text, re.IGNORECASE)
    return Failure("negation", 1.0, f"gained: {word}", (place.span(),) if place else ())


def _is_plain(side: Side, code: str) -> bool:
    """Whether nothing in a source could deny, not even a misspelt negation or one in look-alike letters."""
    plain: bool | None = side.__dict__.get("plain")
    if plain is None:
        plain = side.is_latin and MAY_DENY[code].search(side.prose) is None and not _misspelt_denial(side)
        side.__dict__["plain"] = plain
    return plain


def _misspelt_denial(side: Side) -> bool:
    """Whether a word is a negation, or an edit or two from one: "ncht" is most likely "nicht"."""
    negative = () if side.lexicon is None else side.lexicon.negative
    if not side.vocabulary.isdisjoint(negative):
        return True
    return any(
        OSA.distance(word, denial, score_cutoff=edits) <= edits
        for denial in negative
        if len(denial) > 3  # "to" is not a misspelt "no"
        for edits in (2 if len(denial) > 5 else 1,)
        for word in side.vocabulary
        if abs(len(word) - len(denial)) <= edits
    )


def _lost(pair: Pair) -> Failure | None:
    """The negated verb of a source whose translation has nothing that denies."""
    language, theirs = pair.source.language, pair.translation.lexicon
    if language is None or language.code not in DENIES or theirs is None:
        return None
    found = _denial(pair.source, language.code)
    if not found or relative_length(pair) < SHORTEST:
        return None
    vocabulary = pair.translation.vocabulary
    if not vocabulary.isdisjoint(theirs.negative) or any(
        word.replace("’", "'").startswith(theirs.negative_starts) and not word.startswith(theirs.plain_starts)
        for word in vocabulary - theirs.plain
    ):
        return None
    if _stripped(found) in _stripped(pair.translation.text) or _stands_in(found.split()[-1].lower(), vocabulary):
        return None
    if len(vocabulary & pair.source.vocabulary) > MOSTLY_SOURCE * len(vocabulary):
        return None
    if any(not theirs.negative.isdisjoint(APOSTROPHE.split(word)) for word in vocabulary if not word.isalpha()):
        return None
    return Failure("negation", 1.0, f"lost: {found}")


def _stands_in(word: str, vocabulary: frozenset[str]) -> bool:
    """Whether a word of the source was left as it was, or with one letter wrong."""
    return word in vocabulary or (len(word) > 3 and any(OSA.distance(word, other) <= 1 for other in vocabulary))


def _may_deny(side: Side) -> bool:
    """A cheap first look."""
    prose = side.prose.lower()
    return "n't" in prose or "n’t" in prose or not side.vocabulary.isdisjoint(DENIALS)


DENIALS = frozenset(
    ("not", "never", "cannot", "cant", "wont", "can't", "can’t", "won't", "won’t", "nicht", "nie", "niemals")
)


def _stripped(text: str) -> str:
    return APOSTROPHE.sub("", text.lower())


def _denial(side: Side, code: str) -> str:
    """The negated verb of a plain sentence; empty where there is none, or more than one, or anything else to weigh."""
    found: str | None = side.__dict__.get("denial")
    if found is None:
        found = side.__dict__["denial"] = _plain_denial(side, code)
    return found


def _plain_denial(side: Side, code: str) -> str:
    if not _may_deny(side) or "?" in side.prose or not UNLESS_WORDS[code].isdisjoint(side.vocabulary):
        return ""
    matches = DENIES[code].findall(side.prose)
    if len(matches) != 1 or FIGURES[code].search(side.prose) or UNLESS[code].search(DENIES[code].sub(" ", side.prose)):
        return ""
    return str(matches[0])
