"""Sites of a Web with known truth: what the sets of pages `audit_pages_third.py` and later ones have in common.

A set is a module with `KINDS`, a list of classes of `Site`, `LANGUAGES`, and `host_name(rng, language, number)`. A class is a kind of
site: its `truth` is the state of its links, `links` the number of them at full size. A site has an owner, a subject, a language and a
year in which it turned into what it is now. Answers are status, header fields and body. They depend on the seed, the host, the path and,
where a real server would do so, on the number of the request.
"""

import copy
import itertools
import random
import re


class Language:
    """Words and frames of sentences, from which texts are made that look like those of the language to a program."""

    # The years that texts are about.
    years = (1961, 2004)

    def __init__(self, code, tags, syllables, sentences, verbs, adjectives, subjects, joiner=" "):
        self.code, self.tags, self.joiner = code, tags.split(), joiner
        self.syllables, self.sentences = syllables.split(), sentences.strip().split("\n")
        self.words = {"V": verbs.split(), "A": adjectives.split()}
        self.subjects = {name: nouns.split() for name, nouns in subjects.items()}

    def voice(self, number):
        """The language of the old owner of a site, 0, or of the new one, 1: two people do not share their ways of speaking."""
        half = copy.copy(self)
        half.sentences = self.sentences[number::2]
        half.words = {kind: words[number::2] for kind, words in self.words.items()}
        half.years = (2008, 2026) if number else self.years
        return half

    def coin(self, rng):
        """A name that no list has."""
        return "".join(rng.choice(self.syllables) for _ in range(rng.randint(2, 3))).capitalize()

    def sentence(self, rng, subject, names):
        """A sentence on a subject, or with nouns of a list."""
        nouns = subject if isinstance(subject, list) else self.subjects[subject]

        def word(match):
            kind = match[1]
            if kind == "N":
                return rng.choice(nouns)
            if kind == "P":
                return rng.choice(names)
            if kind == "Y":
                return str(rng.randint(*self.years))
            if kind == "K":
                return str(rng.choice([rng.randint(2, 12), rng.randint(13, 950)]))
            return rng.choice(self.words[kind])
        text = re.sub(r"\{(\w)\}", word, rng.choice(self.sentences).strip())
        return text[0].upper() + text[1:]

    def paragraph(self, rng, subject, names, low=3, high=7):
        return self.joiner.join(self.sentence(rng, subject, names) for _ in range(rng.randint(low, high)))

    def title(self, rng, subject, names):
        nouns = rng.sample(self.subjects[subject], 2)
        end = self.joiner.join([rng.choice(self.words["A"]), nouns[1]])
        return rng.choice([f"{rng.choice(names)}: {end}", f"{nouns[0].capitalize()} – {end}", f"{rng.choice(names)} {rng.randint(*self.years)}"])


class Site:
    """A host. Subclasses are kinds: they say what `now` and `missing` answer, and what was there `then`."""

    truth, links = "as_cited", 8
    # Share of the links that still have their page where the kind is about missing ones.
    alive_share = 0.0
    # Share of the sites that had another layout in the days of the citation.
    redesigned_share = 0.4
    # Share of the sites that an archive captured after the change too.
    captured_after = 0.7
    # The languages that this kind is written in, and what its paths look like.
    languages, paths = None, ("/{w}/{w}.html", "/{w}{k}.html", "/{w}/", "/{y}/{w}-{w}.html", "/{w}/index.php?id={k}", "/~{w}/{w}.htm")
    # The greatest number of links in a site.
    most_links = 4

    def __init__(self, pages, seed, host, language):
        self.pages, self.seed, self.host, self.language = pages, seed, host, language
        self.web_kind = f"{pages.__name__.removeprefix('audit_pages_')}: {kind_name(type(self))}"
        rng = self.rng("site")
        self.subject = rng.choice(list(language.subjects))
        self.names = [language.coin(rng) for _ in range(14)]
        self.name = f"{language.coin(rng)} {rng.choice(language.subjects[self.subject]).capitalize()}"
        self.turned = rng.randint(2013, 2018)
        self.theme = rng.choice(pages.THEMES)
        self.old_theme = rng.choice(pages.THEMES) if rng.random() < self.redesigned_share else self.theme
        self.is_captured_after = rng.random() < self.captured_after
        self.truths, self.alive, self.requests = {}, set(), itertools.count()

    def rng(self, *key):
        """What is drawn for this site and key, always the same."""
        return random.Random("/".join(map(str, (self.seed, self.host, *key))))

    def add_link(self, rng):
        """Adds a link, unless its path is there already."""
        path = re.sub(r"\{w\}", lambda _: self.slug(rng), rng.choice(self.paths))
        path = path.replace("{k}", str(rng.randint(11, 98000))).replace("{y}", f"{rng.randint(1998, 2004)}/{rng.randint(1, 12):02}")
        if path in self.truths:
            return
        is_alive = rng.random() < self.alive_share
        self.truths[path] = "as_cited" if is_alive else self.truth
        if is_alive:
            self.alive.add(path)

    def slug(self, rng):
        """A word of a path. Those of an alphabet that paths do not have are coined."""
        word = rng.choice(self.language.subjects[self.subject])
        return word.lower() if re.fullmatch("[A-Za-z]+", word) else "".join(rng.choice("ka mo ri te su no ly ve do ser pa".split()) for _ in range(3))

    def answer(self, path):
        """What the server answers today."""
        request = self.rng("request", next(self.requests))
        if path == "/robots.txt":
            return self.robots(request)
        if path in self.alive:
            return self.article(path, request)
        if path in self.truths:
            return self.now(path, request)
        if path == "/":
            return self.front(request)
        return self.missing(path, request)

    def captures(self, path):
        """The captures of a page: 14 digits each. All have status 200."""
        rng = self.rng("captures", path)
        years = set(rng.sample(range(1997, 2013), rng.randint(1, 5)))
        if self.truths[path] != "taken_over" and rng.random() < 0.1:
            years = set()
        if self.is_captured_after and self.answer(path)[0] == 200:
            years |= set(rng.sample(range(2019, 2026), rng.randint(1, 3)))
        return [f"{year}{rng.randint(1, 12):02}15120000" for year in sorted(years)]

    def snapshot(self, path, year):
        """The page that the archive holds of a year."""
        return self.answer(path) if self.turned < year else self.then(path, year)

    # What kinds change.

    def now(self, path, request):
        return self.article(path, request)

    def missing(self, path, request):
        """What a path answers that no link has: as a rule, status 404."""
        return self.pages.hard_404(self, path, request)

    def front(self, request):
        return self.pages.front(self, request)

    def robots(self, request):
        if self.rng("robots").random() < 0.5:
            return 200, {"Content-Type": "text/plain"}, b"User-agent: *\nDisallow: /cgi-bin/\nDisallow: /admin/\n"
        return self.missing("/robots.txt", request)

    def then(self, path, year):
        return self.article(path, self.rng("then", year), self.old_theme)

    def article(self, path, request, theme=None):
        """The page that the link was cited for."""
        title, body = self.text(path)
        return self.pages.framed(self, title, body, request, theme or self.theme)

    def text(self, path):
        """Title and text of an article."""
        rng = self.rng("text", path)
        title = self.language.title(rng, self.subject, self.names)
        names = rng.sample(self.names, 6) + [self.language.coin(rng) for _ in range(8)]
        paragraphs = [self.language.paragraph(rng, self.subject, names) for _ in range(rng.randint(2, 9))]
        return title, "\n".join(f"<p>{paragraph}</p>" for paragraph in paragraphs)


def kind_name(kind):
    """The name of a kind, from that of its class."""
    return re.sub("(?<=.)([A-Z])", r" \1", kind.__name__).lower()


def sites(pages, seed, scale):
    """The sites of a set."""
    rng, number = random.Random(f"{seed}/{pages.__name__}"), 0
    for kind in pages.KINDS:
        left = max(1, round(kind.links * scale)) if kind.links else 0
        while left:
            language = pages.LANGUAGES[rng.choice(kind.languages or list(pages.LANGUAGES))]
            site = kind(pages, seed, pages.host_name(rng, language, number), language)
            number += 1
            for _ in range(min(left, rng.randint(1, kind.most_links))):
                site.add_link(rng)
            left -= min(left, len(site.truths))
            yield site
    for host, kind in pages.SERVICES.items():
        yield kind(pages, seed, host, next(iter(pages.LANGUAGES.values())))
