"use strict";
(() => {
  const COLOURS = 8;
  const all = (selector, root) => Array.from((root || document).querySelectorAll(selector));
  document.documentElement.classList.add("scripted");

  // Percentages as the pages are written: _util.numbers.percentage.
  const sign = document.documentElement.lang.startsWith("zh") ? "%" : " %";
  const percent = (value) => {
    if (value >= 1 - 1e-9) return "100" + sign;
    if (value <= 0) return "0" + sign;
    return (value < 0.001 ? "< 0.1" : Math.min(100 * value, 99.9).toFixed(1)) + sign;
  };
  const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

  // ---- passages and sources: which are shown, and what they amount to ----

  const shownIn = (view) => {
    if (view.dataset.view === "document") {
      const ticked = new Set(all("input[data-source]:checked", view).map((box) => box.dataset.source));
      return (key) => ticked.has(key);
    }
    const slider = view.querySelector("[data-slider]");
    const least = slider ? Number(slider.value) : 0;
    const lengths = view.dataset.lengths.split(" ").map(Number);
    return (key) => lengths[key - 1] >= least;
  };

  const redraw = (view) => {
    const isShown = shownIn(view);
    const sums = { left: 0, right: 0, w: 0, c: 0, uw: 0, uc: 0 };
    const single = { w: new Map(), c: new Map() };
    for (const mark of all("mark[data-k]", view)) {
      const keys = mark.dataset.k.split(" ");
      const first = keys.find(isShown);
      const counts = mark.dataset.w !== undefined;
      if (first === undefined) {
        mark.removeAttribute("class");
        if (mark.dataset.q !== undefined) mark.className = "quoted";
        continue;
      }
      const isEdited = mark.dataset.e !== undefined;
      mark.className = "c" + ((first - 1) % COLOURS) + (isEdited ? " edited" : "") + (counts ? "" : " ignored") +
        (mark.dataset.q === undefined ? "" : " quoted");
      if (!counts) continue;
      const side = mark.closest("[data-side]");
      const weight = Number(mark.dataset.w);
      if (side) {
        sums[side.dataset.side] += weight;
        continue;
      }
      const characters = Number(mark.dataset.c);
      sums.w += weight;
      sums.c += characters;
      if (mark.dataset.q === undefined) {
        sums.uw += weight;
        sums.uc += characters;
      }
      for (const key of keys.filter(isShown)) {
        single.w.set(key, (single.w.get(key) || 0) + weight);
        single.c.set(key, (single.c.get(key) || 0) + characters);
      }
    }
    let passages = 0;
    for (const badge of all(".texts a.n[data-n], .document a.n[data-n]", view)) {
      badge.hidden = !isShown(badge.dataset.n);
      if (!badge.hidden && badge.closest("[data-side=left]")) passages += 1;
    }
    // Of many numbers at one place the first few are shown.
    for (const more of all(".more", view)) {
      const badges = all("a.n", more.parentNode).filter((badge) => !badge.hidden);
      badges.forEach((badge, at) => badge.classList.toggle("extra", at >= 3));
      more.textContent = badges.length > 3 ? "+" + (badges.length - 3) : "";
    }
    for (const row of all("tr[data-n]", view)) row.hidden = !isShown(row.dataset.n);
    for (const row of all("tr[data-row]", view)) row.classList.toggle("off", !isShown(row.dataset.row));
    for (const figure of all("[data-figure]", view)) {
      const { figure: name, by, total } = figure.dataset;
      if (name === "passages") {
        figure.textContent = grouped(passages);
        const label = figure.previousElementSibling;
        label.textContent = passages === 1 ? label.dataset.one : label.dataset.many;
        continue;
      }
      let weight = sums[name];
      if (name === "share") weight = sums[by];
      if (name === "unquoted") weight = sums["u" + by];
      if (name === "largest") weight = Math.max(0, ...single[by].values());
      figure.textContent = percent(Number(total) > 0 ? weight / Number(total) : 0);
    }
  };

  let asked = 0;
  const later = (work) => {
    cancelAnimationFrame(asked);
    asked = requestAnimationFrame(work);
  };

  // ---- from one side to the other ----

  const jump = (target, from) => {
    const pane = target.closest(".text");
    const here = from.closest(".text");
    const beside = pane && here && Math.abs(pane.getBoundingClientRect().top - here.getBoundingClientRect().top) < 8;
    const move = () => {
      if (!beside) {
        target.scrollIntoView({ block: "center" });
        return;
      }
      pane.scrollTop += target.getBoundingClientRect().top - from.getBoundingClientRect().top;
    };
    move();
    // Parts that were not laid out yet have their true heights only now.
    requestAnimationFrame(() => {
      move();
      target.focus({ preventScroll: true });
    });
    const view = target.closest(".view");
    for (const mark of all("mark.flash", view)) mark.classList.remove("flash");
    for (const mark of all("mark[data-k]", view)) {
      if (mark.dataset.k.split(" ").includes(target.dataset.n)) mark.classList.add("flash");
    }
  };

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button[data-choose]");
    if (button) {
      const view = button.closest(".view");
      const wanted = button.dataset.choose;
      for (const box of all("input[data-source]", view)) {
        box.checked = wanted === "all" || box.dataset.source === wanted;
      }
      redraw(view);
      return;
    }
    const view = event.target.closest(".view");
    const mark = event.target.closest("mark[class^=c]");
    const badge = event.target.closest("a.n");
    if (!view || event.ctrlKey || event.metaKey || event.shiftKey) return;
    if (view.dataset.view === "document") {
      // The number that stands before it leads on.
      if (!mark || badge || String(getSelection()) !== "") return;
      const key = mark.dataset.k.split(" ").find(shownIn(view));
      const before = all(`.text a.n[data-n="${key}"]`, view).filter(
        (each) => mark.contains(each) || each.compareDocumentPosition(mark) & Node.DOCUMENT_POSITION_FOLLOWING,
      );
      if (before.length) before[before.length - 1].click();
      return;
    }
    if (badge && badge.closest(".text")) {
      const target = document.getElementById(badge.getAttribute("href").slice(1));
      if (!target) return;
      event.preventDefault();
      jump(target, badge);
    } else if (mark && String(getSelection()) === "") {
      const isShown = shownIn(view);
      const key = mark.dataset.k.split(" ").find(isShown);
      const side = mark.closest("[data-side]").dataset.side;
      const target = document.getElementById(view.dataset.prefix + (side === "left" ? "r" : "l") + key);
      if (target) jump(target, mark);
    }
  });

  // ---- the threshold of an overview ----

  const SVG = "http://www.w3.org/2000/svg";
  const move = (overview) => {
    const slider = overview.querySelector("[data-threshold]");
    const limit = Number(slider.value);
    const chart = overview.querySelector("svg.shares");
    const counts = chart.dataset.counts.split(" ").map(Number);
    const { left, right, top, bottom, highest } = Object.fromEntries(
      Object.entries(chart.dataset).map(([name, value]) => [name, Number(value)]),
    );
    const bars = 20;
    const width = (right - left) / bars;
    const group = chart.querySelector("g");
    group.replaceChildren();
    const sums = Array.from({ length: bars }, () => ({ far: 0, bar: 0 }));
    counts.forEach((count, at) => {
      sums[Math.min(Math.floor((at * bars) / 100), bars - 1)][at >= limit ? "bar" : "far"] += count;
    });
    sums.forEach((sum, at) => {
      let y = bottom;
      for (const kind of ["far", "bar"]) {
        if (!sum[kind]) continue;
        const height = Math.max(((bottom - top) * sum[kind]) / highest, 1.5);
        y -= height;
        const box = document.createElementNS(SVG, "rect");
        box.setAttribute("class", kind);
        box.setAttribute("x", left + at * width + 1.5);
        box.setAttribute("y", y);
        box.setAttribute("width", width - 3);
        box.setAttribute("height", height);
        const title = document.createElementNS(SVG, "title");
        title.textContent = at * 5 + "–" + (at + 1) * 5 + sign + ": " + grouped(sum[kind]);
        box.append(title);
        group.append(box);
      }
    });
    const x = left + ((right - left) * limit) / 100;
    const line = chart.querySelector("line.threshold");
    line.setAttribute("x1", x);
    line.setAttribute("x2", x);
    const label = chart.querySelector("text.threshold");
    label.textContent = "≥ " + limit + sign;
    label.setAttribute("x", x > (left + right) / 2 ? x - 6 : x + 6);
    label.setAttribute("text-anchor", x > (left + right) / 2 ? "end" : "start");
    overview.querySelector("output[data-limit]").textContent = limit + sign;
    const above = counts.reduce((sum, count, at) => sum + (at >= limit ? count : 0), 0);
    for (const each of all("[data-above]", overview)) each.textContent = grouped(above);
    const reaches = (each) => Math.floor(Number(each.dataset.share) * 100 + 1e-9) >= limit;
    for (const each of all("tr[data-share], td[data-share]", overview)) {
      each.classList.toggle("above", reaches(each));
    }
  };

  document.addEventListener("input", (event) => {
    const view = event.target.closest(".view");
    if (!view) return;
    if (event.target.matches("[data-threshold]")) {
      later(() => move(view));
      return;
    }
    if (event.target.matches("[data-slider]")) {
      const output = view.querySelector("output");
      const { one, many } = output.dataset;
      const count = Number(event.target.value);
      output.textContent = count === 1 ? one : many.replace("987", grouped(count));
    }
    later(() => redraw(view));
  });

  for (const chart of all("svg.shares")) {
    const follow = (event) => {
      const box = chart.getBoundingClientRect();
      const scale = chart.viewBox.baseVal.width / box.width;
      const { left, right } = chart.dataset;
      const at = ((event.clientX - box.left) * scale - left) / (right - left);
      const view = chart.closest(".view");
      view.querySelector("[data-threshold]").value = Math.round(Math.min(Math.max(at, 0), 1) * 100);
      later(() => move(view));
    };
    chart.addEventListener("pointerdown", (event) => {
      chart.setPointerCapture(event.pointerId);
      follow(event);
    });
    chart.addEventListener("pointermove", (event) => {
      if (chart.hasPointerCapture(event.pointerId)) follow(event);
    });
  }

  // What a browser kept from the last visit is obeyed.
  for (const view of all(".view")) {
    const slider = view.querySelector("[data-slider]");
    const isTouched = slider && slider.value !== slider.defaultValue;
    if (isTouched || all("input[data-source]", view).some((box) => !box.checked)) redraw(view);
    const threshold = view.querySelector("[data-threshold]");
    if (threshold && threshold.value !== threshold.defaultValue) move(view);
  }
})();
