"""How reports look: on a wide screen, a telephone, in the dark and on paper."""

STYLE = """
:root {
  color-scheme: light dark;
  --page: #f6f6f4; --card: #ffffff; --text: #1c2227; --muted: #56606a; --rule: #dcdfe2;
  --bar: #3f6f9f; --line: #a8430f; --shade: #f1f3f5;
  --ins: #d5f0dc; --ins-text: #0a4a20; --del: #fde0dc; --del-text: #7a1b13;
}
@media screen and (prefers-color-scheme: dark) {
  :root {
    --page: #121518; --card: #1a1e23; --text: #e4e8ec; --muted: #a3adb7; --rule: #333a42;
    --bar: #6c9fd2; --line: #f0a06c; --shade: #22272d;
    --ins: #173f28; --ins-text: #b9f2ca; --del: #4b211e; --del-text: #ffcbc4;
  }
}
@media print {
  :root { color-scheme: only light; --page: #ffffff; --shade: #f4f5f6; }
}
* { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; }
body {
  margin: 0; background: var(--page); color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif;
}
main { max-width: 76rem; margin: 0 auto; padding: 2rem 1.25rem 4rem; }
h1 { margin: 0 0 1.25rem; font-size: 1.75rem; line-height: 1.25; letter-spacing: -0.01em; }
h2 { margin: 0 0 0.75rem; font-size: 1.15rem; line-height: 1.3; }
h3 { display: inline; margin: 0; font-size: 1rem; }
section, .chart {
  margin: 0 0 1.25rem; padding: 1.25rem; min-width: 0;
  background: var(--card); border: 1px solid var(--rule); border-radius: 10px;
}
p { margin: 0 0 0.75rem; }
.note { color: var(--muted); font-size: 0.9rem; }
.code { padding: 0 0.15em; border-radius: 3px; background: var(--shade); color: var(--line);
  font-family: ui-monospace, Menlo, Consolas, monospace; font-size: 0.85em;
  direction: ltr; unicode-bidi: isolate; }
[dir="auto"] { unicode-bidi: isolate; }
bdi, td, dd { overflow-wrap: anywhere; }

.counts { display: grid; gap: 1px; margin: 0; overflow: hidden; border-radius: 8px;
  grid-template-columns: repeat(auto-fill, minmax(9.5rem, 1fr)); }
.counts div { display: flex; flex-direction: column-reverse; justify-content: flex-end;
  padding: 0.4rem 0.9rem 0.4rem 0; }
.counts dt { color: var(--muted); font-size: 0.875rem; }
.counts dd { margin: 0; font-size: 1.35rem; font-weight: 600; line-height: 1.3;
  font-variant-numeric: tabular-nums; }
.number { white-space: nowrap; }
.settings { display: grid; grid-template-columns: minmax(7rem, max-content) 1fr;
  gap: 0.3rem 1.5rem; margin: 0; }
.settings dt { color: var(--muted); overflow-wrap: anywhere; }
.settings dd { margin: 0; font-family: ui-monospace, Menlo, Consolas, monospace;
  font-size: 0.9rem; line-height: 1.65; }

.charts { display: grid; gap: 1.25rem; margin-bottom: 1.25rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
.charts .chart { margin: 0; }
svg { display: block; width: 100%; max-width: 38rem; height: auto; }
svg text { fill: var(--muted); font-size: 13px; font-variant-numeric: tabular-nums; }
svg .axis { fill: var(--text); }
svg .count { fill: var(--text); font-size: 11.5px; }
svg .bar { fill: var(--bar); }
svg .grid { stroke: var(--rule); stroke-width: 1; }
svg line.threshold { stroke: var(--line); stroke-width: 1.5; stroke-dasharray: 5 3; }
svg text.threshold { fill: var(--line); font-weight: 600; }

summary { cursor: pointer; }
.chart summary { margin-top: 0.5rem; color: var(--muted); font-size: 0.9rem; }
:focus-visible { outline: 2px solid var(--bar); outline-offset: 2px; border-radius: 3px; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: 0.5rem 0; font-size: 0.9rem;
  font-variant-numeric: tabular-nums; }
th, td { padding: 0.3rem 1.25rem 0.3rem 0; border-bottom: 1px solid var(--rule);
  text-align: start; vertical-align: top; }
th { color: var(--muted); font-weight: 600; }
table.n td, table.n th { text-align: end; padding-inline: 0 1.5rem; }

.cluster { border-top: 1px solid var(--rule); padding: 0.75rem 0; }
.cluster > summary { padding: 0.15rem 0; overflow-wrap: anywhere; }
.cluster > summary .facts { margin-inline-start: 0.4rem; }
.facts { color: var(--muted); font-size: 0.9rem; }
.pair { margin: 0.75rem 0 1.25rem; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 0.75rem; }
.side { min-width: 0; border: 1px solid var(--rule); border-radius: 8px; overflow: hidden; }
.head { padding: 0.45rem 0.8rem; background: var(--shade); border-bottom: 1px solid var(--rule);
  font-size: 0.9rem; line-height: 1.45; overflow: hidden; }
.head .id { display: block; font-weight: 600; }
.text { padding: 0.7rem 0.8rem; overflow: hidden; white-space: pre-wrap;
  overflow-wrap: anywhere; font-size: 0.94rem; line-height: 1.6; tab-size: 4; }
.side .note { margin: 0; padding: 0.7rem 0.8rem; }
.text + .note { padding-top: 0; }
ins, del { padding: 0.05em 0.1em; border-radius: 3px;
  -webkit-box-decoration-break: clone; box-decoration-break: clone;
  -webkit-print-color-adjust: exact; print-color-adjust: exact; }
ins { background: var(--ins); color: var(--ins-text); text-decoration: underline;
  text-decoration-thickness: 1px; text-underline-offset: 0.18em; }
del { background: var(--del); color: var(--del-text); text-decoration: line-through;
  text-decoration-thickness: 1px; }
.skip { display: block; margin: 0.4rem 0; color: var(--muted); font-size: 0.85rem;
  text-align: center; direction: ltr; unicode-bidi: isolate; }

@media (max-width: 40rem) {
  main { padding: 1.25rem 0.75rem 2.5rem; }
  section, .chart { padding: 1rem 0.85rem; }
  .sides { grid-template-columns: 1fr; gap: 0.5rem; }
  .settings { grid-template-columns: 1fr; gap: 0; }
  .settings dd { margin-bottom: 0.6rem; }
  .counts { grid-template-columns: repeat(auto-fill, minmax(8rem, 1fr)); }
  svg text { font-size: 14px; }
}
@media print {
  @page { margin: 16mm 14mm; }
  html { font-size: 12px; }
  main { max-width: none; padding: 0; }
  section, .chart { padding: 0; border: 0; margin-bottom: 1.5rem; }
  .charts { grid-template-columns: 1fr 1fr 1fr; }
  .chart details { display: none; }
  .sides { grid-template-columns: 1fr 1fr; }
  .bar, .head, .code { -webkit-print-color-adjust: exact; print-color-adjust: exact; }
  /* Closed parts are printed too, where the browser knows how. */
  details::details-content { content-visibility: visible; display: block; }
  /* Texts may break: whole pairs would leave half of many pages empty. */
  .chart, .head, tr, .counts div { break-inside: avoid; }
  .cluster > summary, .cluster > .note, .pair > .note, h2, .head { break-after: avoid; }
  .pair { margin: 0.5rem 0 0.9rem; }
  .side { -webkit-box-decoration-break: clone; box-decoration-break: clone; }
  .text { orphans: 3; widows: 3; }
}
"""
