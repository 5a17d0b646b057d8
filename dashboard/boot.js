// Before the first paint, so that nobody who reads at night is blinded: the names are those of src/prefs.rs.
try {
  const theme = localStorage.getItem("dlo.theme");
  if (theme === "light" || theme === "dark") document.documentElement.dataset.theme = theme;
  if (localStorage.getItem("dlo.dense") === "yes") document.documentElement.dataset.dense = "";
} catch {
  // Storage is forbidden: the system's theme it is.
}
