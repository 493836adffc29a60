// The report of an audit in headless Chromium: no console errors, no requests, no violations of axe, tables that sort, and
// nothing wider than the page; on a phone, on a desktop and in print, light and dark. Writes screenshots to look at.
//
//   npm install --prefix /tmp/page puppeteer-core axe-core
//   NODE_PATH=/tmp/page/node_modules node tests/tools/audit_page.js PROGRAM [FOLDER]
//
// Chromium is /usr/bin/chromium, or what CHROMIUM names. FOLDER holds the screenshots (default: a temporary folder).
"use strict";
const { execFileSync } = require("node:child_process");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { pathToFileURL } = require("node:url");

const CHROMIUM = process.env.CHROMIUM || "/usr/bin/chromium";
const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];
const SIZES = { phone: { width: 390, height: 844 }, desktop: { width: 1280, height: 900 } };
const SCHEMES = ["light", "dark"];
const DATABASES = { seeded: ["--checks", "3"], hostile: ["--hostile"], sample: ["--sample"], empty: ["--checks", "0", "--links", "3"] };

function skip(reason) {
  console.log(`SKIPPED: ${reason}`);
  process.exit(77);
}

let puppeteer, axe;
try {
  puppeteer = require("puppeteer-core");
  axe = fs.readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");
} catch {
  skip("puppeteer-core and axe-core are not in NODE_PATH");
}
if (!fs.existsSync(CHROMIUM)) skip(`${CHROMIUM} does not exist; apt-get install chromium`);
const program = process.argv[2] || "target/release/urlspool";
if (!fs.existsSync(program)) {
  console.error(`${program} does not exist`);
  process.exit(2);
}

let passed = 0, failed = 0;
function check(name, problems) {
  if (problems.length === 0) {
    passed += 1;
  } else {
    failed += 1;
    console.log(`FAILED: ${name}`);
    problems.forEach((problem) => console.log(`  ${problem}`));
  }
}

// Opens the page and returns it with what it logged and asked for.
async function opened(browser, file, size, scheme) {
  const page = await browser.newPage();
  await page.setViewport(size);
  await page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
  const logged = [], asked = [];
  page.on("console", (message) => logged.push(`console: ${message.text()}`));
  page.on("pageerror", (error) => logged.push(`error: ${error.message}`));
  page.on("dialog", async (dialog) => { logged.push(`dialog: ${dialog.message()}`); await dialog.dismiss(); });
  page.on("request", (request) => { if (request.url() !== pathToFileURL(file).href) asked.push(`request: ${request.url()}`); });
  await page.goto(pathToFileURL(file).href, { waitUntil: "load" });
  return { page, logged, asked };
}

// axe is run through the debugger, which the page's own policy does not bind.
async function violations(page) {
  await page.evaluate(axe);
  const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
  return found.violations.map((one) => `${one.id}: ${one.help}: ${one.nodes.slice(0, 3).map((node) => node.target.join(" ")).join(", ")}`);
}

// The page itself must not scroll to the side; tables may.
const tooWide = (page) => page.evaluate(() => {
  const width = document.documentElement.clientWidth;
  return document.documentElement.scrollWidth > width ? [`the page is ${document.documentElement.scrollWidth} wide, the window ${width}`] : [];
});

const unsorted = (page) => page.evaluate(() => {
  const problems = [];
  for (const table of document.querySelectorAll("table.sortable")) {
    const caption = table.caption.textContent;
    const heads = [...table.tHead.rows[0].cells];
    const rows = table.tBodies[0].rows.length;
    heads.forEach((head, column) => {
      const button = head.querySelector("button");
      if (!button) { problems.push(`${caption}: a head without a button`); return; }
      for (const order of ["first", "second"]) {
        button.click();
        const sort = head.getAttribute("aria-sort");
        if (!["ascending", "descending"].includes(sort)) problems.push(`${caption}: no aria-sort at the ${order} click`);
        if (!head.classList.contains("n")) continue;
        const values = [...table.tBodies[0].rows].map((row) => Number(row.cells[column].dataset.v));
        const falls = sort === "descending" ? 1 : -1;
        if (values.some((value, index) => index > 0 && falls * (values[index - 1] - value) < 0)) problems.push(`${caption}: column ${column} is not ${sort}`);
      }
      if (table.tHead.querySelectorAll("[aria-sort]").length !== 1) problems.push(`${caption}: two sorted columns`);
    });
    if (table.tBodies[0].rows.length !== rows) problems.push(`${caption}: rows were lost`);
  }
  return problems;
});

// Chromium repeats the head of a table on each printed page only if it has no boxes of buttons.
async function shortHeads(page) {
  await page.emulateMediaType("print");
  return page.evaluate(() => [...document.querySelectorAll("thead button")]
    .filter((button) => getComputedStyle(button).display !== "contents").map((button) => `a box of ${button.textContent}`));
}

// Nothing that acts but the report's own script and its links.
const active = (page) => page.evaluate(() => {
  const problems = [];
  const allowed = new Set("HTML HEAD META TITLE STYLE BODY HEADER MAIN FOOTER NAV SECTION FIGURE FIGCAPTION H1 H2 H3 P UL OL LI DL DT DD DIV SPAN BDI BR I A TABLE CAPTION THEAD TBODY TFOOT TR TH TD BUTTON SCRIPT svg defs pattern rect path line circle text polyline".split(" "));
  for (const element of document.querySelectorAll("*")) {
    if (!allowed.has(element.tagName)) problems.push(`element ${element.tagName}`);
    for (const attribute of element.attributes) {
      if (attribute.name.startsWith("on") || ["style", "src", "srcset", "action", "data"].includes(attribute.name)) problems.push(`attribute ${attribute.name} of ${element.tagName}`);
    }
  }
  for (const link of document.querySelectorAll("a")) {
    const target = link.getAttribute("href");
    if (!/^#[a-z]+$|^https:\/\/web\.archive\.org\/web\/[0-9*]+\//.test(target)) problems.push(`link to ${target}`);
  }
  if (document.scripts.length !== 1 || document.styleSheets.length !== 1) problems.push("more than one script or style sheet");
  return problems;
});

async function main() {
  const folder = process.argv[3] || fs.mkdtempSync(path.join(os.tmpdir(), "urlspool-page-"));
  fs.mkdirSync(folder, { recursive: true });
  const profile = fs.mkdtempSync(path.join(os.tmpdir(), "urlspool-chromium-"));
  const browser = await puppeteer.launch({ executablePath: CHROMIUM, args: FLAGS, headless: true, userDataDir: profile, protocolTimeout: 300000 });
  for (const [name, options] of Object.entries(DATABASES)) {
    const [database, file] = [path.join(folder, `${name}.db`), path.join(folder, `${name}.html`)];
    execFileSync("python3", [path.join(__dirname, "audit_database.py"), program, database, ...options]);
    execFileSync(program, ["audit", "report", database, "-o", file]);
    for (const [size, viewport] of Object.entries(SIZES)) {
      for (const scheme of SCHEMES) {
        const what = `${name}, ${size}, ${scheme}`;
        const { page, logged, asked } = await opened(browser, file, viewport, scheme);
        check(`${what}: active content`, await active(page));
        check(`${what}: width`, await tooWide(page));
        await page.screenshot({ path: path.join(folder, `${name}-${size}-${scheme}.png`), fullPage: name !== "hostile" });
        check(`${what}: axe`, await violations(page));
        check(`${what}: sorting`, await unsorted(page));
        check(`${what}: axe after sorting`, await violations(page));
        check(`${what}: console`, logged);
        check(`${what}: requests`, asked);
        await page.close();
      }
    }
    const { page, logged } = await opened(browser, file, SIZES.desktop, "light");
    await page.pdf({ path: path.join(folder, `${name}.pdf`), format: "A4", printBackground: true });
    check(`${name}, print: console`, logged);
    check(`${name}, print: heads of tables`, await shortHeads(page));
    await page.close();
  }
  await browser.close();
  fs.rmSync(profile, { recursive: true, force: true });
  console.log(`screenshots: ${folder}`);
  console.log(`${passed} passed, ${failed} failed, 0 skipped`);
  process.exit(failed === 0 ? 0 : 1);
}

main();
