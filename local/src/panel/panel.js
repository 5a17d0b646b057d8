// The control panel's page: refreshes the state every two seconds while visible, and posts a request per button.
"use strict";

const byId = (id) => document.getElementById(id);
const PERIOD_MS = 2000;
let timer = 0;
let round = 0;
let seenAtMs = 0;

const NOTES = {
  v1: "fails on gift cards",
  v2: "engraved cards still fail",
  v3: "handles all gift cards",
};

function put(id, text) {
  const node = byId(id);
  if (node.textContent !== text) node.textContent = text;
}

// Shows a state by shape, word and colour, never by colour alone.
function chip(id, tone, text) {
  const node = byId(id);
  const sign = { ok: "✓ ", warn: "◆ ", danger: "▲ " }[tone];
  if (node.textContent === sign + text) return;
  const span = document.createElement("span");
  span.className = "chip " + tone;
  span.textContent = sign + text;
  node.replaceChildren(span);
}

function flip(id, body, title, note) {
  const button = byId(id);
  button.dataset.body = JSON.stringify(body);
  const [name, description] = button.children;
  if (name.textContent !== title) name.textContent = title;
  if (description.textContent !== note) description.textContent = note;
}

const number = (n) => n.toLocaleString("en-US");
const depth = (d) => (d ? number(d.visible_count + d.in_flight_count) : "no answer");

function show(state) {
  seenAtMs = Date.now();
  put("version", state.version);
  put("version-note", NOTES[state.version] ?? "");
  chip("payments", state.payments_up ? "ok" : "danger", state.payments_up ? "up" : "down");
  chip("product", state.product_added ? "ok" : "warn", state.product_added ? "added" : "missing");
  const paused = state.allowance_count === 0 ? "paused: order limit reached" : "paused";
  if (state.orders_per_s === 0) chip("producer", "warn", "off");
  else chip("producer", state.producing ? "ok" : "warn", state.producing ? "running" : paused);
  put("placed", number(state.placed_count));
  put("handled", number(state.handled_count));
  put("retried", number(state.retried_count));
  put("dead", number(state.dead_count));
  put("main-depth", depth(state.main));
  put("dlq-depth", depth(state.dlq));
  for (const button of document.querySelectorAll("[data-version]")) {
    button.setAttribute("aria-current", String(button.dataset.version === state.version));
  }
  if (state.payments_up) flip("payments-switch", { up: false }, "Take payments down", "calls will time out");
  else flip("payments-switch", { up: true }, "Bring payments up", "retries will succeed again");
  if (state.product_added) flip("product-switch", { added: false }, "Remove the product", "its orders fail again");
  else flip("product-switch", { added: true }, "Add the missing product", "on sale, but not in the catalogue");
  if (state.producing) flip("producer-switch", { running: false }, "Pause the producer", "only your own orders");
  else flip("producer-switch", { running: true }, "Resume the producer", "a few orders per second");
  byId("fault").hidden = true;
  put("fresh", "live");
}

function fail(message) {
  const fault = byId("fault");
  if (fault.textContent !== message) fault.textContent = message;
  fault.hidden = false;
  const age = seenAtMs ? Math.round((Date.now() - seenAtMs) / 1000) : 0;
  put("fresh", seenAtMs ? `${age} s old` : "not loaded yet");
}

async function call(path, options) {
  let response;
  try {
    response = await fetch("/panel/" + path, { cache: "no-store", ...options });
  } catch {
    throw new Error("The demo does not answer. Is dlo still running?");
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Error(answer.message ?? `Unexpected response (${response.status}). Try again, or reload.`);
  return answer;
}

// Ignores a response that a newer one has overtaken.
async function refresh() {
  clearTimeout(timer);
  const mine = ++round;
  try {
    const state = await call("state");
    if (mine === round) show(state);
  } catch (error) {
    if (mine === round) fail(error.message);
  }
  if (mine === round && !document.hidden) timer = setTimeout(refresh, PERIOD_MS);
}

let toastTimer = 0;
function toast(text) {
  clearTimeout(toastTimer);
  put("toast", text);
  toastTimer = setTimeout(() => put("toast", ""), 4000);
}

async function press(button) {
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  const title = button.firstElementChild.textContent;
  try {
    const options = { method: "POST", headers: { "Content-Type": "application/json" }, body: button.dataset.body };
    const state = await call(button.dataset.post, options);
    round++;
    show(state);
    toast(`Done: ${title}`);
  } catch (error) {
    fail(error.message);
  }
  button.removeAttribute("aria-busy");
  clearTimeout(timer);
  timer = setTimeout(refresh, PERIOD_MS);
}

for (const button of document.querySelectorAll("[data-post]")) {
  button.addEventListener("click", () => press(button));
}
document.addEventListener("visibilitychange", () => (document.hidden ? clearTimeout(timer) : refresh()));
refresh();
