// Fetches the page again every few seconds and changes what differs, so that focus, scrolling and
// what is unfolded stay. Without this script the page is the same, as of when it was loaded.
const main = document.querySelector("main[data-moves]");
const panel = document.querySelector(".moving");

if (main && panel) {
  const [status, button] = panel.children;
  let paused = false;
  const say = words => { if (status.textContent !== words) status.textContent = words; };

  const update = (old, next) => {
    if (old.nodeName !== next.nodeName) return void old.replaceWith(document.importNode(next, true));
    if (old.nodeType === Node.TEXT_NODE) return void (old.data !== next.data && (old.data = next.data));
    if (old.nodeType !== Node.ELEMENT_NODE) return;
    for (const { name } of [...old.attributes]) if (name !== "open" && !next.hasAttribute(name)) old.removeAttribute(name);
    for (const { name, value } of next.attributes) if (old.getAttribute(name) !== value) old.setAttribute(name, value);
    while (old.childNodes.length > next.childNodes.length) old.lastChild.remove();
    [...next.childNodes].forEach((child, i) => {
      if (i < old.childNodes.length) update(old.childNodes[i], child);
      else old.append(document.importNode(child, true));
    });
  };

  const refresh = async () => {
    if (paused || document.hidden) return;
    try {
      const response = await fetch(location.href, { cache: "no-store" });
      if (!response.ok) throw new Error(`the service answered ${response.status}`);
      const next = new DOMParser().parseFromString(await response.text(), "text/html").querySelector("main");
      if (paused) return;
      // Rows change places: the focus goes with the link, not with the place.
      const link = main.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
      update(main, next);
      if (link && document.activeElement.getAttribute("href") !== link)
        [...main.querySelectorAll("a[href]")].find(one => one.getAttribute("href") === link)?.focus({ preventScroll: true });
      say("Moving");
    } catch (error) {
      say(`Not up to date: ${error.message}`);
    }
  };

  button.addEventListener("click", () => {
    paused = !paused;
    button.textContent = paused ? "Go on" : "Pause";
    say(paused ? "Paused" : "Moving");
    refresh();
  });
  const again = async () => { await refresh(); setTimeout(again, 1000 * Number(main.dataset.moves)); };
  document.addEventListener("visibilitychange", refresh);
  panel.hidden = false;
  say("Moving");
  setTimeout(again, 1000 * Number(main.dataset.moves));
}
