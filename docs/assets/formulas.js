// Set formulas with KaTeX, which is loaded only by pages that have some.
"use strict";

{
  const found = document.querySelectorAll(".arithmatex");
  const folder = new URL("../vendored/katex/", document.currentScript.src);
  const load = (tag, settings) => document.head.append(Object.assign(document.createElement(tag), settings));
  // pymdownx.arithmatex leaves \(...\) in a line and \[...\] in a block.
  const set = (box) => {
    const text = box.textContent.trim();
    const displayMode = text.startsWith("\\[");
    katex.render(text.slice(2, -2), box, { displayMode, throwOnError: true, strict: "error" });
  };
  if (found.length) {
    load("link", { rel: "stylesheet", href: new URL("katex.min.css", folder) });
    load("script", { src: new URL("katex.min.js", folder), onload: () => found.forEach(set) });
  }
}
