"""Whether a text is language, told by the small words that every text of a language has.

Letters that are mapped to wrong ones give words that look like words; but `the`, `und` and `de` are
not among them.
"""

from collections.abc import Callable
from functools import cache

from quire.domain.judgement.words import Words

# The commonest small words of languages written with letters, by their scripts alone apart.
_SMALL_WORDS = (
    "the of and to in is that for it as was with be by on not are this or from at which have has "
    "der die und das von zu den mit für ist des im nicht ein eine dem auf auch sich werden "
    "de la le les et des en du un une que est pour dans par sur pas au qui avec il "
    "el los las que y del se por con una para su al lo como más "
    "il di che per non sono della con una gli dei alla nel è "
    "o os as do da em um uma para com não dos na no ao "
    "het een van dat op te zijn met voor niet aan er om ook "
    "och att det som på är av för den till med inte har om ett "
    "og at det som på er af til den med ikke har et i "
    "ja on ei se että ovat oli mutta myös kun sekä "
    "w na się nie do jest to że z jak przez od po dla oraz "
    "a je se na že v to s z do pro jako ve by jsou "
    "és hogy nem egy az meg is ez volt van csak "
    "și de la în nu cu pe din care pentru este ce mai "
    "ve bir bu için ile da de olarak olan çok daha "
    "yang dan di dari ini untuk dengan pada tidak dalam adalah ke "
    "và của là các có được trong cho không một những với "
    "и в на не что с по это как из у к он для за от о а но его все "
    "і та що на не до як для від це або у з за "
    "и на да се от за не по са че в с като "
    "και το να η του της των με για που στο από είναι τα στην δεν "
    "של את על לא הוא כי עם זה או גם היא אל כל אם "
    "في من على إلى أن التي عن هذا هذه مع لا ما كان أو "
    "در به از که این را با است برای آن و یک "
    "के में है की को से का और पर यह एक नहीं हैं"
)
# Of scripts without blanks between words: pairs of letters that their small words make.
_SMALL_PAIRS = (
    "てい いる する した ます です こと から れる って ある ない まで より もの よう ため しま "
    "的人 我们 一个 不是 中国 这个 可以 没有 他们 时间 工作 进行 他们 我們 這個 沒有 時間"
)
# Endings of Korean words: its small words are tied to others.
_KOREAN_ENDINGS = ("은", "는", "이", "가", "을", "를", "의", "에", "에서", "으로", "고", "다", "한")
_ENOUGH = 25
_SHARE, _PAIR_SHARE, _ENDING_SHARE = 0.08, 0.02, 0.2


def is_language(words: Words) -> bool:
    """Whether this is surely the text of a language; a short text, a table of numbers or a
    language unknown here is not surely one."""
    words_alone = {word: count for word, count in words.counts.items() if word[0].isalpha()}
    total = sum(words_alone.values())

    def share(known: Callable[[str], bool]) -> float:
        return sum(count for word, count in words_alone.items() if known(word)) / total

    return total >= _ENOUGH and (
        share(is_small_word) >= _SHARE
        or share(_pairs().__contains__) >= _PAIR_SHARE
        or share(_ends_as_in_korean) >= _ENDING_SHARE
    )


def is_small_word(word: str) -> bool:
    """Whether texts that have nothing to do with each other share this word."""
    return word in _words()


@cache
def _words() -> frozenset[str]:
    return frozenset(_SMALL_WORDS.split())


@cache
def _pairs() -> frozenset[str]:
    return frozenset(_SMALL_PAIRS.split())


def _ends_as_in_korean(word: str) -> bool:
    return len(word) > 1 and word.endswith(_KOREAN_ENDINGS)
