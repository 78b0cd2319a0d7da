// The switch of colours works without a new page, and every page knows that scripts run.

const root = document.documentElement;
root.classList.add("scripted");

export const language = root.lang.startsWith("zh") ? "zh" : "en";

/** Changes parameters of the address without a new page; null leaves one out. */
export function keep(changes) {
  const address = new URL(location.href);
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === "") address.searchParams.delete(name);
    else address.searchParams.set(name, value);
  }
  history.replaceState(history.state, "", address);
  for (const link of document.querySelectorAll("header .switches a")) {
    const chosen = new URL(link.href);
    for (const [name, value] of Object.entries(changes)) {
      if (value === null || value === "") chosen.searchParams.delete(name);
      else chosen.searchParams.set(name, value);
    }
    link.href = chosen.pathname + chosen.search;
  }
}

for (const link of document.querySelectorAll("[data-choose-theme]")) {
  link.addEventListener("click", (event) => {
    event.preventDefault();
    const chosen = link.dataset.chooseTheme;
    root.dataset.theme = chosen;
    document.cookie = `theme=${chosen}; path=/; max-age=31536000; samesite=lax`;
    for (const each of document.querySelectorAll("[data-choose-theme]")) {
      if (each === link) each.setAttribute("aria-current", "true");
      else each.removeAttribute("aria-current");
    }
    if (new URL(location.href).searchParams.has("theme")) keep({ theme: null });
  });
}
