// A link to a passage (#l3, #r3) scrolls both sides to it and highlights it.

const show = () => {
  const badge = /^#[lr]\d+$/.test(location.hash) && document.querySelector(location.hash);
  if (!badge) return;
  const other = document.querySelector(location.hash.replace(/^#./, location.hash[1] === "l" ? "#r" : "#l"));
  for (const each of [other, badge]) {
    const pane = each?.closest(".text");
    if (pane) pane.scrollTop += each.getBoundingClientRect().top - pane.getBoundingClientRect().top - pane.clientHeight / 3;
  }
  for (const mark of document.querySelectorAll("mark[data-k]")) {
    mark.classList.toggle("flash", mark.dataset.k.split(" ").includes(badge.dataset.n));
  }
  badge.scrollIntoView({ block: "nearest" });
  badge.focus({ preventScroll: true });
};

addEventListener("hashchange", show);
if (document.readyState === "complete") show();
else addEventListener("load", show);
