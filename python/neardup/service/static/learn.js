// The page Learn: sends the forms to the service and replaces the sections that change. It computes
// nothing, so the page is the same without scripts.

import { keep, withForm } from "./learn-address.js";
import { startPlot } from "./learn-plot.js";

const WORDS = ["as", "a", "b", "recipe", "bits", "t", "w", "h"];
const OWN = {
  "words-form": WORDS,
  "weights-form": WORDS,
  "blocks-form": ["stored", "query", "k", "levels", "flip"],
  "exercise-form": ["e", "s", "f", "d", "check"],
};
const SAID = { steps: "#change-said", blocks: "#blocks-said", exercise: "#exercise-said" };
const PAUSE = 250;

const status = document.getElementById("said");
let asking = null;
let waiting = 0;

async function show(form, submitter) {
  clearTimeout(waiting);
  asking?.abort();
  asking = new AbortController();
  const long = tooLong(form);
  if (long) return complain(form, long);
  const search = withForm(form, OWN[form.id], submitter);
  let found;
  try {
    const answer = await fetch(`/learn?${search}`, { signal: asking.signal });
    found = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch (error) {
    // An aborted request was replaced by a newer one; any other error means the service is gone.
    if (error.name !== "AbortError") complain(form, status.dataset.failed);
    return;
  }
  const sections = form.dataset.swap.split(" ");
  // Not the page Learn: the request was too large, or the rate limit was reached.
  if (!sections.every((id) => found.getElementById(id))) return complain(form, status.dataset.failed);
  const error = found.querySelector(`#${sections[0]} .error`);
  if (error && form.id === "weights-form") return complain(form, error.textContent);
  if (form.dataset.fill) fill(found);
  for (const id of sections) swap(id, found);
  const main = document.getElementById("words-form");
  keep(form.dataset.fill ? withForm(main, WORDS) : settled(search, found));
  const said = error ?? document.querySelector(SAID[sections[0]]);
  status.textContent = said?.textContent.trim() ?? "";
}

/** Returns the error for a text too long for an address; "" if all fit. */
function tooLong(form) {
  const kind = form.elements.as?.value ?? "text";
  for (const area of form.querySelectorAll("textarea")) {
    const most = Number(area.dataset[kind === "words" ? "mostWords" : "mostText"]);
    const count = [...area.value].length;
    if (count > most) {
      const values = { n: count.toLocaleString("en"), most: most.toLocaleString("en") };
      return status.dataset.tooLong.replace(/\{(\w+)\}/g, (_, name) => values[name]);
    }
  }
  return "";
}

/** Shows an error above the old result. */
function complain(form, said) {
  const section = document.getElementById(form.dataset.swap.split(" ")[0]);
  section.querySelector(".error")?.remove();
  const note = document.createElement("p");
  note.className = "error";
  note.setAttribute("role", "alert");
  note.textContent = said;
  section.querySelector("h2").after(note);
}

/** Returns the query of the address with a flipped bit as part of the fingerprint. */
function settled(search, found) {
  if (search.has("flip") && !found.querySelector("#blocks .error")) {
    search.delete("flip");
    search.set("query", found.getElementById("query").value);
  }
  return search;
}

/** Copies edited weights into the form of texts. */
function fill(found) {
  for (const id of ["a", "b"]) {
    document.getElementById(id).value = found.getElementById(id).value;
  }
  for (const choice of document.querySelectorAll("#words-form [name='as']")) {
    choice.checked = found.querySelector(`[name='as'][value='${choice.value}']`).checked;
  }
}

/** Replaces a section; focus, open details and scroll positions stay. */
function swap(id, found) {
  const old = document.getElementById(id);
  const fresh = document.importNode(found.getElementById(id), true);
  const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
  for (const part of old.querySelectorAll("details[open][id]")) {
    fresh.querySelector(`#${part.id}`)?.setAttribute("open", "");
  }
  const places = [...old.querySelectorAll(".scroll")].map((box) => box.scrollLeft);
  old.replaceWith(fresh);
  fresh.querySelectorAll(".scroll").forEach((box, at) => {
    box.scrollLeft = places[at] ?? 0;
  });
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

document.addEventListener("submit", (event) => {
  if (!(event.target.id in OWN)) return;
  event.preventDefault();
  show(event.target, event.submitter);
});

document.addEventListener("input", (event) => {
  const form = event.target.form;
  if (form?.id !== "words-form" || event.target.type === "radio") return;
  clearTimeout(waiting);
  waiting = setTimeout(() => show(form), PAUSE);
});

document.addEventListener("change", (event) => {
  const form = event.target.form;
  if (form?.id === "weights-form" || ["k", "levels"].includes(event.target.id)) show(form);
  if (event.target.name === "as" && event.target.type === "radio") turn(event.target.value);
});

/** Switches between text and words with weights, and converts the current input. */
function turn(kind) {
  const steps = document.getElementById("steps");
  if (kind === "words") {
    const weights = document.getElementById("weights-form");
    if (weights?.querySelector("[name='t']")) return show(weights);
  } else if ("first" in steps.dataset) {
    document.getElementById("a").value = steps.dataset.first;
    document.getElementById("b").value = steps.dataset.second;
  }
  return show(document.getElementById("words-form"));
}

startPlot();
