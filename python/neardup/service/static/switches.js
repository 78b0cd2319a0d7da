// The switch of colours works without a new page, and every page knows that scripts run.

const root = document.documentElement;
root.classList.add("scripted");

export const language = root.lang.startsWith("zh") ? "zh" : "en";

const changed = (address, changes) => {
  for (const [name, value] of Object.entries(changes)) {
    address.searchParams.delete(name);
    for (const each of [value].flat()) {
      if (each !== null && each !== "") address.searchParams.append(name, each);
    }
  }
  return address;
};

/** Changes parameters of the address without a new page: null leaves one out, an array repeats it. */
export function keep(changes) {
  history.replaceState(history.state, "", changed(new URL(location.href), changes));
  for (const link of document.querySelectorAll("header .switches a, footer a[data-json-link]")) {
    const found = changed(new URL(link.href), changes);
    link.href = found.pathname + found.search;
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
