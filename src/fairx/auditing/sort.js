for (const table of document.querySelectorAll("table.sortable")) {
  const value = (row, column) => {
    const cell = row.cells[column];
    const number = Number(cell.dataset.value);
    return cell.dataset.value !== undefined && !Number.isNaN(number) ? number : cell.textContent.trim();
  };
  const labels = [...table.tHead.rows[0].cells].map(cell => cell.textContent.trim());
  for (const row of table.tBodies[0].rows)
    for (const cell of row.cells) cell.dataset.label = labels[cell.cellIndex];
  table.tHead.addEventListener("click", event => {
    const button = event.target.closest("button");
    if (!button) return;
    const head = button.closest("th"), down = head.getAttribute("aria-sort") !== "descending";
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    const compare = (a, b) => typeof a === "number" && typeof b === "number" ? a - b
      : typeof a === "number" ? -1 : typeof b === "number" ? 1 : a.localeCompare(b);
    const body = table.tBodies[0];
    const rows = [...body.rows].map(row => [value(row, head.cellIndex), row]);
    rows.sort((a, b) => (down ? -1 : 1) * compare(a[0], b[0]));
    body.append(...rows.map(pair => pair[1]));
  });
}
