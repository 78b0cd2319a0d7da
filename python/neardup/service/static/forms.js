// Files can be dropped; a file over the limit is reported before it is sent.

for (const place of document.querySelectorAll("[data-drop]")) {
  const chooser = place.querySelector("input[type=file]");
  const said = place.querySelector("[data-chosen]");
  const text = place.querySelector("textarea");

  const tell = () => {
    const file = chooser.files[0];
    const isTooLarge = file !== undefined && file.size > Number(chooser.dataset.most);
    chooser.setCustomValidity(isTooLarge ? chooser.dataset.tooLarge : "");
    said.classList.toggle("wrong", isTooLarge);
    said.textContent = isTooLarge ? `${file.name}: ${chooser.dataset.tooLarge}` : "";
  };
  chooser.addEventListener("change", tell);
  // Typing after choosing a file replaces the file.
  text.addEventListener("input", () => {
    if (chooser.files.length && text.value.trim()) {
      chooser.value = "";
      tell();
    }
  });

  const isFile = (event) => Array.from(event.dataTransfer?.types ?? []).includes("Files");
  place.addEventListener("dragover", (event) => {
    if (!isFile(event)) return;
    event.preventDefault();
    place.classList.add("over");
  });
  place.addEventListener("dragleave", () => place.classList.remove("over"));
  place.addEventListener("drop", (event) => {
    place.classList.remove("over");
    if (!isFile(event)) return;
    event.preventDefault();
    chooser.files = event.dataTransfer.files;
    tell();
    chooser.focus();
  });
}

// A file dropped elsewhere must not replace the page.
for (const name of ["dragover", "drop"]) {
  addEventListener(name, (event) => {
    if (document.querySelector("[data-drop]") && !event.defaultPrevented) event.preventDefault();
  });
}
