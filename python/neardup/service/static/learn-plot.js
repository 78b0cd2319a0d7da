// Two charts of edited copies, distance and recall: the model, the measured values, and the user's
// own text.

import { keep } from "./learn-address.js";
import { percentSign } from "./switches.js";

const SVG = "http://www.w3.org/2000/svg";
const HIGH = 310;
const LEFT = 52;
const RIGHT = 24;
const TOP = 28;
const BOTTOM = 46;
const MOST = 0.3;

const box = document.getElementById("plot");
const phrases = box ? JSON.parse(box.dataset.phrases) : {};
const models = new Map();
// Drawn at the width it is shown, so that text keeps its size; on a phone the charts are stacked.
let wide = 560;
let own = null;
let seed = 0;

const say = (name, values) =>
  phrases[name].replace(/\{(\w+)\}/g, (whole, key) => values?.[key] ?? whole);
const input = (id) => document.getElementById(id);
const chosen = () => ({
  bits: Number(input("pbits").value),
  radius: Number(input("r").value),
  share: Number(input("p").value) / 100,
});

async function model(bits) {
  if (!models.has(bits)) {
    const answer = await fetch(`/learn/model.json?bits=${bits}`);
    if (!answer.ok) throw new Error(phrases["own.failed"]);
    models.set(bits, await answer.json());
  }
  return models.get(bits);
}

function element(name, attributes, text) {
  const found = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) found.setAttribute(key, value);
  if (text !== undefined) found.textContent = text;
  return found;
}

const across = (share) => LEFT + (share / MOST) * (wide - LEFT - RIGHT);
const upTo = (most) => (value) => HIGH - BOTTOM - (Math.min(value, most) / most) * (HIGH - TOP - BOTTOM);
const line = (points) => points.map(([x, y]) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ");

/** Returns an empty chart with its axes; `ticks` are values and labels of the vertical axis. */
function chart(title, ticks, up, name) {
  const svg = element("svg", { viewBox: `0 0 ${wide} ${HIGH}`, role: "img", "aria-label": title });
  for (const [value, label] of ticks) {
    const y = up(value);
    svg.append(element("line", { class: "grid", x1: LEFT, x2: wide - RIGHT, y1: y, y2: y }));
    svg.append(element("text", { x: LEFT - 8, y: y + 4, "text-anchor": "end" }, label));
  }
  for (const share of wide < 450 ? [0, 0.1, 0.2, 0.3] : [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3]) {
    const at = { x: across(share), y: HIGH - BOTTOM + 18, "text-anchor": "middle" };
    svg.append(element("text", at, `${Math.round(share * 100)}${percentSign}`));
  }
  const middle = (LEFT + wide - RIGHT) / 2;
  svg.append(element("text", { class: "axis", x: middle, y: HIGH - 8, "text-anchor": "middle" },
    say("radius.axis_share")));
  svg.append(element("text", { class: "axis", x: LEFT, y: TOP - 14 }, name));
  return svg;
}

function marker(svg, share) {
  const x = across(share);
  svg.append(element("line", { class: "here", x1: x, x2: x, y1: TOP, y2: HIGH - BOTTOM }));
}

function distances({ points }, { bits, radius, share }) {
  const tops = own?.bits === bits ? own.points.map((p) => p.mean + p.deviation) : [];
  const most = Math.max(points.at(-1).expected + points.at(-1).deviation, radius + 1, 1, ...tops);
  const up = upTo(most);
  const step = [1, 2, 5, 10, 20].find((each) => most / each <= 7) ?? 40;
  const ticks = [];
  for (let value = 0; value <= most; value += step) ticks.push([value, String(value)]);
  const svg = chart(say("radius.chart_distance"), ticks, up, say("radius.axis_distance"));
  const upper = points.map((p) => [across(p.share), up(p.expected + p.deviation)]);
  const lower = points.map((p) => [across(p.share), up(Math.max(p.expected - p.deviation, 0))]);
  svg.append(element("polygon", { class: "band", points: line([...upper, ...lower.reverse()]) }));
  svg.append(element("polyline", {
    class: "curve", points: line(points.map((p) => [across(p.share), up(p.expected)])),
  }));
  if (own?.bits === bits) {
    for (const p of own.points) {
      const x = across(p.share);
      svg.append(element("line", {
        class: "spread", x1: x, x2: x,
        y1: up(p.mean + p.deviation), y2: up(Math.max(p.mean - p.deviation, 0)),
      }));
      svg.append(square(x, up(p.mean)));
    }
  }
  const y = up(radius);
  svg.append(element("line", { class: "threshold", x1: LEFT, x2: wide - RIGHT, y1: y, y2: y }));
  // On the side away from the curve.
  const left = radius > points.at(-1).expected / 2;
  svg.append(element("text", {
    class: "threshold", x: left ? LEFT + 6 : wide - RIGHT, y: y - 5, "text-anchor": left ? "start" : "end",
  }, say("radius.line", { radius })));
  marker(svg, share);
  return svg;
}

function found({ points, measured, measured_bits: fixed }, { bits, radius, share }) {
  const up = upTo(1);
  const ticks = [0, 0.25, 0.5, 0.75, 1].map((value) => [value, `${value * 100}${percentSign}`]);
  const svg = chart(say("radius.chart_recall"), ticks, up, say("radius.axis_recall"));
  svg.append(element("polyline", {
    class: "curve", points: line(points.map((p) => [across(p.share), up(within(p, radius))])),
  }));
  for (const [at, value] of (bits === fixed && measured[radius]) || []) {
    svg.append(element("circle", { class: "measured", cx: across(at), cy: up(value), r: 6 }));
  }
  if (own?.bits === bits) {
    for (const p of own.points) svg.append(square(across(p.share), up(near(p, radius))));
  }
  marker(svg, share);
  return svg;
}

const square = (x, y) => element("rect", { class: "own", x: x - 4.5, y: y - 4.5, width: 9, height: 9 });
const within = (point, radius) => point.within[Math.min(radius, point.within.length - 1)];
const near = (point, radius) =>
  point.distances.reduce((sum, [at, count]) => sum + (at <= radius ? count : 0), 0) / point.copies;

function legend({ bits, radius }, { measured, measured_bits: fixed }) {
  const keys = [["curve", "model"]];
  if (bits === fixed && measured[radius]) keys.push(["measured", "measured"]);
  if (own?.bits === bits) keys.push(["own", "own"]);
  const list = document.createElement("p");
  list.className = "note legend";
  for (const [kind, name] of keys) {
    const each = document.createElement("span");
    const sign = element("svg", { viewBox: "0 0 22 12", width: 22, height: 12, "aria-hidden": "true" });
    if (kind === "curve") sign.append(element("line", { class: "curve", x1: 1, x2: 21, y1: 6, y2: 6 }));
    else if (kind === "own") sign.append(square(11, 6));
    else sign.append(element("circle", { class: "measured", cx: 11, cy: 6, r: 5 }));
    each.append(sign, ` ${say(`radius.key_${name}`)}`);
    list.append(each);
  }
  return list;
}

async function draw() {
  const now = chosen();
  const said = input("plot-said");
  let known;
  try {
    known = await model(now.bits);
  } catch (error) {
    said.textContent = error.message;
    return;
  }
  if (now.bits !== chosen().bits) return; // The width was changed while the model was loading.
  wide = Math.max(300, Math.min(560, box.clientWidth));
  const figures = [distances, found].map((make) => {
    const figure = document.createElement("figure");
    figure.append(make(known, now));
    return figure;
  });
  box.replaceChildren(...figures);
  box.after(document.querySelector("#plot + .legend") ?? legend(now, known));
  document.querySelector("#plot + .legend").replaceWith(legend(now, known));
  const p = known.points.reduce((best, each) =>
    Math.abs(each.share - now.share) < Math.abs(best.share - now.share) ? each : best);
  const values = { ...now, share: percent(p.share, 1), cosine: p.cosine.toFixed(3) };
  values.expected = p.expected.toFixed(1);
  values.deviation = p.deviation.toFixed(1);
  values.within = percent(within(p, now.radius), 0);
  const exact = now.bits === known.measured_bits
    && known.measured[now.radius]?.find(([share]) => share === p.share);
  said.textContent = say("radius.at", values)
    + (exact ? box.dataset.gap + say("radius.at_measured", { within: percent(exact[1], 0) }) : "");
  tabulate(known, now);
  tellOwn(now);
}

/** Fills the table with the numbers of the charts. */
function tabulate(known, { bits, radius }) {
  const table = input("plot-table");
  table.querySelector("[data-within]").textContent = say("radius.col_within", { radius });
  for (const row of table.querySelectorAll("tr[data-share]")) {
    const share = Number(row.dataset.share);
    const p = known.points.find((each) => Math.abs(each.share - share) < 1e-9);
    const seen = bits === known.measured_bits
      && known.measured[radius]?.find(([at]) => Math.abs(at - share) < 1e-9);
    const said = [
      p.cosine.toFixed(3), `${p.expected.toFixed(1)} ± ${p.deviation.toFixed(1)}`,
      `${(100 * within(p, radius)).toFixed(0)}${percentSign}`, seen ? `${(100 * seen[1]).toFixed(0)}${percentSign}` : "–",
    ];
    row.querySelectorAll("td").forEach((cell, at) => { cell.textContent = said[at]; });
  }
}

function tellOwn(now) {
  if (own?.bits !== now.bits) {
    input("own-said").textContent = "";
    return;
  }
  const p = own.points.reduce((best, each) =>
    Math.abs(each.share - now.share) < Math.abs(best.share - now.share) ? each : best);
  input("own-said").textContent = say("own.done", {
    ...now, share: percent(p.share, 1), cosine: p.cosine.toFixed(3), mean: p.mean.toFixed(1),
    deviation: p.deviation.toFixed(1), within: percent(near(p, now.radius), 0), copies: p.copies,
  });
}

const percent = (share, digits) => String(Number((share * 100).toFixed(digits)));

function moved() {
  const { bits, radius, share } = chosen();
  input("r").max = Math.min(32, bits);
  document.querySelector("output[for='r']").textContent = input("r").value;
  document.querySelector("output[for='p']").textContent = `${percent(share, 1)}${percentSign}`;
  const search = new URLSearchParams(location.search);
  search.set("pbits", bits);
  search.set("r", Math.min(radius, bits));
  search.set("p", percent(share, 1));
  keep(search);
  draw();
}

async function edit(event) {
  event.preventDefault();
  const said = input("own-said");
  const { bits } = chosen();
  said.textContent = say("own.working");
  seed += 1;
  const mine = seed;
  try {
    const answer = await fetch("/learn/edits.json", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({
        text: input("own").value, recipe: input("own-recipe").value, bits, seed: mine,
      }),
    });
    const given = await answer.json();
    if (mine !== seed) return; // A later request replaced this one.
    if (!answer.ok) throw new Error(given.detail);
    own = given;
  } catch (error) {
    if (mine === seed) said.textContent = error.message || say("own.failed");
    return;
  }
  draw();
}

/** Draws the charts and follows the sliders. */
export function startPlot() {
  if (!box) return;
  for (const id of ["r", "p", "pbits"]) input(id).addEventListener("input", moved);
  input("plot-form").addEventListener("submit", (event) => event.preventDefault());
  input("own-form").addEventListener("submit", edit);
  addEventListener("resize", () => {
    if (Math.max(300, Math.min(560, box.clientWidth)) !== wide) draw();
  });
  draw();
}
