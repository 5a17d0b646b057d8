// Applies theme and density before the first paint, so that a dark page does not flash. The keys match src/prefs.rs.
try {
  const theme = localStorage.getItem("dlo.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  if (localStorage.getItem("dlo.dense") === "yes") document.documentElement.dataset.dense = "";
} catch {
  // Storage is blocked: keep the system's theme.
}
