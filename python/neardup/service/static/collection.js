// Moves the threshold of the survey by mouse, touch or keys: counts and scores follow at once, pairs
// after a short delay. Polls while the survey or the clusters are not finished.
import { keep, percentSign } from "./switches.js";

const SVG = "http://www.w3.org/2000/svg";
const grouped = (count) => String(count).replace(/\B(?=(\d{3})+$)/g, ",");
const find = (selector) => document.querySelector(selector);

const shown = (value) => String(Number(Number(value).toFixed(2)));

const moveLine = (threshold) => {
  const chart = find("svg.survey");
  if (!chart) return;
  const { first, steps, scale, left, right, top, bottom } = Object.fromEntries(
    Object.entries(chart.dataset).map(([name, value]) => [name, Number(value)]),
  );
  const bars = steps - first;
  const width = (right - left) / bars;
  const sums = Array.from({ length: bars }, () => ({ far: 0, bar: 0 }));
  let near = 0;
  for (const similarity of similarities()) {
    const at = Math.min(Math.floor(similarity * steps + 1e-9), steps - 1) - first;
    if (at < 0) continue;
    sums[at][similarity >= threshold ? "bar" : "far"] += 1;
    if (similarity >= threshold) near += 1;
  }
  const gap = Math.min(3, width * 0.15);
  const group = chart.querySelector("g");
  group.replaceChildren();
  sums.forEach((sum, at) => {
    let y = bottom;
    for (const kind of ["far", "bar"]) {
      if (!sum[kind]) continue;
      const height = Math.max(((bottom - top) * sum[kind]) / scale, 1.5);
      y -= height;
      const box = document.createElementNS(SVG, "rect");
      for (const [name, value] of Object.entries({ class: kind, x: left + at * width + gap / 2, y, width: width - gap, height })) {
        box.setAttribute(name, value);
      }
      const title = document.createElementNS(SVG, "title");
      title.textContent = `${((first + at) / steps).toFixed(2)}–${((first + at + 1) / steps).toFixed(2)}: ${grouped(sum[kind])}`;
      box.append(title);
      group.append(box);
    }
  });
  const x = left + ((right - left) * Math.max(threshold * steps - first, 0)) / bars;
  const line = chart.querySelector("line.threshold");
  line.setAttribute("x1", x);
  line.setAttribute("x2", x);
  const label = chart.querySelector("text.threshold");
  const isRight = x > (left + right) / 2;
  label.textContent = `≥ ${shown(threshold)}`;
  label.setAttribute("x", isRight ? x - 6 : x + 6);
  label.setAttribute("text-anchor", isRight ? "end" : "start");
  const said = find("#survey-count");
  if (said) {
    said.textContent = said.dataset.count
      .replace("{near}", grouped(near))
      .replace("{of}", grouped(said.dataset.of))
      .replace("{threshold}", shown(threshold));
  }
};

const similarities = () => (find("#threshold")?.dataset.similarities ?? "").split(" ").filter(Boolean).map(Number);

const percent = (part, whole) => (whole ? `${((100 * part) / whole).toFixed(1)}${percentSign}` : "–");

const score = (threshold) => {
  const place = find("#marks");
  if (!place) return;
  const counts = { near_same: 0, near_different: 0, far_same: 0, far_different: 0 };
  for (const mark of (place.dataset.marks || "").split(" ").filter(Boolean)) {
    const side = Number(mark.slice(0, -1)) >= threshold ? "near" : "far";
    counts[`${side}_${mark.endsWith("+") ? "same" : "different"}`] += 1;
  }
  const values = {
    precision: percent(counts.near_same, counts.near_same + counts.near_different),
    recall: percent(counts.near_same, counts.near_same + counts.far_same),
  };
  for (const each of place.querySelectorAll("[data-score]")) {
    const name = each.dataset.score;
    each.textContent = name in values ? values[name] : grouped(counts[name]);
  }
  const note = place.querySelector("[data-note]");
  if (note) note.textContent = note.dataset.note.replace("{threshold}", shown(threshold));
};

// ---- parts of the page, rendered by the service ----

let requests = 0;

/** Loads a page and replaces the elements with these ids by its own. */
const take = async (address, ids, options) => {
  requests += 1;
  const number = requests;
  const answer = await fetch(address, { headers: { Accept: "text/html" }, ...options });
  if (answer.status === 401 || new URL(answer.url).pathname === "/sign-in") {
    // Signed out: reloading leads to the sign-in page.
    location.reload();
    return null;
  }
  const found = new DOMParser().parseFromString(await answer.text(), "text/html");
  // A later request was answered first.
  if (number !== requests) return null;
  if (!answer.ok) {
    const problem = found.querySelector(".error");
    if (problem) find("#pairs")?.prepend(document.adoptNode(problem));
    return null;
  }
  for (const id of ids) {
    const here = document.getElementById(id);
    const there = found.getElementById(id);
    if (!here || !there) continue;
    const focused = here.contains(document.activeElement) ? place(here, document.activeElement) : null;
    const opened = new Set(Array.from(here.querySelectorAll("details[open] > summary .names"), (each) => each.textContent));
    const scripted = document.adoptNode(there);
    for (const names of scripted.querySelectorAll("summary .names")) {
      if (opened.has(names.textContent)) names.closest("details").open = true;
    }
    here.replaceWith(scripted);
    if (focused) scripted.querySelectorAll("button, a, summary, input")[focused]?.focus();
  }
  return found;
};

const place = (root, element) => Array.from(root.querySelectorAll("button, a, summary, input")).indexOf(element);

const here = () => location.pathname + location.search;

let waiting = 0;
const set = (value) => {
  const threshold = Number(shown(value));
  find("#threshold").value = threshold;
  find('output[for="threshold"]').textContent = shown(threshold);
  moveLine(threshold);
  score(threshold);
  keep({ threshold: shown(threshold) });
  clearTimeout(waiting);
  waiting = setTimeout(() => take(here(), ["pairs"]), 250);
};

document.addEventListener("input", (event) => {
  if (event.target.id === "threshold") set(event.target.value);
});

document.addEventListener("submit", async (event) => {
  if (event.target.matches("[data-threshold-form]")) {
    event.preventDefault();
    return;
  }
  if (!event.target.matches("form.mark") || !event.submitter) return;
  event.preventDefault();
  const form = new URLSearchParams(new FormData(event.target, event.submitter));
  form.set("back", here());
  await take("/collection/marks", ["pairs", "marks"], { method: "POST", body: form });
  const count = find("[data-marks-count]");
  const marks = (find("#marks")?.dataset.marks ?? "").split(" ").filter(Boolean);
  if (count) count.textContent = grouped(marks.length);
});

let isHeld = false;
const follow = (event) => {
  const chart = find("svg.survey");
  const box = chart.getBoundingClientRect();
  const scale = chart.viewBox.baseVal.width / box.width;
  const { left, right, first, steps } = chart.dataset;
  const at = ((event.clientX - box.left) * scale - left) / (right - left);
  const low = first / steps;
  set(low + Math.min(Math.max(at, 0), 1) * (1 - low));
};
document.addEventListener("pointerdown", (event) => {
  isHeld = event.target.id === "threshold";
  const chart = event.target.closest?.("svg.survey");
  if (!chart) return;
  chart.setPointerCapture(event.pointerId);
  isHeld = true;
  follow(event);
});
for (const name of ["pointerup", "pointercancel"]) {
  document.addEventListener(name, () => {
    isHeld = false;
  });
}
document.addEventListener("pointermove", (event) => {
  const chart = find("svg.survey");
  if (chart?.hasPointerCapture(event.pointerId)) follow(event);
});

// ---- polling ----

const unfinished = () => find("#survey")?.dataset.finished === "false" || find("#groups [role=status]");
let turns = 0;
const again = async () => {
  // Stop after 60 times; the next visit continues.
  if (!unfinished() || turns > 60) return;
  turns += 1;
  // Do not replace the slider while it is dragged.
  if (!isHeld) await take(here(), ["survey", "pairs", "groups"]);
  setTimeout(again, 1500);
};
if (unfinished()) setTimeout(again, 1000);
