"""Numbers, dates and units."""

import pytest
from tests.failures.conftest import Kinds


@pytest.mark.parametrize(
    ("pair", "source", "translation"),
    [
        ("en-cs", "He paid 25 euros.", "Zaplatil 52 eur."),
        ("en-cs", "It weighs 1,250 tons.", "Váží mnoho tun."),
        ("en-es", "In 1984 he left.", "Se fue."),
        ("en-cs", "He left.", "Odešel v roce 1984."),
        ("en-es", "I need 5 eggs.", "Necesito 6 huevos."),
        ("en-de", "We meet at 7:30.", "Wir treffen uns um 8:45 Uhr."),
        ("en-de", "It takes 95 minutes.", "Es dauert zwei Stunden."),
        ("ja-en", "1億4,200万人のフォロワー", "124 million followers"),
        ("en-fi", "It costs 12,345 dollars.", "Se maksaa paljon dollareita."),
        ("de-en", "Es kostet 3,5 Euro.", "It costs 35 euros."),
        ("de-en", "Es kostet 35 Euro.", "It costs 3.5 euros."),
        ("de-en", "Es kostet 1.250,50 Euro.", "It costs 125,050 euros."),
        ("de-en", "Die Zinsen liegen bei 0,5 %.", "Interest rates are at 5 %."),
        ("en-de", "It is 3.5 metres long.", "Es ist 35 Meter lang."),
        ("en-de", "It cost $3.6 million.", "Es kostete 36 Millionen Dollar."),
        ("de-en", "Er zahlte 25 Euro am Tag 3 in der Stadt.", "He paid 52 euros on day 3 in the city."),
        ("de-en", 'Sie <g id="1">speichern</g> 25 Zeilen.', 'You <g id="1">store</g> 52 lines.'),
    ],
)
def test_lost_changed_and_added_numbers(kinds: Kinds, pair: str, source: str, translation: str) -> None:
    assert "number" in kinds(source, translation, pair)


@pytest.mark.parametrize(
    ("pair", "source", "translation"),
    [
        ("en-cs", "It costs 1,250.50 euros.", "Stojí to 1 250,50 eura."),
        ("en-de", "It costs 1,250.50 euros.", "Es kostet 1.250,50 Euro."),
        ("de-en", "Es kostet 1.000 Euro.", "It costs 1,000 euros."),
        ("de-en", "Es kostet 1.000 Euro.", "It costs 1000 euros."),
        ("en-cs", "It costs 1000 euros.", "Stojí to 1 000 eur."),
        ("en-de", "It weighs 1,250 tons.", "Es wiegt 1.250 Tonnen."),
        ("de-en", "Es kostet 3,5 Euro, nicht 35.", "It costs 3.5 euros, not 35."),
        ("en-es", "from 0.67 to 0.83, 83 of them", "de 0,67-0,83, 83 de ellos"),
        ("en-cs", "At 0500 sharp.", "Přesně v 05.00."),
        ("en-zh", "It rose to 1.05 million.", "上升到 105 万。"),
        ("en-de", "It is 1.5 cm wide.", "Es ist 15 mm breit."),
        ("en-cs", "He has 12 brothers.", "Má dvanáct bratrů."),
        ("en-de", "He has 25 brothers.", "Er hat fünfundzwanzig Brüder."),
        ("en-es", "In the 20th century.", "En el siglo XX."),
        ("en-fr", "In the late 19th century.", "À la fin du XIXe siècle."),
        ("en-cs", "Music of the 1960s.", "Hudba 60. let."),
        ("en-cs", "At 3 pm.", "V 15 hodin."),
        ("en-cs", "It is 27 miles away.", "Je to 43 kilometrů odtud."),
        ("en-es", "It cost 1.5 million dollars.", "Costó 1 500 000 dólares."),
        ("en-cs", "On 9/11 and 24/7, gr8 2 c u @user16.", "Dne 11. září a nonstop, rád tě vidím @user16."),
        ("en-cs", "I am 100% sure.", "Jsem si zcela jistý."),
        ("en-ar", "It costs 1234 pounds.", "يكلف ١٢٣٤ جنيها."),
        ("en-fi", "He has 12 brothers.", "Hänellä on kaksitoista veljeä."),
        ("en-cs", "Among the top 10.", "Mezi první desítkou."),
        ("en-de", "The meeting is on 5 March.", "Das Treffen ist am 5.3."),
        ("en-de", "We meet at half past seven.", "Wir treffen uns um 7.30 Uhr."),
        ("fr-en", "à huit heures moins le quart", "at 7:45"),
        ("en-de", "It takes 2.5 hours.", "Es dauert zweieinhalb Stunden."),
        ("en-de", "It takes 90 minutes.", "Es dauert anderthalb Stunden."),
        ("en-fr", "We leave in two weeks.", "Nous partons dans 15 jours."),
        ("en-de", "2½ cups", "2,5 Tassen"),
        ("ja-en", "平成30年に設立された。", "It was founded in 2018."),
        ("zh-en", "上世纪九十年代", "In the 1990s"),
        ("zh-en", "同比增长百分之十二点五。", "It grew by 12.5 percent year on year."),
        ("ja-en", "1億4,200万人のフォロワー", "142 million followers"),
        ("en-ko", "142 million followers", "1억 4천 2백만 명의 팔로워"),
        ("zh-en", "罚款 25 万美元。", "A fine of $250,000."),
        ("cs-en", "Šestapadesátiletý herec hraje.", "The 56-year-old actor plays."),
        ("en-fi", "In the 19th century.", "1800-luvulla."),
        ("en-ja", "It has been a decade.", "10 年になる。"),
        ("en-lv", "At 6am he woke.", "Viņš pamodās plkst. 6.00."),
        ("de-en", "Der Stand ist seit zwwölf Jahren der niedrigste.", "It is the lowest level for 12 years."),
    ],
)
def test_numbers_in_another_form_are_kept(kinds: Kinds, pair: str, source: str, translation: str) -> None:
    assert kinds(source, translation, pair) == set()


def test_another_month_weekday_or_unit(kinds: Kinds) -> None:
    assert kinds("Critics met on Wednesday night.", "Kritici se sešli v úterý večer.") == {"date"}
    assert kinds("It opened in October 1990.", "Otevřelo se v srpnu 1990.") == {"date"}
    assert kinds("You may march in May.", "V květnu můžeš pochodovat.") == set()
    assert kinds("We leave in 2 months.", "Odjíždíme za 2 dny.") == {"unit"}
    assert kinds("It costs $5.", "Stojí to 5 Kč.") == {"unit"}
    assert kinds("It costs $5.", "Stojí to 5 dolarů.") == set()


def test_a_number_beside_a_unit_is_lost_where_no_number_is_left(kinds: Kinds) -> None:
    assert kinds("She acts like 500 miles is a long way.", "Chová se, jako by to bylo daleko.") == {"number"}
    assert kinds("It was about 10 feet tall.", "Bylo to asi tři metry vysoké.") == set()
    assert kinds("We flew at 65 miles an hour.", "Letěli jsme 105km/h.") == set()
    assert kinds("Свинья весом в 250 килограмм.", "The 550 pound hog.", "ru-en") == set()


def test_ten_years_in_one_german_word(kinds: Kinds) -> None:
    assert kinds("Sie feierten ihr zehnjähriges Bestehen.", "They celebrated 10 years of existence.", "de-en") == set()
