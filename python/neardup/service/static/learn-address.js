// Keeps all choices in the address of the page, and in the links to other versions of it.

/** Sets the query of the address, of the language and theme switches, and of the JSON link. */
export function keep(search) {
  const chosen = search.toString();
  history.replaceState(history.state, "", location.pathname + (chosen && `?${chosen}`) + location.hash);
  for (const link of document.querySelectorAll("header .switches a")) {
    const own = new URL(link.href).searchParams;
    const name = "chooseTheme" in link.dataset ? "theme" : "lang";
    const next = new URLSearchParams(chosen);
    next.set(name, own.get(name));
    link.href = `${location.pathname}?${next}`;
  }
  for (const link of document.querySelectorAll("footer a[href*='/learn.json']")) {
    link.href = `/learn.json?${chosen}`;
  }
}

/** Returns the query of the address with the current fields of one form. */
export function withForm(form, own, submitter) {
  const search = new URLSearchParams(location.search);
  for (const name of own) search.delete(name);
  for (const [name, value] of new FormData(form, submitter)) {
    if (own.includes(name)) search.append(name, value);
  }
  return search;
}
