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
const ofPath = /^\/(groups\/.|replays)/.test(path) ? "work" : path === "/policy" ? "policy" : "none";
const part = !signedIn || path === "/signin" ? "sign_in" : ofPath;
for (const href of document.querySelector(`meta[name="part:${part}"]`)?.content.split(" ") ?? []) {
  const link = document.createElement("link");
  const kind = href.endsWith(".css") ? { as: "style" } : { as: "fetch", crossOrigin: "anonymous" };
  document.head.append(Object.assign(link, { rel: "preload", href, ...kind }));
}
// A new tab asks the open tabs of this office who is signed in, and goes on as the person of the tab that was used last. Each tab
// keeps a token of its own in sessionStorage (docs/decisions/0068); the issuer's refresh token stays where it is, because
// issuers end a session whose refresh token is used twice.
try {
  const tabs = new BroadcastChannel("dlo.session");
  const mine = String(Math.random());
  let used = Date.now();
  let best = null;
  for (const input of ["pointerdown", "keydown"]) addEventListener(input, () => (used = Date.now()), true);
  tabs.onmessage = ({ data }) => {
    const token = sessionStorage.getItem("dlo.token");
    // The rail shows only while somebody is signed in, and not after a sign-out for lack of input.
    if (data.ask && token && document.querySelector(".rail")) {
      const me = sessionStorage.getItem("dlo.me");
      tabs.postMessage({ to: data.ask, token, me, used });
    }
    if (data.to === mine && data.used >= (best?.used ?? 0)) best = data;
  };
  // Somebody who has signed out in this tab stays signed out, whoever is signed in elsewhere.
  if (!signedIn && path !== "/signin" && sessionStorage.getItem("dlo.left") === null) {
    tabs.postMessage({ ask: mine });
    // Tabs answer within milliseconds, while the program is still being fetched.
    setTimeout(() => {
      if (best === null) return;
      sessionStorage.setItem("dlo.token", best.token);
      sessionStorage.setItem("dlo.me", best.me);
      if (document.querySelector(".door")) location.reload();
    }, 50);
  }
} catch {
  // Storage is blocked, or the browser is old: a new tab asks for a sign-in.
}
