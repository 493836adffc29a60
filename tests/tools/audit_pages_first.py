"""Pages of a Web with known truth, first half: written before anything that judges pages existed.

The kinds were written from public knowledge of what such pages look like, and none of them from what a detector looks for:
- soft 404: "A Link Rot Bestiary", chapter 3 (en.wikibooks.org), which has the redirect of a section to its index and pages named
  404.html; the advice to directory owners in "How to super charge your link checker" (incredibill.blogspot.com, 2007).
- parked: T. Vissers, W. Joosen, N. Nikiforakis, "Parking Sensors", NDSS 2015 (advertisements by keyword, no content of their own); the
  fingerprints of Sedo in intrigueio/intrigue-ident (checks/http/sedo.rb); reports of the page of 114 bytes of GoDaddy.
- living: what checkers are known to take for dead: pages about the subject itself, applications that answer every path with one
  frame, logins, lists of files, pages of few words.

The second half, `audit_pages.py`, was written together with the detector. A kind is a function of a site and a path, which gives an
answer: status, header fields, body.
"""

import html
import random

NAMES = ("Arden Bexley Corvo Dunmore Elstow Farrow Gantry Halden Ibsley Jarrow Kelso Lorne Marlow Norden Osmond Penrith Quenby Rosedale "
         "Selwyn Tarrant Ulster Varley Wexcombe Yarrow Zennor").split()
# Topics with the words of their texts: things, what is done with them, places, properties.
TOPICS = {
    "lamps": ("lamp wick burner lantern chimney globe mantle reservoir paraffin flame".split(),
              "trimmed filled lit repaired cleaned collected polished".split(), "lighthouse workshop museum station cellar".split(),
              "brass copper early broken tall portable glass".split()),
    "networks": ("router packet gateway modem protocol header socket buffer checksum server".split(),
                 "forwarded dropped measured configured encrypted translated logged".split(), "backbone laboratory campus exchange rack".split(),
                 "slow redundant experimental congested local secure remote".split()),
    "gardens": ("rose hedge orchard seed bulb trellis pond fern compost tulip".split(),
                "planted pruned watered grafted harvested sown sheltered".split(), "greenhouse valley terrace allotment abbey".split(),
                "wild hardy red shaded fragrant ancient late".split()),
    "trains": ("locomotive carriage signal tunnel boiler viaduct sleeper timetable platform wagon".split(),
               "scrapped restored photographed steamed shunted built withdrawn".split(), "junction depot branch harbour summit".split(),
               "narrow green electric disused famous heavy western".split()),
    "music": ("viola sonata organ choir reed tuning score quartet fugue pedal".split(),
              "performed recorded composed rehearsed transcribed sung tuned".split(), "cathedral festival studio conservatory parish".split(),
              "baroque quiet modal lost major brilliant solemn".split()),
    "stars": ("telescope nebula comet mirror eclipse spectrum orbit meteor planet catalogue".split(),
              "observed predicted photographed catalogued resolved tracked sighted".split(), "observatory desert ridge dome island".split(),
              "faint variable double bright distant periodic red".split()),
}


class Site:
    """A host with an owner and a topic. `owner` tells one owner of a name from the next."""

    def __init__(self, seed, host, owner="first"):
        rng = random.Random(f"{seed}/{host}/{owner}")
        self.seed, self.host, self.owner = seed, host, owner
        # Paths of links: those whose page is there, and those whose page is not.
        self.living, self.dead = set(), set()
        self.name = f"{rng.choice(NAMES)} {rng.choice(NAMES)}"
        self.topic = rng.choice(sorted(TOPICS))
        self.kind = rng.choice(["Society", "Archive", "Review", "Department", "Club", "Project"])

    def is_living(self, path):
        return path in self.living

    def is_control(self, path):
        """True for a path that no link has, and that has no page."""
        return path not in self.living | self.dead

    def rng(self, *parts):
        return random.Random("/".join([str(self.seed), self.host, self.owner, *map(str, parts)]))

    def title(self, path):
        rng = self.rng("title", path)
        things, _, places, properties = TOPICS[self.topic]
        return f"The {rng.choice(properties)} {rng.choice(things)} of the {rng.choice(places)}"

    def paragraphs(self, path, count=4, version=0):
        rng = self.rng("text", path, version)
        return "\n".join(f"<p>{sentences(rng, self.topic, rng.randint(3, 6))}</p>" for _ in range(count))

    def frame(self, title, body, head=""):
        links = " | ".join(f'<a href="/{word}/">{word.title()}</a>' for word in ("news", "members", "archive", "contact"))
        return (f"<!DOCTYPE html>\n<html lang=en><head><meta charset=utf-8><title>{html.escape(title)} - {self.name} {self.kind}</title>{head}"
                f"</head>\n<body><div id=top>{self.name} {self.kind}<br>{links}</div>\n<h1>{html.escape(title)}</h1>\n{body}\n"
                f"<hr><p>Copyright {self.name} {self.kind}. Mail: webmaster@{self.host}</p></body></html>")

    def article(self, path, version=0):
        """The page that the link was cited for."""
        return self.frame(self.title(path), self.paragraphs(path, version=version))


def sentences(rng, topic, count):
    things, verbs, places, properties = TOPICS[topic]
    forms = [
        lambda: f"The {rng.choice(properties)} {rng.choice(things)} was {rng.choice(verbs)} at the {rng.choice(places)} in {rng.randint(1850, 2005)}.",
        lambda: f"{rng.choice(NAMES)} says that no {rng.choice(things)} of the {rng.choice(places)} was {rng.choice(verbs)} before the {rng.choice(things)}.",
        lambda: f"Each {rng.choice(things)} is {rng.choice(verbs)} twice, and then the {rng.choice(properties)} {rng.choice(things)} is {rng.choice(verbs)}.",
        lambda: f"See {rng.choice(NAMES)} ({rng.randint(1960, 2005)}) for the {rng.choice(things)}, which {rng.choice(NAMES)} had {rng.choice(verbs)}.",
        lambda: f"Why {rng.choice(properties)} {rng.choice(things)}s were {rng.choice(verbs)} near {rng.choice(NAMES)} nobody knows.",
    ]
    return " ".join(rng.choice(forms)() for _ in range(count))


def page(body, status=200, **fields):
    return status, {"Content-Type": "text/html; charset=utf-8", **fields}, body.encode()


def moved(place, status=302):
    return status, {"Location": place}, b""


# Living pages.

def article(site, path):
    return page(site.article(path)) if not site.is_control(path) else not_found(site, path)


def not_found(site, path):
    return page("<html><head><title>404 Not Found</title></head><body><h1>Not Found</h1>"
                f"<p>The requested URL {html.escape(path)} was not found on this server.</p></body></html>", 404)


def plain_text(site, path):
    if site.is_control(path):
        return not_found(site, path)
    text = site.paragraphs(path, 6).replace("<p>", "").replace("</p>", "\n")
    return 200, {"Content-Type": "text/plain"}, f"{site.title(path).upper()}\n\n{text}".encode()


def file_list(site, path):
    if site.is_control(path):
        return not_found(site, path)
    rng, things = site.rng("files", path), TOPICS[site.topic][0]
    rows = "\n".join(f'<a href="{word}.tar.gz">{word}.tar.gz</a>  {rng.randint(1, 28):02}-Mar-{rng.randint(1994, 2004)} '
                     f"{rng.randint(1, 900)}K" for word in things)
    title = f"Index of {html.escape(path)}"
    return page(f"<html><head><title>{title}</title></head><body><h1>{title}</h1><pre>{rows}</pre></body></html>")


def about_parking(site, path):
    """An article on the trade in domains, with its words and the names of its firms."""
    if site.is_control(path):
        return not_found(site, path)
    text = ("<p>Thousands of names lapse each day, and many are parked: every address then shows advertisements and a line such as "
            "<i>this domain may be for sale</i>. We asked owners how they sell names through Sedo, Afternic and HugeDomains, and why "
            "some wait for ten years. One said: buy this domain, the mail began, and a price followed.</p>"
            "<p>A page that is not found, with the status 200, is as hard to tell from a real one.</p>")
    return page(site.frame(f"How parked domains are sold: {site.title(path).lower()}", text + site.paragraphs(path, 5)))


def area_code(site, path):
    """A page whose subject is a number, 404, and what was not found."""
    if site.is_control(path):
        return not_found(site, path)
    text = ("<p>The area code 404 belongs to Atlanta. The page 404 of the register was not found in the archive, and the error of "
            "the copyist is known since 1911.</p>")
    return page(site.frame(f"404 and the {TOPICS[site.topic][0][3]} page not found in the register", text + site.paragraphs(path, 4)))


def application(site, path):
    """An application that a script draws: each path has the same frame, with status 200."""
    script = f"/static/js/main.{site.rng('js').randint(1, 9 ** 9):x}.js"
    return page(f"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>{site.name}</title><script defer src={script}></script>"
                "</head><body><noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div></body></html>")


def login(site, path):
    """A site that asks everybody to log in, whatever the path."""
    if path.startswith("/accounts/login"):
        return page(f"<html><head><title>Sign in - {site.name}</title></head><body><h1>Sign in</h1><p>Please sign in to {site.name} "
                    f"{site.kind}. Your library card gives you access to all articles.</p><form method=post>User <input name=user> "
                    "Password <input type=password name=p><input type=submit value='Sign in'></form><p>Forgot your password? Register"
                    "</p></body></html>")
    return moved(f"/accounts/login?next={path}")


def short_page(site, path):
    if site.is_control(path):
        return not_found(site, path)
    title, year = site.title(path), site.rng("y", path).randint(1990, 2004)
    return page(f"<html><head><title>{title}</title></head><body><img src=pic.gif alt=''><p>{title}, {year}</p></body></html>")


# Soft 404, three kinds.

def soft_apology(site, path):
    """The frame of the site with an apology, the path that was asked for, and links that change with each request."""
    if site.is_living(path):
        return page(site.article(path))
    rng = random.Random()
    popular = "".join(f"<li><a href='/{rng.randint(1, 99999)}'>{sentences(rng, site.topic, 1)}</a></li>" for _ in range(5))
    return page(site.frame("Oops! We can't find that page", f"<p>Sorry, the page <b>{html.escape(path)}</b> you are looking for has "
                           "moved or no longer exists. Try our search, or one of these popular pages:</p><form><input name=q></form>"
                           f"<ul>{popular}</ul>"))


def soft_error_address(site, path):
    """A redirect to an error page with an address of its own, which is given the path."""
    if path.startswith("/errors/404.aspx"):
        return page(site.frame("Seite nicht gefunden", "<p>Die angeforderte Seite konnte leider nicht gefunden werden. Bitte "
                               "pr\u00fcfen Sie die Adresse oder gehen Sie zur Startseite.</p>"))
    if site.is_living(path):
        return page(site.article(path))
    return moved(f"/errors/404.aspx?aspxerrorpath={path}")


def soft_section(site, path):
    """After a new content management all old pages of a section lead to its index, and paths of no section to the front page."""
    if path == "/" or path.count("/") == 2 and path.endswith("/") and path != "/":
        rng = random.Random()
        stories = "".join(f"<h2>{site.title(rng.random())}</h2><p>{sentences(rng, site.topic, 2)}</p>" for _ in range(6))
        return page(site.frame(f"{path.strip('/').title() or 'Home'}: latest", stories))
    if site.is_living(path):
        return page(site.article(path))
    section = path.split("/")[1] if path.count("/") > 1 else ""
    return moved(f"/{section}/" if section else "/", 301)


# Parked, two kinds.

def parked_advertisements(site, path):
    """Advertisements by keyword on a page of a parking service. They differ with each request."""
    rng, topic = random.Random(), TOPICS[site.topic][0]
    first, last = ["Cheap", "Best", "Buy", "Find"], ["Online", "Deals", "Near You", "Offers"]
    related = "".join(f"<li><a href='//{site.host}/search?q={word}'>{rng.choice(first)} {word} {rng.choice(last)}</a></li>"
                      for word in rng.sample(topic, 7))
    return page(f"<!DOCTYPE html><html><head><title>{site.host}&nbsp;-&nbsp;{topic[0]} Resources and Information.</title>"
                "<meta name=description content='This website is for sale!'><script src='//img.sedoparking.com/templates/brick_gfx/common.js'></script></head>"
                f"<body><h1>{site.host}</h1><h2>Related searches</h2><ul>{related}</ul><p>This domain may be for sale by its owner!</p>"
                "<p>This webpage was generated by the domain owner using Sedo Domain Parking. Disclaimer: Sedo maintains no relationship "
                "with third party advertisers.</p><a href='#'>Privacy Policy</a></body></html>")


def parked_stub(site, path):
    """A page of 114 bytes, of a registrar, that leads a browser to advertisements."""
    if path.startswith("/lander"):
        return page("<!DOCTYPE html><html><head><meta charset=utf-8><title></title><script "
                    "src=https://img1.wsimg.com/parking-lander/static/js/main.js></script></head><body><div id=root></div></body></html>")
    return page('<!DOCTYPE html><html><head><script>window.onload=function(){window.location.href="/lander"}</script></head></html>')


# A new owner; and a page of the same owner that says something else.

def taken_over(site, path):
    """The name was bought for its links: the old path shows a page for games of chance, in the frame of the new owner."""
    if site.is_control(path):
        return not_found(site, path)
    rng = site.rng("spam", path)
    games = ["slots", "roulette", "blackjack", "poker", "sports betting"]
    praise = ["Trusted by players", "No deposit needed", "Licensed casino reviews", "Instant payouts"]
    ends = ["updated daily", "rated five stars", "safe and quick"]
    lines = "".join(f"<p>{rng.choice(['Play', 'Join', 'Discover', 'Win at'])} {rng.choice(games)} with a bonus of {rng.randint(10, 500)} "
                    f"free spins. {rng.choice(praise)} in {rng.choice(['Sweden', 'Canada', 'Indonesia', 'Ireland'])}, {rng.choice(ends)}."
                    "</p>" for _ in range(14))
    return page(f"<!DOCTYPE html><html lang=en><head><title>Best Online Casino Bonuses {rng.randint(2020, 2026)} | LuckyReel "
                f"{rng.choice(NAMES)}</title></head><body><nav>Slots Live Bonuses Reviews Blog</nav><h1>Best online casino bonuses</h1>"
                f"{lines}<footer>Gamble responsibly. 18+ LuckyReel</footer></body></html>")


def changed(site, path):
    """The page has its subject and its owner still; most of its text was written anew."""
    if site.is_control(path):
        return not_found(site, path)
    return page(site.article(path, version=1))


# By kind: the state that is true, and the function.
KINDS = {
    "article": ("as_cited", article),
    "plain text": ("as_cited", plain_text),
    "file list": ("as_cited", file_list),
    "about parking": ("as_cited", about_parking),
    "area code": ("as_cited", area_code),
    "application": ("living", application),
    "login": ("living", login),
    "short page": ("as_cited", short_page),
    "soft apology": ("soft_404", soft_apology),
    "soft error address": ("soft_404", soft_error_address),
    "soft section": ("soft_404", soft_section),
    "parked advertisements": ("parked", parked_advertisements),
    "parked stub": ("parked", parked_stub),
    "taken over": ("taken_over", taken_over),
    "changed": ("changed", changed),
}
