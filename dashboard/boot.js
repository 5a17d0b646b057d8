// Applies theme and density before the first paint, so that a dark page does not flash. The keys match src/prefs.rs.
let signedIn = false;
try {
  const theme = localStorage.getItem("dlo.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  if (localStorage.getItem("dlo.dense") === "yes") document.documentElement.dataset.dense = "";
  signedIn = sessionStorage.getItem("dlo.token") !== null;
} catch {
  // Storage is blocked: keep the system's theme.
}
// Fetches the part of the program that this page needs beside the first part, and not after it. The choice matches
// src/lazy.rs; a wrong one costs time only. Releases name each part's files in a <meta>.
const path = location.pathname;
const part = !signedIn || path === "/signin" ? "sign_in" : /^\/(groups\/.|replays|policy)/.test(path) ? "work" : "none";
for (const href of document.querySelector(`meta[name="part:${part}"]`)?.content.split(" ") ?? []) {
  const link = document.createElement("link");
  const kind = href.endsWith(".css") ? { as: "style" } : { as: "fetch", crossOrigin: "anonymous" };
  document.head.append(Object.assign(link, { rel: "preload", href, ...kind }));
}
