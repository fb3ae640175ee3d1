"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const root = document.documentElement;

  // Light and dark: what the system says, until the button is pressed.
  const theme = $("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const name = () => { theme.textContent = isDark() ? "Light" : "Dark"; };
  theme.setAttribute("aria-label", "Switch between light and dark");
  theme.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; name(); });
  system.addEventListener("change", name);
  theme.hidden = false;
  name();

  // Tables are sorted by their heads, which become buttons.
  const value = (row, column) => {
    const text = row.cells[column] ? row.cells[column].textContent.trim() : "";
    const number = Number.parseFloat(text.replaceAll(",", "").replace("−", "-"));
    return { text, number };
  };
  for (const table of document.querySelectorAll("table[data-sort]")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => {
        const numeric = head.classList.contains("number");
        const now = head.getAttribute("aria-sort");
        const down = now ? now === "ascending" : numeric;
        const sign = down ? -1 : 1;
        for (const other of heads) other.removeAttribute("aria-sort");
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        const rows = [...table.tBodies[0].rows];
        rows.sort((a, b) => {
          const x = value(a, column), y = value(b, column);
          if (!numeric) return sign * x.text.localeCompare(y.text);
          if (Number.isNaN(x.number) || Number.isNaN(y.number)) {
            return Number.isNaN(x.number) - Number.isNaN(y.number);
          }
          return sign * (x.number - y.number);
        });
        table.tBodies[0].append(...rows);
      });
    });
  }

  // Documents are chosen and sorted.
  const controls = $("controls");
  if (controls) {
    const list = $("list");
    const articles = [...list.children];
    const field = (id) => ($(id) ? $(id).value : "");
    const update = () => {
      const query = field("query").toLowerCase();
      const equal = ["kind", "label", "predicted", "found"].filter(field);
      const ranges = [...controls.querySelectorAll("[data-range]")].filter((one) => one.value)
        .map((one) => [one.dataset.range, ...one.value.split(" ").map(Number)]);
      const sort = field("sort");
      let count = 0;
      for (const article of articles) {
        const fits = equal.every((name) => article.dataset[name] === field(name))
          && ranges.every(([name, low, high]) => {
            const value = Number(article.dataset[name]);
            return value > low && value <= high;
          })
          && (!query || article.textContent.toLowerCase().includes(query));
        article.hidden = !fits;
        count += fits;
      }
      const rising = sort === "number" || sort === "length";
      const order = sort === "order" ? articles : [...articles].sort((a, b) =>
        (rising ? 1 : -1) * (Number(a.dataset[sort]) - Number(b.dataset[sort])));
      list.append(...order);
      $("shown").textContent = `${count} of ${articles.length} documents`;
    };
    const fold = $("fold");
    const folded = () => articles.some((one) => !one.hidden && !one.firstElementChild.open);
    const tell = () => { fold.textContent = folded() ? "Open all" : "Close all"; };
    fold.addEventListener("click", () => {
      const open = folded();
      for (const one of articles) if (!one.hidden) one.firstElementChild.open = open;
      tell();
    });
    list.addEventListener("toggle", tell, true);
    for (const event of ["input", "change"]) {  // not every way to choose fires both
      controls.addEventListener(event, () => { update(); tell(); });
    }
    controls.addEventListener("submit", (event) => event.preventDefault());
    controls.hidden = false;
    update();
    tell();
    // A link to a document opens it, whatever was chosen before.
    const reveal = () => {
      const one = articles.find((article) => article.id && `#${article.id}` === location.hash);
      if (!one) return;
      one.hidden = false;
      one.firstElementChild.open = true;
      one.scrollIntoView();
    };
    addEventListener("hashchange", reveal);
    reveal();
  }

  // The share of a word, where the pointer is.
  addEventListener("pointerover", (event) => {
    const mark = event.target.closest ? event.target.closest("mark[data-value]") : null;
    if (mark && !mark.title) {
      const value = Number(mark.dataset.value);
      mark.title = `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(4)}`;
    }
  });

  // On paper nothing is folded away.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const one of closed) one.open = true;
  });
  addEventListener("afterprint", () => { for (const one of closed) one.open = false; });
})();
