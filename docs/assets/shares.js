// The picture of the landing page: who is shown how often, when one takes all and when merit decides.
"use strict";

const MEANS = { news: 0.75, film: 0.7, music: 0.6, sport: 0.45, chess: 0.3 };

// exp(c m) / sum of exp(c m): relative to the largest, as fairx.fair_probabilities does, nothing overflows.
function fairShares(means, steepness) {
  const best = Math.max(...means);
  const merits = means.map((mean) => Math.exp(steepness * (mean - best)));
  const total = merits.reduce((sum, merit) => sum + merit, 0);
  return merits.map((merit) => merit / total);
}

function bar(kind) {
  const cell = document.createElement("td");
  cell.className = kind;
  cell.innerHTML = '<span class="track"><span class="fill"></span></span><span class="value"></span>';
  return cell;
}

function show(cell, share) {
  cell.querySelector(".fill").style.width = `${100 * share}%`;
  cell.querySelector(".value").textContent = `${(100 * share).toFixed(1)} %`;
}

function row(name, mean) {
  const line = document.createElement("tr");
  line.innerHTML = `<th scope="row">${name}</th><td class="mean">${mean.toFixed(2)}</td>`;
  line.append(bar("winner"), bar("fair"));
  return line;
}

function draw(box) {
  const means = Object.values(MEANS);
  box.innerHTML =
    '<label>Steepness of the merit, c = <output></output>' +
    '<input type="range" min="0" max="20" step="0.5" value="4"></label>' +
    '<table class="plain"><thead><tr><th scope="col">arm</th><th scope="col">mean</th>' +
    '<th scope="col">winner takes all</th><th scope="col">in proportion to merit</th></tr></thead>' +
    "<tbody></tbody></table>";
  const slider = box.querySelector("input");
  const rows = Object.entries(MEANS).map(([name, mean]) => row(name, mean));
  box.querySelector("tbody").append(...rows);
  const update = () => {
    const steepness = Number(slider.value);
    const fair = fairShares(means, steepness);
    box.querySelector("output").textContent = steepness;
    slider.setAttribute("aria-valuetext", `c = ${steepness}, the best arm gets ${(100 * fair[0]).toFixed(1)} %`);
    rows.forEach((line, arm) => {
      show(line.querySelector(".winner"), means[arm] === Math.max(...means) ? 1 : 0);
      show(line.querySelector(".fair"), fair[arm]);
    });
  };
  slider.addEventListener("input", update);
  update();
}

document.querySelectorAll(".shares").forEach(draw);
