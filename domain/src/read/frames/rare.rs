//! Frames of languages that few consumers are written in: Elixir and Erlang, Dart, and JavaScript as printed by
//! Firefox and Safari.

use super::{Frame, clean, library};

/// The applications and frameworks that are part of Erlang and Elixir.
const BEAM: [&str; 10] =
    ["stdlib", "kernel", "elixir", "logger", "ecto", "ecto_sql", "phoenix", "plug", "broadway", "oban"];

pub fn frame(text: &str) -> Option<Frame<'_>> {
    elixir(text).or_else(|| at_sign(text))
}

/// `(shop 0.1.0) lib/shop/cart.ex:7: Shop.Cart.total/2`; an anonymous function belongs to its outer function.
fn elixir(text: &str) -> Option<Frame<'_>> {
    let (app, rest) = text.strip_prefix('(')?.split_once(") ")?;
    let (place, call) = rest.split_once(": ")?;
    let (path, line) = place.rsplit_once(':')?;
    let number = !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit());
    (number && (path.ends_with(".ex") || path.ends_with(".exs") || path.ends_with(".erl"))).then_some(())?;
    let call = call.strip_prefix("anonymous fn").and_then(|rest| Some(rest.split_once(" in ")?.1)).unwrap_or(call);
    let (module, function) = call.rsplit_once('/').map_or(call, |(name, _)| name).rsplit_once('.')?;
    let app = app.split(' ').next().unwrap_or(app);
    Some(Frame { in_app: !BEAM.contains(&app), module: module.into(), function: clean::numbers(function) })
}

/// `#0      Cart.total (package:shop/cart.dart:7:5)`
pub fn dart(text: &str) -> Option<Frame<'_>> {
    let (call, place) = text.strip_suffix(')')?.rsplit_once(" (")?;
    let function = call.trim_start_matches(|c: char| c == '#' || c.is_ascii_digit()).trim();
    let package = place.strip_prefix("package:");
    (package.is_some() || place.starts_with("dart:")).then_some(())?;
    let (path, _) = clean::without_position(place);
    let function = function.replace(".<anonymous closure>", "").replace("<asynchronous suspension>", "");
    Some(Frame { in_app: package.is_some(), module: clean::file(path).into(), function: function.into() })
}

/// `total@https://shop.example/static/main.js:7:1`
fn at_sign(text: &str) -> Option<Frame<'_>> {
    let (function, place) = text.split_once('@')?;
    let (path, position) = clean::without_position(place);
    (!function.contains(' ') && position.matches(':').count() == 2).then_some(())?;
    Some(Frame {
        in_app: !library::node(path),
        module: clean::file(path).into(),
        function: clean::node_function(function),
    })
}
