"use strict";
(() => {
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));
  const list = document.querySelector(".rows");
  document.documentElement.classList.add("scripted");
  if (!list) return;
  const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
  const find = document.querySelector("[data-find]");
  const sort = document.querySelector("[data-sort]");
  const output = document.querySelector("output");
  const none = document.querySelector(".empty");
  const chosen = document.querySelector(".chosen");
  const ORDERS = {
    largest: (a, b) => a.at - b.at,
    odd: (a, b) => (b.size === 1) - (a.size === 1) || a.at - b.at,
    loose: (a, b) => a.low - b.low || a.at - b.at,
  };

  const facets = all("[data-facet]").map((box) => ({
    name: box.dataset.facet,
    title: box.querySelector("legend").textContent,
    choices: all("input", box).map((input) => ({
      input,
      at: Number(input.dataset.at),
      count: input.closest("label").querySelector(".n"),
      item: input.closest("li"),
      name: input.closest("label").querySelector(".name").textContent,
    })),
  }));
  const rows = all(".kind", list).map((row, at) => ({
    row,
    at,
    size: Number(row.dataset.size),
    low: Number(row.dataset.low),
    places: facets.map((facet) => (row.dataset[facet.name] || "").split(" ").map(Number)),
    text: null,
  }));
  // What is looked through: the row itself and the addresses under it, not the samples.
  const textOf = (each) => {
    if (each.text === null) {
      const parts = all("summary, .members td", each.row).map((part) => part.textContent);
      each.text = parts.join("\n").toLowerCase();
    }
    return each.text;
  };

  let order = "largest";
  const arrange = () => {
    if (sort.value === order) return;
    order = sort.value;
    list.append(...rows.slice().sort(ORDERS[order]).map((each) => each.row));
  };

  // What is ticked may be out of sight: it is told beside the list too, and can be taken back there.
  const tell = () => {
    const buttons = [];
    for (const facet of facets) {
      for (const choice of facet.choices.filter((each) => each.input.checked)) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = facet.title + ": " + choice.name + " ×";
        button.title = chosen.dataset.said.replace("{value}", () => choice.name);
        button.addEventListener("click", () => {
          choice.input.checked = false;
          changed();
          find.focus();
        });
        buttons.push(button);
      }
    }
    chosen.replaceChildren(...buttons);
  };

  const narrow = () => {
    const wanted = facets.map(
      (facet) => new Set(facet.choices.filter((choice) => choice.input.checked).map((choice) => choice.at)),
    );
    const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
    const counts = facets.map(() => new Map());
    let shown = 0;
    let responses = 0;
    for (const each of rows) {
      const missed = [];
      wanted.forEach((places, at) => {
        if (places.size && !each.places[at].some((place) => places.has(place))) missed.push(at);
      });
      const isFound = words.length === 0 || words.every((word) => textOf(each).includes(word));
      const isShown = isFound && missed.length === 0;
      if (each.row.hidden === isShown) each.row.hidden = !isShown;
      if (isShown) {
        shown += 1;
        responses += each.size;
      }
      if (!isFound) continue;
      // A number beside a choice says what it would give together with the other facets.
      each.places.forEach((places, at) => {
        if (missed.some((other) => other !== at)) return;
        for (const place of places) counts[at].set(place, (counts[at].get(place) || 0) + 1);
      });
    }
    facets.forEach((facet, at) => {
      for (const choice of facet.choices) {
        const count = counts[at].get(choice.at) || 0;
        choice.count.textContent = grouped(count);
        choice.item.classList.toggle("none", count === 0);
      }
    });
    const said = { shown, of: rows.length, responses };
    output.textContent = output.dataset.said.replace(/\{(\w+)\}/g, (_, name) => grouped(said[name]));
    none.hidden = shown > 0;
    tell();
  };

  // ---- the address of the page says what was chosen ----

  const written = () => {
    const parts = [];
    for (const facet of facets) {
      for (const choice of facet.choices) {
        if (choice.input.checked) parts.push([facet.name, choice.input.dataset.value]);
      }
    }
    if (find.value) parts.push(["find", find.value]);
    if (sort.value !== "largest") parts.push(["sort", sort.value]);
    return parts.map(([name, value]) => name + "=" + encodeURIComponent(value)).join("&");
  };

  let last = null;
  const keep = () => {
    last = written();
    try {
      history.replaceState(null, "", "#" + last);
    } catch {
      // In a frame that may not change its address the page works all the same.
    }
  };

  const decoded = (value) => {
    try {
      return decodeURIComponent(value);
    } catch {
      return value;
    }
  };

  const read = () => {
    const address = location.hash.slice(1);
    if (address === last) return;
    last = address;
    const parts = address.split("&").map((part) => {
      const at = part.indexOf("=");
      return [part.slice(0, at), decoded(part.slice(at + 1))];
    });
    const given = (name) => parts.filter(([key]) => key === name).map(([, value]) => value);
    for (const facet of facets) {
      const values = new Set(given(facet.name));
      for (const choice of facet.choices) choice.input.checked = values.has(choice.input.dataset.value);
    }
    find.value = given("find")[0] || "";
    const asked = given("sort")[0];
    sort.value = Object.hasOwn(ORDERS, asked) ? asked : "largest";
    arrange();
    narrow();
    // A place on the page: a kind.
    const target = /^k\d+$/.test(address) && document.getElementById(address);
    if (target) {
      target.open = true;
      target.scrollIntoView({ block: "start" });
      target.querySelector("summary").focus({ preventScroll: true });
    }
  };

  let asked = 0;
  const changed = () => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(() => {
      arrange();
      narrow();
      keep();
    });
  };
  document.addEventListener("input", (event) => {
    if (event.target.matches("[data-facet] input, [data-find], [data-sort]")) changed();
  });
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-clear]")) return;
    for (const input of all("[data-facet] input:checked")) input.checked = false;
    find.value = "";
    changed();
  });
  window.addEventListener("hashchange", read);

  // On a telephone the list comes first: what narrows it is closed.
  const side = document.querySelector(".facets");
  if (side && window.matchMedia("(max-width: 52rem)").matches) side.open = false;
  read();
})();
