//! The method in words: definitions, statistics, limits.

use super::PageContent;
use crate::audit::report::html::Html;

const DEFINITIONS: &str = "<section id=\"method\">\n<h2>Method</h2>\n\
<h3>Definitions</h3>\n\
<p>A link is a URL, with its spellings that lead to the same page counted once. Its state is that of its newest check.</p>\n\
<dl class=\"facts\">\n\
<dt>alive</dt><dd>The server answers with a 2xx status, also after redirects within the domain.</dd>\n\
<dt>redirected</dt><dd>A 2xx status on another registrable domain, or on the front page of the own one where another page was \
asked for.</dd>\n\
<dt>dead page</dt><dd>The server answers with 404, 410 or any other 4xx status but 401, 403, 407, 408, 425, 429 and 451.</dd>\n\
<dt>dead host</dt><dd>There is no such host, or it refuses the connection, cannot be reached or does not answer after \
retries.</dd>\n\
<dt>unknown</dt><dd>The other 4xx statuses, 5xx, a connection that was reset, TLS errors, too many redirects, any other status, or \
no check yet.</dd>\n\
<dt>dead</dt><dd>Dead page or dead host.</dd>\n\
<dt>archived</dt><dd>An archive holds a capture with a 2xx status. The capture is the one nearest to the first citation.</dd>\n\
<dt>lost</dt><dd>Dead, and the archive that was asked holds no such capture.</dd>\n\
<dt>year</dt><dd>The UTC year of the first citation with a plausible date: from 1991 to the day of loading for http and https. Links \
that are cited only with other dates are <i>implausible</i>, and those without any date <i>undated</i>.</dd>\n\
<dt>half-life</dt><dd>The age at which half of the links are dead, counted from the first citation.</dd>\n\
</dl>\n";

const STATISTICS: &str = "<h3>Statistics</h3>\n\
<p>Intervals are Wilson score intervals of 95\u{a0}%. Unknown links are left out of the denominators, which assumes that they are like the \
others; their numbers are in the tables. With a stratified sample shares are weighted, and the interval is that of Kish's effective \
number of links, the square of the sum of the weights divided by the sum of their squares. Without a sample all links that may \
be checked were planned; then an interval says how far chance alone could move a share of so few links.</p>\n\
<p>Survival is Turnbull's non-parametric maximum likelihood estimate from interval-censored lifetimes, in months of a twelfth of \
365.25 days. A link that was dead and living afterwards counts as living at that time. With one check of each link the estimate is the \
isotonic regression of the shares by age. Between the ages at which it is determined the curve is a straight line. The half-life is given \
as the interval in which the estimate falls to one half; it has no confidence interval. Points are the observed shares by age at \
the newest check.</p>\n";

const LIMITS: &str = "<h3>Limits of the method</h3>\n<ul>\n\
<li>A server may answer 200 for a page that is gone (a soft 404), and a domain may be parked: its new owner answers every request. Such \
links count as alive or redirected. The share of dead links is therefore a lower bound of what readers have lost.</li>\n\
<li>A page that is alive may say something else than when it was cited. Content is not compared.</li>\n\
<li>Servers refuse checkers that they take for robots, by 403, 429 or 5xx; such links are unknown.</li>\n\
<li>The links were checked from one place in the network, and a host may have failed on that day only. Checks on other days \
correct this.</li>\n\
<li>The age is that of the citation. The page is older, and pages that died before anybody cited them are not seen.</li>\n\
<li>Links are those of the messages in the database, not of the Web. Links that appear only in header fields, that ask for an action, \
that name a user or a private host, or that could not be read with confidence are left out; the table below counts them.</li>\n\
<li>Links to other protocols than http and https are not checked.</li>\n\
<li>Lost means that one archive holds no capture with a 2xx status at this very address. Another archive may hold one, or the page \
may have moved. A capture may itself show an error page, and an archive may hide captures at the request of site owners.</li>\n\
</ul>\n";

pub(super) fn section(html: &mut Html, content: &PageContent) {
    html.raw(DEFINITIONS).raw(STATISTICS).raw(LIMITS);
    if content.figures.sources.servers.is_empty() {
        html.raw("<p>No archive was asked.</p>\n");
    }
    html.raw("</section>\n");
}
