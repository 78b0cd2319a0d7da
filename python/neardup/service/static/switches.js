// Switches the theme without loading the page again; marks the page as scripted for its styles.

const root = document.documentElement;
root.classList.add("scripted");

export const percentSign = root.lang.startsWith("zh") ? "%" : " %";

const changed = (address, changes) => {
  for (const [name, value] of Object.entries(changes)) {
    address.searchParams.delete(name);
    for (const each of [value].flat()) {
      if (each !== null && each !== "") address.searchParams.append(name, each);
    }
  }
  return address;
};

/** Changes query parameters without loading a page: null removes one, an array repeats it. */
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
