// Copies a sample, and filters the reference. Without it the pages are whole, too.
for (const figure of document.querySelectorAll("figure.sample")) {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(figure.querySelector("code").textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  });
  // The clipboard is there on secure origins and on this machine alone.
  if (navigator.clipboard) figure.append(button);
}

const filter = document.querySelector("#filter");
if (filter) {
  filter.hidden = false;
  filter.addEventListener("input", () => {
    const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    for (const section of document.querySelectorAll(".content section")) {
      let shown = 0;
      for (const one of section.querySelectorAll("details")) {
        const text = one.querySelector("summary").textContent.toLowerCase();
        one.hidden = !words.every((word) => text.includes(word));
        shown += one.hidden ? 0 : 1;
      }
      section.hidden = words.length > 0 && shown === 0;
    }
  });
}

function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.tagName === "DETAILS") {
    target.open = true;
    target.scrollIntoView();
  }
}
addEventListener("hashchange", openTarget);
openTarget();
