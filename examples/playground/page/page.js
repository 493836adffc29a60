// The page: takes an input, has it explained by the worker, and shows the explanation. All texts of
// the input become text nodes.
import { examples } from "./examples.js";

// Most of what a page can show at once; the rest follows on request.
const MAX_BYTES = 32 << 20,
  SHOWN_BYTES = 200_000,
  SHOWN_CANDIDATES = 100,
  WORKER_MS = 20_000,
  TYPING_MS = 80;

const find = (id) => document.getElementById(id);
const input = find("input"),
  status = find("status"),
  marked = find("marked"),
  found = find("found"),
  strict = find("strict");
const decoder = new TextDecoder();
let bytes = new Uint8Array(),
  worker,
  current = 0,
  deadline = 0,
  typing = 0,
  begun = 0;

// Characters that a reader would not see, or that would reorder the others, by their numbers.
const HIDDEN =
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]/g;
const visible = (text) =>
  String(text)
    .replace(/\r\n/g, "\n")
    .replace(HIDDEN, (c) => `<U+${c.charCodeAt(0).toString(16).padStart(4, "0").toUpperCase()}>`);

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (value !== undefined && value !== false) made.setAttribute(key, value);
  }
  for (const child of children.flat()) {
    if (child instanceof Node) made.append(child);
    else if (child !== undefined && child !== null) made.append(visible(child));
  }
  return made;
}

function start() {
  worker = new Worker("worker.js", { type: "module" });
  worker.onmessage = ({ data }) => {
    if (data.version) return;
    if (data.id !== undefined && data.id !== current) return;
    clearTimeout(deadline);
    if (data.error) return failed(`The module has ended: ${data.error}`);
    show(JSON.parse(data.json), data.ms);
  };
  worker.onerror = () => failed("The module could not be loaded.");
}

function failed(message) {
  clearTimeout(deadline);
  worker.terminate();
  start();
  clear();
  status.textContent = `${message} Nothing of the input was kept.`;
}

function clear() {
  marked.replaceChildren();
  marked.hidden = true;
  found.replaceChildren();
}

const tooLarge = (size) =>
  `${size} bytes exceed the limit of this page (${MAX_BYTES}); urlspool explain takes any file.`;

function explain() {
  begun = performance.now();
  current += 1;
  clearTimeout(deadline);
  if (bytes.length > MAX_BYTES) {
    clear();
    status.textContent = tooLarge(bytes.length);
    return;
  }
  deadline = setTimeout(() => failed(`No result in ${WORKER_MS / 1000} s.`), WORKER_MS);
  worker.postMessage({ id: current, bytes, strict: strict.checked });
}

function show(result, ms) {
  clear();
  const { accepted, rejected, messages, explanation: explained } = result;
  const candidates = explained.messages.flatMap((message) => message.candidates);
  if (explained.skipped) {
    status.textContent = bytes.length
      ? `This input is skipped: ${explained.skipped}.`
      : "Paste, drop or choose something.";
    return;
  }
  const rows = candidates.map((candidate) => detail(candidate));
  showMarks(candidates, rows);
  const isAll = candidates.length === accepted + rejected;
  found.append(
    element(
      "h2",
      {},
      `${accepted} ${accepted === 1 ? "URL" : "URLs"}, ${rejected} refused`,
      isAll ? "" : `; the first ${candidates.length} of both`,
    ),
    more(rows, SHOWN_CANDIDATES),
    element("h2", {}, messages === 1 ? "The message" : `${messages} messages`),
    element("p", {}, `Read as ${explained.format.name}: ${explained.format.text}.`),
    more(
      explained.messages.map((message) => about(message, messages > 1)),
      SHOWN_CANDIDATES,
    ),
  );
  status.textContent = `${bytes.length} bytes explained in ${ms.toFixed(1)} ms`;
  requestAnimationFrame(
    () => (document.body.dataset.shownMs = (performance.now() - begun).toFixed(1)),
  );
}

// The makers' elements, so many at once.
function more(makers, step) {
  const list = element("div");
  let next = 0;
  const button = element("button", { type: "button" });
  const add = () => {
    button.before(...makers.slice(next, next + step).map((make) => make()));
    next += step;
    button.hidden = makers.length <= next;
    const left = makers.length - next;
    button.textContent = `Show ${Math.min(step, left)} of ${left} more`;
  };
  list.append(button);
  button.onclick = add;
  add();
  return list;
}

function showMarks(candidates, rows) {
  const end = Math.min(bytes.length, SHOWN_BYTES);
  const order = candidates
    .map((_, number) => number)
    .sort(
      (a, b) => candidates[a].start - candidates[b].start || candidates[b].end - candidates[a].end,
    );
  const pieces = [];
  let at = 0;
  for (const number of order) {
    const candidate = candidates[number];
    // Only in the list: other readings of the same bytes, and candidates in encoded parts, whose
    // range is the whole part.
    if (candidate.start < at || candidate.end <= candidate.start || end < candidate.end) continue;
    pieces.push(visible(decoder.decode(bytes.subarray(at, candidate.start))));
    const is = candidate.outcome.accepted ? "URL" : "refused";
    const mark = element(
      "mark",
      {
        tabindex: "0",
        role: "button",
        class: candidate.outcome.accepted ? "yes" : "no",
        "aria-label": `${is}: ${visible(candidate.text)}`,
      },
      decoder.decode(bytes.subarray(candidate.start, candidate.end)),
    );
    const open = () => {
      const row = rows[number].element ?? rows[number]();
      if (!row.isConnected) found.querySelector("div").prepend(row);
      row.open = true;
      row.querySelector("summary").focus();
      row.scrollIntoView({ block: "nearest" });
    };
    mark.onclick = open;
    mark.onkeydown = (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        open();
      }
    };
    pieces.push(mark);
    at = candidate.end;
  }
  pieces.push(visible(decoder.decode(bytes.subarray(at, Math.max(at, end)))));
  if (end < bytes.length)
    pieces.push(
      element(
        "p",
        { class: "place" },
        `The first ${end} bytes are shown here, all candidates below.`,
      ),
    );
  marked.replaceChildren(...pieces);
  marked.hidden = !bytes.length;
}

// A maker of the candidate's element, whose content is made when it is opened.
function detail(candidate) {
  const make = () => {
    if (make.element) return make.element;
    const url = candidate.outcome.accepted;
    const { exact, start, end, line } = candidate;
    const place = `${exact ? "" : "about "}bytes ${start} to ${end}, line ${line}`;
    const row = element(
      "details",
      { class: url ? "yes" : "no" },
      element(
        "summary",
        {},
        element("span", { class: "tag" }, url ? "URL" : "refused"),
        " ",
        element("code", {}, shortened(candidate.text)),
        " ",
        element("span", { class: "place" }, place),
      ),
    );
    row.ontoggle = () => {
      if (row.open && row.children.length === 1) {
        row.append(
          element(
            "div",
            {},
            url
              ? accepted(candidate, url)
              : element("p", {}, `${candidate.outcome.rejected.text}.`),
          ),
        );
      }
    };
    make.element = row;
    return row;
  };
  return make;
}

const shortened = (text, most = 300) =>
  text.length > most ? `${text.slice(0, most)} … (${text.length} characters)` : text;

function definitions(rows) {
  const list = element("dl");
  for (const [name, value] of rows) {
    const values = (Array.isArray(value) ? value : [value]).filter(
      (value) => value !== null && value !== undefined && value !== "",
    );
    if (!values.length) continue;
    const shown = values.map((value) =>
      value instanceof Node ? value : element("div", {}, shortened(String(value), 4000)),
    );
    list.append(element("dt", {}, name), element("dd", {}, shown));
  }
  return list;
}

const feature = ([name, points]) => `${name} ${points > 0 ? "+" : ""}${points}`;

function accepted(candidate, url) {
  const { record } = url;
  const verdict = (grammar) =>
    record.truncated
      ? "not checked: longer than the limit"
      : record.conforms.includes(grammar)
        ? "accepts it"
        : `refuses it${grammar === "rfc1738" && record.error ? `: ${record.error.message}` : ""}`;
  return [
    definitions([
      ["URL", element("code", {}, shortened(candidate.text, 4000))],
      [
        "as written",
        candidate.text === record.raw ? null : element("code", {}, shortened(record.raw, 4000)),
      ],
      ["set off by", url.wrapper.text],
      ["confidence", record.confidence.toFixed(2)],
      ["repairs", url.repairs.map((repair) => `${repair.name}: ${repair.text}`)],
      [
        "or",
        url.alternates.map((other) =>
          element(
            "div",
            {},
            element("code", {}, shortened(other.text)),
            ` (${other.why.text}, confidence ${other.confidence.toFixed(2)})`,
          ),
        ),
      ],
      [
        "next line",
        url.joins.map(
          (join) =>
            `${join.features.map(feature).join(", ")}; together ${join.points}, ` +
            `confidence ${join.confidence.toFixed(2)}`,
        ),
      ],
      [
        "inside it",
        url.targets.map((target) =>
          element(
            "div",
            {},
            element("code", {}, shortened(target.text)),
            ` (by ${target.redirector})`,
          ),
        ),
      ],
      ["hazards", record.hazards],
      [
        "place",
        record.region +
          (record.quote_depth ? `, quoted ${record.quote_depth} deep` : "") +
          (record.part ? `, part ${record.part.path}` : ""),
      ],
    ]),
    element("h2", {}, "Verdicts"),
    definitions([
      ["RFC 1738", verdict("rfc1738")],
      ["RFC 3986", verdict("rfc3986")],
      ["WHATWG", verdict("whatwg")],
      ["warnings", record.warnings],
    ]),
    element("h2", {}, record.form ? `Components by RFC 1738 (${record.form})` : "Components"),
    definitions([
      ...record.parts.map((part) => [part.name, element("code", {}, part.value)]),
      ["fragment", record.fragment],
      ["for comparing", record.key],
      ["a browser fetches", record.href],
    ]),
  ];
}

function about(message, isOne) {
  return () => {
    const notes = [...message.border_notes, ...message.part_notes];
    const content = [
      element("p", {}, `Bytes ${message.start} to ${message.end}. ${message.header}`),
      definitions([
        ...message.fields.map((field) => [field.name, field.value]),
        [
          "parts",
          message.parts.map(
            (part) =>
              `${part.path} ${part.media_type}${part.charset ? `, charset ${part.charset}` : ""}` +
              `, ${part.encoding}; ${part.outcome}`,
          ),
        ],
        ["notes", notes.map((note) => `${note.kind}: ${note.text}`)],
      ]),
    ];
    if (!isOne) return element("div", {}, content);
    const subject = message.fields.find((field) => field.name === "Subject");
    return element(
      "details",
      {},
      element(
        "summary",
        {},
        subject ? shortened(subject.value) : `bytes ${message.start} to ${message.end}`,
      ),
      element("div", {}, content),
    );
  };
}

function take(taken, text) {
  bytes = taken;
  input.value = text;
  explain();
}

async function takeFile(file) {
  if (file.size > MAX_BYTES) {
    clear();
    status.textContent = tooLarge(file.size);
    return;
  }
  const taken = new Uint8Array(await file.arrayBuffer());
  press(null);
  take(taken, decoder.decode(taken.subarray(0, SHOWN_BYTES)));
}

function press(button) {
  for (const other of find("examples").children)
    other.setAttribute("aria-pressed", String(other === button));
}

start();
for (const [name, text] of examples) {
  const button = element("button", { type: "button", "aria-pressed": "false" }, name);
  button.onclick = () => {
    press(button);
    take(new TextEncoder().encode(text), text);
  };
  find("examples").append(button);
}
input.oninput = () => {
  press(null);
  clearTimeout(typing);
  typing = setTimeout(() => {
    bytes = new TextEncoder().encode(input.value);
    explain();
  }, TYPING_MS);
};
strict.onchange = explain;
find("file").onchange = ({ target }) => target.files[0] && takeFile(target.files[0]);
for (const name of ["dragover", "drop", "dragleave"]) {
  addEventListener(name, (event) => {
    event.preventDefault();
    input.classList.toggle("over", name === "dragover");
    if (name === "drop" && event.dataTransfer.files[0]) takeFile(event.dataTransfer.files[0]);
  });
}
find("examples").firstChild.click();
