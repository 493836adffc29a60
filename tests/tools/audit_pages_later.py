"""Pages of a Web with known truth that were written after what judges pages, and for which it was not changed.

They are what it is expected to do badly at, so that its limits have figures: their states stand in a table of their own, and no floor
holds for them.
"""

from audit_pages import MENU
from audit_pages_first import NAMES, Site, not_found, page, sentences


def soft_by_record(site, path):
    """A program answers with its own frame that a record is gone; the server says 404 for other paths."""
    if site.is_control(path):
        return not_found(site, path)
    return page(site.frame(site.title(path), "<p>This entry was withdrawn by its author on request of the editors.</p>")
                if path in site.dead else site.article(path))


def soft_moved_to_frame(site, path):
    """All pages that are gone show the menu and a picture, with status 200 and the title of the page that was asked for."""
    if site.is_living(path):
        return page(site.article(path))
    links = " ".join(f'<a href="/{word.lower()}/">{word}</a>' for word in MENU)
    return page(f"<html><head><title>{path.rsplit('/', 1)[-1]}</title></head><body>{links}<img src=/under-construction.gif></body></html>")


def parked_without_words(site, path):
    """Advertisements of a service that no list has, without an offer of the domain, and different each time."""
    links = "".join(f"<li><a href='/click?{number}'>{line}</a></li>" for number, line in
                    enumerate(sentences(site.rng(path), site.topic, 6).split(". ")))
    return page(f"<html><head><title>{site.host}</title><script src=/ads.js></script></head><body><h1>{site.host}</h1><ul>{links}</ul>"
                "<p>Sponsored listings</p></body></html>")


def parked_by_registrar(site, path):
    """The page of a registrar for a name that somebody has registered."""
    return page(f"<html><head><title>Welcome to {site.host}</title></head><body><p>This domain has been registered with {site.rng('r').choice(NAMES)} "
                "Internet. A website will be here soon. Are you the owner? Log in to publish your pages.</p></body></html>")


def taken_over_same_subject(site, path):
    """A shop on the subject of the former owner, in its words."""
    if site.is_control(path):
        return not_found(site, path)
    shop = Site(site.seed, site.host, "shop")
    shop.topic = site.topic
    return page(f"<html lang=en><head><title>Shop online: {shop.title(path)}</title></head><body><nav>Cart Sale Returns Delivery</nav>"
                f"{shop.paragraphs(path, 4)}<p>Free delivery from 50 EUR. Add to cart.</p></body></html>")


def living_translated(site, path):
    """The page of the same owner in another language, without the old names."""
    if site.is_control(path):
        return not_found(site, path)
    words = ("Der Verein zeigt seit langem eine Ausstellung und bittet alle Besucher um Anmeldung beim Vorstand. Die Sammlung wurde zuletzt "
             "erweitert, und der Katalog liegt in der Bibliothek aus. Mitglieder erhalten Rundbriefe und kostenlosen Eintritt. ")
    return page(f"<html lang=de><head><title>Willkommen beim Verein</title></head><body><p>{words * 2}</p></body></html>")


KINDS = {
    "soft by record": ("soft_404", soft_by_record),
    "soft frame": ("soft_404", soft_moved_to_frame),
    "parked without words": ("parked", parked_without_words),
    "parked by registrar": ("parked", parked_by_registrar),
    "taken over, same subject": ("taken_over", taken_over_same_subject),
    "translated": ("changed", living_translated),
}
