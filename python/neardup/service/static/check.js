// Keeps the sources left out in the address, so that a link shows the same result, and announces the
// new share to screen readers.
import { keep } from "./switches.js";

const view = document.querySelector('[data-view="document"]');

const follow = () => {
  // After two frames page.js, which reports use too, has computed the shares.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const off = Array.from(view.querySelectorAll("input[data-source]:not(:checked)"), (box) => decodeURIComponent(box.dataset.id));
    keep({ off: off.filter(Boolean) });
    const said = view.querySelector("[data-said]");
    const share = view.querySelector('[data-figure="share"]');
    if (said && share) said.textContent = said.dataset.said.replace("{share}", share.textContent);
  }));
};

view?.addEventListener("input", (event) => {
  if (event.target.matches("[data-source]")) follow();
});
view?.addEventListener("click", (event) => {
  if (event.target.closest("button[data-choose]")) follow();
});
