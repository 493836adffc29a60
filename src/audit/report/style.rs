//! The style and the script of the page, and their hashes, which its content security policy names.

/// The style sheet.
pub(super) const STYLE: &str = r#"
:root{--ink:#1d2126;--soft:#565e68;--paper:#fff;--line:#d4d8dd;--band:#f3f5f7;--link:#0b57a4;--alive:#8cc5a2;--moved:#f0dca0;--moved-line:#8a6d00;--page:#c4561b;--host:#4a1530;--mark:#0b57a4}
@media (prefers-color-scheme:dark){:root{--ink:#e6e9ed;--soft:#a8b1bb;--paper:#14171b;--line:#3a4149;--band:#1e2329;--link:#8ab8f0;--alive:#3f7d58;--moved:#4d4322;--moved-line:#d8bd5c;--page:#e8894f;--host:#f6d7c4;--mark:#8ab8f0}}
*{box-sizing:border-box}
html{color-scheme:light dark}
body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
header,main,footer{max-width:62rem;margin:0 auto;padding:0 1rem}
h1{font-size:1.7rem;line-height:1.2;margin:1.5rem 0 .4rem}
h2{font-size:1.25rem;margin:2.6rem 0 .6rem;padding-top:.5rem;border-top:2px solid var(--line)}
h3{font-size:1.02rem;margin:1.7rem 0 .4rem}
p,ul,ol,dl{margin:.5rem 0;max-width:46rem}
li{margin:.15rem 0}
a{color:var(--link)}
bdi,.url{overflow-wrap:anywhere}
.whole{white-space:nowrap}
.soft,.none{color:var(--soft)}
nav ul{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.1rem}
.cards{display:grid;grid-template-columns:repeat(auto-fit,minmax(12.5rem,1fr));gap:.8rem;margin:1.2rem 0;padding:0;max-width:none}
.cards div{background:var(--band);border-left:4px solid var(--mark);padding:.7rem .9rem}
.cards dt{font-size:.88rem;color:var(--soft)}
.cards dd{margin:0}
.cards .figure{font-size:1.55rem;font-weight:600;line-height:1.25}
.facts{display:grid;grid-template-columns:minmax(8rem,max-content) 1fr;gap:.15rem 1.2rem}
.facts dt{color:var(--soft)}
.facts dd{margin:0;min-width:0;overflow-wrap:anywhere}
figure{margin:1.2rem 0}
figcaption{font-weight:600;margin-bottom:.5rem}
svg{display:block;width:100%;overflow:visible}
svg text{font:12px system-ui,sans-serif;fill:var(--ink)}
svg .tick{fill:var(--soft)}
svg .grid{stroke:var(--line);stroke-width:1}
svg .half{stroke:var(--soft);stroke-width:1;stroke-dasharray:2 4}
svg .whisker{stroke:var(--ink);stroke-width:1.5}
svg .dot{fill:var(--ink)}
svg .curve{fill:none;stroke:var(--mark);stroke-width:2.5}
svg .strict{fill:none;stroke:var(--page);stroke-width:2;stroke-dasharray:7 4}
.alive{fill:var(--alive)}.redirected{fill:url(#moved)}.dead-page{fill:var(--page)}.dead-host{fill:var(--host)}
.archived{fill:var(--alive)}.unanswered{fill:url(#moved)}.lost{fill:var(--host)}
.moved-ground{fill:var(--moved)}.moved-line{stroke:var(--moved-line);stroke-width:2}
.p1{fill:var(--host)}.p2{fill:var(--page)}.p3{fill:url(#moved)}.p4{fill:var(--alive)}
.defs{position:absolute;width:0;height:0}
.legend{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.2rem 1.2rem;font-size:.88rem}
.legend svg{display:inline-block;width:1.6em;height:.85em;margin-right:.4em;vertical-align:-.05em}
.scroll{overflow-x:auto;margin:1rem 0}
table{border-collapse:collapse;font-size:.88rem;min-width:100%}
caption{text-align:left;font-weight:600;padding:.3rem 0;font-size:.95rem}
th,td{padding:.22rem .6rem;text-align:left;vertical-align:top;border-bottom:1px solid var(--line);font-weight:400}
thead th{vertical-align:bottom;font-weight:600;border-bottom:2px solid var(--soft)}
tbody th bdi{display:inline-block;min-width:7rem;max-width:24rem}
.n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
thead th:first-child,tbody th,tfoot th{position:sticky;left:0;background:var(--paper)}
tfoot th,tfoot td{font-weight:600;border-top:2px solid var(--soft)}
thead button{font:inherit;color:inherit;background:none;border:0;padding:0;text-align:inherit;cursor:pointer;text-decoration:underline dotted}
th[aria-sort=ascending] button::after{content:" \25B2"}
th[aria-sort=descending] button::after{content:" \25BC"}
.cited{padding-left:0;max-width:none;list-style:none;counter-reset:cited}
.cited>li{border-top:1px solid var(--line);padding:.7rem 0;counter-increment:cited}
.cited>li::before{content:counter(cited) ". ";color:var(--soft)}
.cited .url{font-weight:600}
.cited ul{max-width:none;font-size:.88rem;padding-left:1.2rem}
footer{margin:3rem auto 2rem;color:var(--soft);font-size:.88rem}
:focus-visible{outline:2px solid var(--mark);outline-offset:2px}
@media (max-width:34rem){body{font-size:15px}.facts{grid-template-columns:1fr}.facts dd{margin-bottom:.4rem}th,td{padding:.22rem .4rem}tbody th bdi{max-width:9rem}}
@media print{
:root{--ink:#000;--soft:#444;--paper:#fff;--line:#bbb;--band:#fff;--link:#000;--alive:#b9dcc6;--moved:#fff;--moved-line:#555;--page:#b0602f;--host:#2a0c1b;--mark:#000}
@page{margin:16mm 14mm}
body{font-size:10pt;print-color-adjust:exact;-webkit-print-color-adjust:exact}
header,main,footer{max-width:none;padding:0}
nav{display:none}
.cards{grid-template-columns:repeat(4,1fr)}
.cards div{border:1px solid var(--line)}
.scroll{overflow:visible}
table{font-size:7.5pt}
th,td{padding:.1rem .25rem}
thead{display:table-header-group;break-inside:avoid}
tfoot{display:table-row-group}
thead th:first-child,tbody th,tfoot th{position:static}
tr,figure,.cited>li,.cards div{break-inside:avoid}
h2,h3,caption{break-after:avoid}
thead button{display:contents;text-decoration:none}
tbody th bdi{max-width:14rem}
}
"#;

/// The script: a button in each head of a table sorts its rows.
pub(super) const SCRIPT: &str = r#"
"use strict";
for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells];
  const body = table.tBodies[0];
  const order = new Intl.Collator("en", { numeric: true });
  heads.forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const isNumber = head.classList.contains("n");
      const was = head.getAttribute("aria-sort");
      const falls = was ? was === "ascending" : isNumber;
      const compare = (a, b) => {
        const [one, other] = [a.cells[column], b.cells[column]];
        return isNumber
          ? Number(one.dataset.v) - Number(other.dataset.v)
          : order.compare(one.textContent, other.textContent);
      };
      const rows = [...body.rows].sort((a, b) => (falls ? compare(b, a) : compare(a, b)));
      body.append(...rows);
      heads.forEach((other) => other.removeAttribute("aria-sort"));
      head.setAttribute("aria-sort", falls ? "descending" : "ascending");
    });
  });
}
"#;

/// SHA-256 of [`STYLE`], as a content security policy has it.
pub(super) const STYLE_HASH: &str = "sha256-PLU7M1qalWRL8SMAc6E7jEEM4vaCcRcwKObsXMpu+pM=";

/// SHA-256 of [`SCRIPT`].
pub(super) const SCRIPT_HASH: &str = "sha256-KVmP2XFslLMdlClTCWOgKVpTRMMrcOUgFo/rLll6U4U=";

#[cfg(test)]
mod tests {
    use ring::digest::{SHA256, digest};

    use super::*;

    #[test]
    fn the_hashes_are_those_of_style_and_script() {
        for (text, expected) in [(STYLE, STYLE_HASH), (SCRIPT, SCRIPT_HASH)] {
            let hash = data_encoding::BASE64.encode(digest(&SHA256, text.as_bytes()).as_ref());
            assert_eq!(format!("sha256-{hash}"), expected);
        }
    }
}
