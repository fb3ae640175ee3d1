"""A generated corpus, to try everything without a download.

Short product reviews from a small grammar. A review has three to seven sentences, of which one or
two express an opinion; the others are about delivery, looks and use. Some reviews are hard on
purpose: praise by negation, an older product that was bad, a kind word before the verdict.
"""

from __future__ import annotations

import csv
import io
import json
import os
import random
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from textreg.errors import UsageError
from textreg.files import write_atomically

Symbols: TypeAlias = Mapping[str, Sequence[str]]

# A {symbol} stands for any of its alternatives; those of the product come before those here.
GRAMMAR: Symbols = {
    "person": ["my wife", "my husband", "my sister", "my father", "a colleague", "our neighbour"],
    "time": ["two weeks", "a month", "three months", "half a year", "a few days", "ten days"],
    "color": ["black", "white", "dark blue", "grey", "red", "olive green", "cream"],
    "day": ["Monday", "Tuesday", "Thursday", "Friday", "Saturday"],
    "shop": ["at the shop in town", "on this site", "in a catalogue", "in the spring sale"],
    "very": ["really", "simply", "quite", "honestly", "absolutely", "very"],
    "but": ["Still,", "But", "All the same,", "In the end,"],
    # Sentences without a verdict, though some have its words.
    "opening": [
        "I bought this {product} {time} ago for {use}.",
        "This {product} was a present from {person}.",
        "We needed a new {product} for {use}.",
        "After reading a lot of reviews, good and bad, I ordered this {product}.",
        "{person} has had the same {product} for {time}.",
        "My old {product} gave up in spring, so I looked for another one.",
        "I found this {product} {shop}.",
        "This is the second {product} that we have owned.",
        "I use the {product} for {use}, mostly at weekends.",
    ],
    "aside": [
        "It arrived on a {day} in a plain cardboard box.",
        "Delivery took four working days.",
        "{which_color}.",
        "The leaflet in the box comes in six languages.",
        "The {part} is a little larger than in the picture.",
        "The {part} is made of {material}.",
        "It lives {place} now.",
        "It weighs a little more than I had thought.",
        "We are four at home, and by now everybody has used it.",
        "There is also a smaller model, which I have not tried.",
        "The price went up by five euros the week after.",
        "The label on the {part} says that it was made in Portugal.",
        "{person} asked me where I had bought it.",
        "{old_one}.",
        "Some reviews call it {good}, others call it {bad}.",
        "You can take the {part} off for cleaning.",
        "I do not know how it compares with more expensive ones.",
        "Please note that the {part} is sold separately.",
        "I am writing this after {time} of {use}.",
    ],
    "which_color": [
        "Mine is the {color} one",
        "I chose {color}; {person} has one as well",
        "I had hoped for the {color} one, but it was out of stock",
    ],
    "old_one": [
        "The old one, which was {bad}, went to the dump",
        "My last one was {good} until I dropped it down the stairs",
    ],
    # The verdict, plainly and by what it is not.
    "praise": [
        "I am {very} {happy} with it.",
        "The {part} is {good}.",
        "The {part} {works_well}.",
        "It is {good}, and worth every cent.",
        "It {does_well}.",
        "It {does_well}, and the {part} {works_well}.",
        "I would buy it again {readily}.",
        "I can recommend it to anybody.",
        "This is the best {product} that I have had.",
        "{person} loves it, and so do I.",
        "What a {good} {product}!",
        "Five stars from me.",
    ],
    "negated_complaint": [
        "I have not had a single problem with it.",
        "Not bad at all for the price.",
        "I cannot find a fault with the {part}.",
        "There is nothing to complain about.",
        "It has never failed or disappointed me.",
        "I was afraid that the {part} would be {bad}, but there was no need to worry.",
        "Nothing broke, nothing came loose, and I regret nothing.",
        "Do not believe those who call it {bad}.",
        "Nobody here is {unhappy} with it.",
    ],
    "complaint": [
        "I am {very} {unhappy} with it.",
        "The {part} is {bad}.",
        "The {part} {works_badly}.",
        "It is {bad}, and a waste of money.",
        "It {does_badly}.",
        "It {does_badly}, and the {part} {works_badly}.",
        "I sent it back {readily}.",
        "I have asked for my money back.",
        "This is the worst {product} that I have had.",
        "{person} hates it, and so do I.",
        "What a {bad} {product}!",
        "One star from me.",
    ],
    "negated_praise": [
        "I wanted to love it, but I cannot.",
        "It is not {good}, whatever the others write.",
        "I would not buy it again, and I cannot recommend it.",
        "The {part} is anything but {good}.",
        "I had expected a {good} {product}, and got something else.",
        "It would be the best {product} of all if it worked.",
        "There is nothing {good} about the {part}.",
        "I was told that it was {good}, and I was told wrong.",
        "Nobody here is {happy} with it.",
    ],
    # A word for the other side, which the verdict after it outweighs.
    "small_praise": [
        "The {color} is lovely, I admit.",
        "On the first day I was {happy}.",
        "The {part} is {good}, to be fair.",
        "The people in the shop were friendly and helpful.",
    ],
    "small_complaint": [
        "The box was dented and torn, I admit.",
        "On the first day I was {unhappy}, as I had not read the manual.",
        "The {color} is a little dull, to be fair.",
        "The courier was late and rude.",
    ],
    "happy": ["happy", "pleased", "delighted", "satisfied", "thrilled", "content", "impressed"],
    "unhappy": ["unhappy", "disappointed", "annoyed", "frustrated", "angry", "fed up", "let down"],
    "good": [
        *("good", "great", "excellent", "perfect", "wonderful", "fantastic", "superb", "sturdy"),
        *("reliable", "solid", "clever", "brilliant", "first-rate", "beautifully made"),
        *("flawless", "well-designed", "impressive", "outstanding", "delightful", "faultless"),
    ],
    "bad": [
        *("bad", "poor", "terrible", "useless", "awful", "horrible", "dreadful", "flimsy"),
        *("unreliable", "shoddy", "disappointing", "pathetic", "second-rate", "badly made"),
        *("defective", "ill-designed", "worthless", "miserable", "laughable", "faulty"),
    ],
    "readily": ["without a second thought", "straight away", "at once", "the same day"],
    "works_well": [
        *("works as it should", "feels as if it would last for ever", "does its job every time"),
        *("has held up without a scratch", "is a joy to use", "fits to the millimetre"),
    ],
    "works_badly": [
        *("stopped working after {time}", "came off in my hand", "fails every other time"),
        *("was cracked when I opened the box", "is a pain to use", "does not fit at all"),
    ],
}

PRODUCTS: Sequence[Symbols] = [
    {
        "product": ["kettle"],
        "part": ["lid", "handle", "base", "spout", "switch"],
        "material": ["steel", "dark glass", "plain plastic"],
        "use": ["making tea before work", "the office kitchen", "a holiday flat"],
        "place": ["beside the toaster", "on the worktop", "in the office kitchen"],
        "does_well": [
            *("boils a litre in under two minutes", "pours without a drip", "hardly makes a sound"),
            *("switches itself off every time", "keeps the water hot for an hour"),
        ],
        "does_badly": [
            *("takes ten minutes to boil a litre", "drips at every pour", "roars like a train"),
            *("never switches itself off", "makes the water taste of plastic"),
        ],
    },
    {
        "product": ["pair of headphones"],
        "part": ["headband", "cable", "left side", "microphone", "carrying case"],
        "material": ["soft leather", "matt plastic", "woven cloth"],
        "use": ["the train to work", "long calls", "practising the piano at night"],
        "place": ["on a hook by my desk", "in my coat pocket", "next to the radio"],
        "does_well": [
            *("brings out every instrument", "shuts out the noise of the train"),
            *("stays comfortable for hours", "connects to my phone in a second"),
        ],
        "does_badly": [
            *("hisses at every volume", "lets in all the noise of the train"),
            *("hurts my ears within the hour", "loses my phone every few minutes"),
        ],
    },
    {
        "product": ["backpack"],
        "part": ["zip", "front pocket", "left strap", "lining", "rain cover"],
        "material": ["waxed cotton", "nylon", "recycled bottles"],
        "use": ["the walk to school", "weekend trips", "carrying a laptop to work"],
        "place": ["behind the front door", "under my desk", "in the boot of the car"],
        "does_well": [
            *("kept everything dry in a storm", "sits lightly on the shoulders"),
            *("holds twice what I expected", "came back from the mountains like new"),
        ],
        "does_badly": [
            *("let the rain in at every seam", "cuts into the shoulders"),
            *("holds half of what was promised", "came back from the mountains in pieces"),
        ],
    },
    {
        "product": ["desk lamp"],
        "part": ["arm", "shade", "dimmer", "foot", "plug"],
        "material": ["brass", "aluminium", "painted wood"],
        "use": ["reading in the evening", "my study", "drawing and sewing"],
        "place": ["on the bedside table", "by the window", "over the sewing machine"],
        "does_well": [
            *("lights the whole desk without glare", "stays where I put it"),
            *("gives a warm and steady light", "makes late work easy on the eyes"),
        ],
        "does_badly": [
            *("flickers all evening", "sinks down as soon as I let go"),
            *("gives me a headache", "gets so hot that it smells"),
        ],
    },
    {
        "product": ["frying pan"],
        "part": ["handle", "coating", "rim", "glass lid", "bottom"],
        "material": ["cast iron", "aluminium", "steel"],
        "use": ["Sunday pancakes", "cooking for two", "frying fish"],
        "place": ["on the hook above the stove", "in the oven drawer", "on the back burner"],
        "does_well": [
            *("lets go of an egg without any oil", "heats evenly to the edge"),
            *("wipes clean in seconds", "browns onions like a chef's"),
        ],
        "does_badly": [
            *("sticks whatever I cook", "burns in the middle and stays raw at the edge"),
            *("sheds black flakes into the food", "bent on the first evening"),
        ],
    },
    {
        "product": ["umbrella"],
        "part": ["handle", "catch", "canopy", "sleeve", "tip"],
        "material": ["bamboo", "fibreglass", "polyester"],
        "use": ["walking the dog", "the way to the bus", "a wet week in Scotland"],
        "place": ["in the hall", "in the glove box", "at the bottom of my bag"],
        "does_well": [
            *("stood up to a gale on the pier", "opens at a touch", "keeps two people dry"),
            *("dries in no time", "folds down smaller than my hand"),
        ],
        "does_badly": [
            *("turned inside out in a breeze", "jams half open", "leaks along the seams"),
            *("rusted within the week", "pinches my fingers when it closes"),
        ],
    },
    {
        "product": ["keyboard"],
        "part": ["space bar", "wrist rest", "cable", "stand", "number pad"],
        "material": ["aluminium", "recycled plastic", "rubber"],
        "use": ["writing my thesis", "working from home", "the family computer"],
        "place": ["in the study", "on the kitchen table", "in front of the big screen"],
        "does_well": [
            *("makes typing a pleasure", "is quiet enough for a shared room"),
            *("survived a cup of coffee", "never misses a letter"),
        ],
        "does_badly": [
            *("drops every tenth letter", "clatters so loudly that people stare"),
            *("died after one drop of coffee", "types two letters where I want one"),
        ],
    },
    {
        "product": ["tent"],
        "part": ["groundsheet", "inner door", "porch", "pole set", "bag"],
        "material": ["canvas", "ripstop nylon", "polyester"],
        "use": ["a week by the lake", "festivals", "cycling along the coast"],
        "place": ["in the cellar", "in the roof box", "on top of the wardrobe"],
        "does_well": [
            *("goes up in five minutes", "stayed dry through a night of rain"),
            *("stood firm in the wind", "leaves room for two and their bags"),
        ],
        "does_badly": [
            *("takes an hour to put up", "was a pool by the morning"),
            *("fell down in the first wind", "leaves no room to turn over"),
        ],
    },
    {
        "product": ["vacuum cleaner"],
        "part": ["hose", "brush", "filter", "dust box", "battery"],
        "material": ["clear plastic", "grey plastic", "aluminium"],
        "use": ["a flat with two cats", "the stairs", "cleaning the car"],
        "place": ["under the stairs", "in the cupboard", "in the garage"],
        "does_well": [
            *("lifts cat hair out of any carpet", "glides from room to room"),
            *("cleans the whole flat on one charge", "is so quiet that the cats stay asleep"),
        ],
        "does_badly": [
            *("pushes the cat hair around", "tips over at every corner"),
            *("gives up after one room", "blows out more dust than it takes in"),
        ],
    },
    {
        "product": ["coffee grinder"],
        "part": ["crank", "jar", "lid", "burr set", "dial"],
        "material": ["beech", "ceramic", "steel"],
        "use": ["the first espresso of the day", "camping", "our little office"],
        "place": ["next to the espresso machine", "on the shelf", "in the camping box"],
        "does_well": [
            *("grinds as fine as flour", "keeps its setting for weeks"),
            *("has made my coffee taste twice as rich", "needs half a minute a cup"),
        ],
        "does_badly": [
            *("leaves lumps as large as peas", "slips to another setting by itself"),
            *("has made my coffee taste of metal", "throws grounds all over the shelf"),
        ],
    },
]


_SYMBOL = re.compile(r"\{(\w+)\}")
_ARTICLE = re.compile(r"\b([Aa]) (?=[aeio]|u[mn](?!i))")


class DemoCorpus(NamedTuple):
    """The files of the corpus: reviews with ``text`` and ``label`` (``pos`` or ``neg``).

    Attributes
    ----------
    train, test : Path
    """

    train: Path
    test: Path


def write_demo(
    folder: str | os.PathLike[str],
    *,
    train: int = 800,
    test: int = 200,
    seed: int = 0,
    format: str = "jsonl",
) -> DemoCorpus:
    """Write ``train.jsonl`` and ``test.jsonl``, in which no review occurs twice.

    Parameters
    ----------
    folder : str or path
        Created if it is missing.
    train, test : int, default 800 and 200
        Numbers of reviews, half of them positive.
    seed : int, default 0
        The same seed gives the same files.
    format : {"jsonl", "csv"}, default "jsonl"
        Of the files, and how their names end.

    Returns
    -------
    DemoCorpus

    Raises
    ------
    UsageError
        If the folder cannot be created, or has other files of these names, or the format is none
        of these two.
    """
    if format not in _WRITERS:
        raise UsageError(f"format must be one of {', '.join(_WRITERS)}, not {format!r}.")
    corpus = DemoCorpus(Path(folder, f"train.{format}"), Path(folder, f"test.{format}"))
    try:
        corpus.train.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(
            f"{folder}: the folder cannot be created: {error.strerror}. Choose another place."
        ) from None
    reviews = make_reviews(train + test, seed=seed)
    contents = [_WRITERS[format](part).encode() for part in (reviews[:train], reviews[train:])]
    for path, content in zip(corpus, contents, strict=True):
        if path.exists() and not (path.is_file() and path.read_bytes() == content):
            raise UsageError(
                f"{path} exists already, with other contents: name another folder, or remove the "
                "file first."
            )
    for path, content in zip(corpus, contents, strict=True):
        write_atomically(path, content)
    return corpus


def _json_lines(reviews: list[tuple[str, str]]) -> str:
    return "".join(json.dumps({"label": label, "text": text}) + "\n" for label, text in reviews)


def _table(reviews: list[tuple[str, str]]) -> str:
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows([("label", "text"), *reviews])
    return file.getvalue()


_WRITERS = {"jsonl": _json_lines, "csv": _table}


def make_reviews(count: int, *, seed: int = 0) -> list[tuple[str, str]]:
    """``count`` distinct (label, review) pairs, alternately positive and negative."""
    rng = random.Random(seed)
    reviews: dict[str, str] = {}
    while len(reviews) < count:
        label = ("pos", "neg")[len(reviews) % 2]
        reviews.setdefault(_review(label, rng), label)
    return [(label, text) for text, label in reviews.items()]


def _review(label: str, rng: random.Random) -> str:
    """One review: opening, asides, and the verdict among them, mostly near the end."""
    symbols = {**GRAMMAR, **rng.choice(PRODUCTS)}
    plain, negated, concession = {
        "pos": ("praise", "negated_complaint", "small_complaint"),
        "neg": ("complaint", "negated_praise", "small_praise"),
    }[label]
    kind = negated if rng.random() < 0.3 else plain
    verdicts = [[verdict] for verdict in rng.sample(symbols[kind], rng.choice((1, 1, 2)))]
    if rng.random() < 0.25:
        verdicts[0] = [rng.choice(symbols[concession]), "{but} " + _uncapitalized(verdicts[0][0])]
    most = 6 - sum(map(len, verdicts))
    body = [[aside] for aside in rng.sample(symbols["aside"], rng.randint(1, most))]
    for verdict in verdicts:
        body.insert(max(rng.randint(0, len(body)), rng.randint(0, len(body))), verdict)
    sentences = [rng.choice(symbols["opening"]), *(line for part in body for line in part)]
    return " ".join(_expanded(sentence, symbols, rng) for sentence in sentences)


def _expanded(sentence: str, symbols: Symbols, rng: random.Random) -> str:
    """``sentence`` with every symbol replaced by one of its alternatives."""
    while _SYMBOL.search(sentence):
        sentence = _SYMBOL.sub(lambda match: rng.choice(symbols[match[1]]), sentence)
    sentence = _ARTICLE.sub(r"\1n ", sentence)
    return sentence[0].upper() + sentence[1:]


def _uncapitalized(sentence: str) -> str:
    """``sentence`` to follow a word, without its capital; except for the pronoun I."""
    return sentence if sentence.startswith("I ") else sentence[0].lower() + sentence[1:]
