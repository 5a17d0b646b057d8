//! Frames of languages that few consumers are written in: Elixir and Erlang, Dart, Swift, Perl, C and C++, and JavaScript as
//! printed by Firefox and Safari.

use super::{Frame, clean, library};

/// The applications and frameworks that are part of Erlang and Elixir.
const BEAM: [&str; 10] =
    ["stdlib", "kernel", "elixir", "logger", "ecto", "ecto_sql", "phoenix", "plug", "broadway", "oban"];

pub fn frame(text: &str) -> Option<Frame<'_>> {
    elixir(text).or_else(|| at_sign(text)).or_else(|| swift(text)).or_else(|| perl(text))
}

/// `(shop 0.1.0) lib/shop/cart.ex:7: Shop.Cart.total/2`; an anonymous function belongs to its outer function.
fn elixir(text: &str) -> Option<Frame<'_>> {
    let (app, rest) = text.strip_prefix('(')?.split_once(") ")?;
    let (place, call) = rest.split_once(": ")?;
    let (path, line) = place.rsplit_once(':')?;
    let number = !line.is_empty() && line.bytes().all(|b| b.is_ascii_digit());
    (number && (path.ends_with(".ex") || path.ends_with(".exs") || path.ends_with(".erl"))).then_some(())?;
    let call = call.strip_prefix("anonymous fn").and_then(|rest| Some(rest.split_once(" in ")?.1)).unwrap_or(call);
    // The arguments of the call that failed are printed instead of their number.
    let call = call.split('(').next().unwrap_or(call);
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

/// `#4  0x000055f2b9a1e3c1 in router::Table::lookup (this=…) at /src/router/table.cc:57` of gdb,
/// `#0 0x55b3c1f0a2d0 in shop::Parser::read(char const*) /build/src/parser.cpp:88:12` of a sanitizer.
pub fn native(text: &str) -> Option<Frame<'_>> {
    let (number, rest) = text[1..].split_once(' ')?;
    number.bytes().all(|b| b.is_ascii_digit()).then_some(())?;
    let address = rest.trim_start().strip_prefix("0x")?;
    let (_, call) = address.split_once(" in ")?;
    let function = call.split('(').next().unwrap_or(call).trim_end();
    let function = function.split(" /").next().unwrap_or(function);
    let place = call.rsplit(' ').next().unwrap_or_default();
    let is_library = function.is_empty()
        || function.starts_with(['_', '?'])
        || function.starts_with("std::")
        || matches!(function, "main" | "raise" | "abort" | "clone" | "start_thread")
        || ["/usr/", "sysdeps/", ".so"].iter().any(|part| place.contains(part));
    let (path, _) = clean::without_position(place);
    (!function.is_empty()).then(|| Frame {
        in_app: !is_library,
        module: clean::file(path).into(),
        function: function.into(),
    })
}

/// `1 0x0000aaaad21f04c8 closure #1 in Invoices.render(req:) + 311 in App at /build/Sources/App/Invoices.swift:58:30`
fn swift(text: &str) -> Option<Frame<'_>> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (number, rest) = text.split_once(" 0x")?;
    (!number.is_empty() && number.bytes().all(|b| b.is_ascii_digit())).then_some(())?;
    let (address, rest) = rest.split_once(' ')?;
    address.bytes().all(|b| b.is_ascii_hexdigit()).then_some(())?;
    let (symbol, place) = rest.rsplit_once(" + ")?;
    let (_, place) = place.split_once(" in ")?;
    // A closure belongs to its function.
    let symbol = symbol.rsplit_once(" in ").map_or(symbol, |(_, function)| function);
    let (image, path) = place.split_once(" at ").unwrap_or((place, ""));
    let (path, _) = clean::without_position(path);
    let in_app = !image.contains(".so") && !path.contains("/checkouts/");
    Some(Frame { in_app, module: clean::file(path).into(), function: symbol.into() })
}

/// `Orders::Price::total(Orders::Price=HASH(0x55d0cafe94b8), 12) called at /opt/shop/lib/Checkout.pm line 31`
fn perl(text: &str) -> Option<Frame<'_>> {
    if !text.ends_with(|c: char| c.is_ascii_digit() || c == '.') {
        return None;
    }
    let (call, place) = text.rsplit_once(" called at ")?;
    let (path, line) = place.rsplit_once(" line ")?;
    line.trim_end_matches('.').bytes().all(|b| b.is_ascii_digit()).then_some(())?;
    let function = call.split(['(', ' ']).next()?;
    let in_app =
        !["/perl5/", "/usr/share/perl", "/usr/lib"].iter().any(|part| path.contains(part)) && function != "eval";
    Some(Frame { in_app, module: clean::file(path).into(), function: function.into() })
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
