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
