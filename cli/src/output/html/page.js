"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const body = document.getElementById("page");

function add(parent, tag, text, className) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  parent.append(element);
  return element;
}

const hours = 730;
const dollars = (micros, digits = 4) =>
  (micros < 0 ? "−$" : "$") + (Math.abs(micros) / 1e6).toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
const monthly = (micros) => dollars(micros * hours, 0);

// Amounts are thousandths of cores and bytes as Kubernetes counts them.
function amount(resource, value) {
  if (resource === "cpu") return (value / 1000).toLocaleString("en", { maximumFractionDigits: 2 }) + " cores";
  if (resource === "memory" || resource === "ephemeral-storage" || resource.startsWith("hugepages-")) {
    return (value / 2 ** 30).toLocaleString("en", { maximumFractionDigits: 2 }) + " GiB";
  }
  return value.toLocaleString("en");
}

// Pods of one workload share a colour, in any of the charts.
function workload(pod) {
  return pod.replace(/-[a-z0-9]{4,10}-[a-z0-9]{5}$/, "").replace(/-\d+$/, "");
}
function colour(pod) {
  let hash = 7;
  for (const c of workload(pod)) hash = (hash * 31 + c.charCodeAt(0)) >>> 0;
  return `hsl(${hash % 360} ${45 + (hash >>> 9) % 30}% ${48 + (hash >>> 16) % 14}%)`;
}

const tip = document.getElementById("tip");
function point(event, text) {
  tip.textContent = text;
  tip.style.display = "block";
  tip.style.left = Math.min(event.clientX + 12, innerWidth - tip.offsetWidth - 8) + "px";
  tip.style.top = event.clientY + 16 + "px";
}

// One element a bar: its pods are stops of a gradient, so that a thousand
// nodes stay quick.
function bar(parent, node, resource) {
  const capacity = node.capacity[resource];
  if (!capacity) return;
  const parts = [];
  const system = node.system[resource] || 0;
  if (system > 0) parts.push(["DaemonSets", system, "var(--system)"]);
  for (const pod of node.pods) {
    const request = data.pods[pod].requests[resource] || 0;
    if (request > 0) parts.push([data.pods[pod].name, request, colour(data.pods[pod].name)]);
  }
  let at = 0;
  const stops = [];
  for (const part of parts) {
    const from = (100 * at) / capacity;
    at += part[1];
    const to = (100 * at) / capacity;
    // A hair of ground between pods keeps equal neighbours apart.
    stops.push(`${part[2]} ${from}% calc(${to}% - 1px)`, `var(--ground) calc(${to}% - 1px) ${to}%`);
  }
  const row = add(parent, "div", undefined, "bar");
  add(row, "span", resource.replace("nvidia.com/", ""));
  const strip = add(row, "i");
  if (stops.length > 0) strip.style.background = `linear-gradient(to right, ${stops.join(",")}, var(--free) ${(100 * at) / capacity}%)`;
  add(row, "b", Math.round((100 * at) / capacity) + " %");
  strip.addEventListener("mousemove", (event) => {
    const box = strip.getBoundingClientRect();
    let left = (capacity * (event.clientX - box.left)) / box.width;
    for (const part of parts) {
      left -= part[1];
      if (left < 0) return point(event, `${part[0]}: ${amount(resource, part[1])}`);
    }
    point(event, `free: ${amount(resource, capacity - at)} of ${amount(resource, capacity)}`);
  });
  strip.addEventListener("mouseleave", () => (tip.style.display = "none"));
}

function draw(parent, nodes) {
  const grid = add(parent, "div", undefined, "nodes");
  for (const node of nodes) {
    const card = add(grid, "div", undefined, "node " + node.state);
    const head = add(card, "header");
    add(head, "span", node.name).title = node.name;
    add(head, "span", dollars(node.price));
    add(card, "div", `${node.state} · ${node.instance_type} · ${node.zone} · ${node.capacity_type} · ${node.pods.length} pods`, "soft");
    for (const resource of data.resources) bar(card, node, resource);
  }
}

function table(parent, title, columns, rows) {
  if (rows.length === 0) return;
  add(parent, "h2", `${title} (${rows.length.toLocaleString("en")})`);
  const search = add(parent, "input");
  search.type = "search";
  search.placeholder = "Search";
  search.setAttribute("aria-label", `Search ${title}`);
  const scroll = add(parent, "div", undefined, "scroll");
  const element = add(scroll, "table");
  const head = add(add(element, "thead"), "tr");
  const lines = add(element, "tbody");
  let order = [-1, 1];
  const text = (value) => (Array.isArray(value) ? value.join("; ") : String(value));
  // Rows come in portions: a table of fifty thousand pods opens at once.
  let shown = 400;
  function fill() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let found = rows.filter((row) => words.every((w) => row.some((v) => text(v).toLowerCase().includes(w))));
    if (order[0] >= 0) {
      const [c, sign] = order;
      found = found.slice().sort((a, b) => sign * (typeof a[c] === "number" ? a[c] - b[c] : text(a[c]).localeCompare(text(b[c]), "en", { numeric: true })));
    }
    lines.replaceChildren();
    for (const row of found.slice(0, shown)) {
      const line = add(lines, "tr");
      row.forEach((value, i) => {
        const cell = add(line, "td", columns[i][1] ? columns[i][1](value) : text(value));
        if (typeof value === "number") cell.className = "number";
      });
    }
    if (found.length > shown) {
      const cell = add(add(lines, "tr"), "td", `${found.length - shown} more rows: show them`);
      cell.colSpan = columns.length;
      cell.style.cursor = "pointer";
      cell.addEventListener("click", () => { shown = Infinity; fill(); });
    }
  }
  columns.forEach(([name], i) => {
    const cell = add(head, "th", name);
    if (typeof rows[0][i] === "number") cell.className = "number";
    cell.addEventListener("click", () => { order = [i, order[0] === i ? -order[1] : 1]; fill(); });
  });
  search.addEventListener("input", fill);
  addEventListener("beforeprint", () => { shown = Infinity; fill(); });
  fill();
}

add(body, "h1", data.title);
add(body, "p", data.subtitle);
const tiles = add(body, "div", undefined, "tiles");
for (const tile of data.tiles) {
  const box = add(tiles, "div", undefined, "tile");
  add(box, "b", tile.value);
  add(box, "span", tile.label);
}

if (data.bridge.length > 0) {
  add(body, "h2", "Cost per hour");
  const most = Math.max(...data.bridge.map((step) => Math.max(step.from, step.to)), 1);
  for (const step of data.bridge) {
    const way = step.total ? "" : step.to < step.from ? " down" : " up";
    const row = add(body, "div", undefined, "step" + way);
    add(row, "span", step.label);
    const strip = add(add(row, "div"), "i");
    const low = step.total ? 0 : Math.min(step.from, step.to);
    const high = Math.max(step.from, step.to);
    strip.style.marginLeft = (100 * low) / most + "%";
    strip.style.width = Math.max((100 * (high - low)) / most, 0.2) + "%";
    add(row, "b", step.total ? dollars(step.to) : (step.to > step.from ? "+" : "") + dollars(step.to - step.from));
  }
}

const sides = add(body, "div", undefined, data.before.length > 0 && data.after.length > 0 ? "sides" : "");
for (const [title, nodes] of [["Now", data.before], [data.after_title, data.after]]) {
  if (nodes.length === 0) continue;
  const side = add(sides, "section");
  const total = nodes.reduce((sum, node) => sum + node.price, 0);
  add(side, "h2", `${title}: ${nodes.length.toLocaleString("en")} nodes, ${dollars(total)} per hour, ${monthly(total)} per month`);
  draw(side, nodes);
}

table(body, "Waves", [["Wave"], ["Removed"], ["Added"], ["Pods moved"], ["Cost after", dollars], ["Bound", dollars]],
  data.waves.map((wave, i) => [i + 1, wave.removed, wave.added, wave.moved, wave.cost, wave.bound]));
table(body, "Moves", [["Pod"], ["From"], ["To"]], data.moves);
table(body, "Nodes that stay", [["Node"], ["Why"]], data.blocked);
table(body, "Without a place", [["Pod"], ["Why"]], data.unscheduled);
const where = [];
for (const node of data.after) for (const pod of node.pods) where.push([data.pods[pod].name, node.name, node.instance_type, node.zone,
  ...data.resources.map((r) => amount(r, data.pods[pod].requests[r] || 0))]);
table(body, "Pods", [["Pod"], ["Node"], ["Type"], ["Zone"], ...data.resources.map((r) => [r])], where);
table(body, "Warnings", [["Warning"]], data.warnings.map((w) => [w]));
