// The address of the page holds all that was chosen, and so do the links that lead back to it.

/** Puts parameters into the address, the switches and the link to the page as JSON. */
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

/** The parameters of the address, with those of one form in the place of what it had before. */
export function withForm(form, own, submitter) {
  const search = new URLSearchParams(location.search);
  for (const name of own) search.delete(name);
  for (const [name, value] of new FormData(form, submitter)) {
    if (own.includes(name)) search.append(name, value);
  }
  return search;
}
