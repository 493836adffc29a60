"""Pages of a Web with known truth, second half: written together with what judges pages. `audit_pages_first.py` has the first half."""

import html
import random

from audit_pages_first import NAMES, Site, TOPICS, moved, not_found, page, sentences

MENU = ("Home News Calendar Members Committees Library Journal Archive Links Shop Gallery Sponsors Contact Imprint Sitemap Help Search "
        "Privacy Downloads Newsletter Jobs Press Partners Donate Forum").split()


def menu_frame(site, body):
    """A frame with one title for all pages, and a menu of many words."""
    links = " ".join(f'<a href="/{word.lower()}/">{word}</a>' for word in MENU)
    return (f"<html lang=en><head><title>{site.name} {site.kind} on the Web</title></head><body><table><tr><td>{links}</td><td>{body}</td></tr>"
            f"</table><p>Best viewed with 800 x 600 pixels. Mail {site.name} {site.kind}</p></body></html>")


# Living pages.

def redesigned(site, path):
    """The text of the citation in a new frame, with scripts, notices and a longer menu."""
    if site.is_control(path):
        return not_found(site, path)
    links = " ".join(f'<a href="/{word.lower()}/">{word}</a>' for word in MENU[:12])
    return page(f"<!DOCTYPE html><html lang=en><head><meta charset=utf-8><title>{site.title(path)} | {site.name}</title><script src=/app.js></script>"
                f"</head><body><div class=cookies>We use cookies. Accept Reject</div><nav>{links}</nav><main><h1>{site.title(path)}</h1>"
                f"{site.paragraphs(path)}</main><footer>{site.name} {site.kind} 2026. All rights reserved.</footer></body></html>")


def one_title(site, path):
    """All pages have one title and a large menu, and so has the page for paths without one, with status 200."""
    if path in site.living:
        return page(menu_frame(site, site.paragraphs(path, 3)))
    return page(menu_frame(site, "<p>We are sorry, there is no such page. Use the menu.</p>"))


def news_index(site, path):
    """A page of the same owner that shows other news each time."""
    if site.is_control(path):
        return not_found(site, path)
    rng = random.Random()
    stories = "".join(f"<h2>{site.title(rng.random())}</h2><p>{sentences(rng, site.topic, 3)}</p>" for _ in range(5))
    return page(site.frame("Latest news", stories))


def consent(site, path):
    """A page of another host that asks for consent, and is given the address to return to."""
    if path.startswith("/_consent"):
        return page("<html><head><title>Before you continue</title></head><body><p>We and our partners use cookies and data to measure "
                    "audience and show advertisements. Accept all, or reject all, to continue to the page.</p></body></html>")
    return moved(f"/_consent?continue=http://{site.host}{path}")


# Soft 404, three kinds.

def soft_line(site, path):
    """One line, and status 200."""
    if site.is_living(path):
        return page(site.article(path))
    return page(f"<html><body>Error: document {html.escape(path)} does not exist.</body></html>")


def soft_front(site, path):
    """The front page in the place of every page that is gone, without a redirect."""
    if site.is_living(path):
        return page(site.article(path))
    stories = "".join(f"<h2>{site.title(number)}</h2><p>{sentences(site.rng('front', number), site.topic, 2)}</p>" for number in range(6))
    return page(site.frame("Welcome", stories))


def soft_search(site, path):
    """The search page, with the words of the path and no results."""
    if path.startswith("/search"):
        return page(site.frame("Search", "<form><input name=q></form><p>No results. Did you mean something else? Suggestions: check the spelling, "
                               "use fewer words, or browse by topic.</p>"))
    if site.is_living(path):
        return page(site.article(path))
    return moved("/search?q=" + "+".join(word for word in path.replace("/", " ").replace(".html", "").split()))


# Parked, two kinds.

def parked_marketplace(site, path):
    """A redirect to the page of a marketplace."""
    return moved(f"http://www.hugedomains.com/domain_profile.cfm?d={site.host}")


def marketplace(site, path):
    """The page of the marketplace itself."""
    return page("<html><head><title>Domain profile</title></head><body><h1>This name is for sale</h1><p>Price on request. Take immediate ownership. "
                "Safe and secure shopping, quick delivery of the domain.</p></body></html>")


def parked_offer(site, path):
    """A page of the owner that offers the domain, on every path."""
    rng = site.rng("offer")
    title, text = rng.choice([
        (f"{site.host} is for sale", f"The domain {site.host} is for sale. Send your offer to the owner, {rng.choice(NAMES)}."),
        (f"{site.host} steht zum Verkauf", f"Die Domain {site.host} steht zum Verkauf. Angebote an den Inhaber."),
        (site.host, f"Interested in this domain? Make an offer for this domain today, escrow is possible. {rng.randint(500, 9000)} USD"),
        (f"{site.host}", "Ce nom de domaine est \u00e0 vendre. Contactez le propri\u00e9taire."),
    ])
    return page(f"<!DOCTYPE html><html><head><meta charset=utf-8><title>{title}</title></head><body><h1>{site.host}</h1><p>{text}</p></body></html>")


# A new owner, and the same owner under a new name.

def new_company(site, path):
    """A company that needed the name, with a page of its own at the old address."""
    if site.is_control(path):
        return not_found(site, path)
    rng = site.rng("company")
    brand = rng.choice(["Nimbly", "Quantik", "Fluxora", "Brightly", "Paywise", "Loopify"])
    lines = rng.sample([
        "Automate invoices and payroll in minutes.", "Trusted by finance teams everywhere.", "Book a demo with our consultants.",
        "Dashboards for revenue, churn and growth.", "Integrates with your accounting software.", "Enterprise pricing on request.",
        "Our customers save hours of spreadsheets.", "Compliance and audits without headaches.", "Subscribe to product updates.",
        "Funded by leading investors.", "Careers: we are hiring engineers.", "Download the white paper about expenses."], 10)
    return page(f"<!DOCTYPE html><html lang=en><head><title>{brand}: expense software for teams</title></head><body><nav>Product Pricing Customers "
                f"Login</nav><h1>{brand}</h1>{''.join(f'<p>{line}</p>' for line in lines)}<footer>{brand} Inc. Terms Security Status</footer></body></html>")


def renamed(site, path):
    """The same people under a new name: a new title and frame, and texts on the same subject."""
    if site.is_control(path):
        return not_found(site, path)
    other = Site(site.seed, site.host, "renamed")
    other.topic = site.topic
    return page(other.frame(f"About {TOPICS[site.topic][0][0]}s: {other.title(path)}", other.paragraphs(path, 5)))


def with_captures_after(kind):
    """True for a kind of a new owner whose pages were archived too."""
    return kind == "new company"


KINDS = {
    "redesigned": ("as_cited", redesigned),
    "one title": ("as_cited", one_title),
    "news index": ("changed", news_index),
    "consent": ("living", consent),
    "soft line": ("soft_404", soft_line),
    "soft front": ("soft_404", soft_front),
    "soft search": ("soft_404", soft_search),
    "parked marketplace": ("parked", parked_marketplace),
    "parked offer": ("parked", parked_offer),
    "new company": ("taken_over", new_company),
    "renamed": ("changed", renamed),
}
