//! Removes the generated, numbered and compiled parts of a frame's names.

use crate::text::{find_rare, split_last};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};

/// Returns the base name of a file without the hashes and numbers of bundles.
pub fn file(path: &str) -> String {
    let path = path.split(['?', '\0']).next().unwrap_or(path);
    let base = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let mut out = String::with_capacity(base.len());
    // A view that was compiled is named after the hash of its path.
    const HASH_BYTES_MIN: usize = 32;
    let is_hash = |part: &str| part.len() >= HASH_BYTES_MIN && part.bytes().all(|b| b.is_ascii_hexdigit());
    for (at, part) in base.split(['.', '-']).enumerate() {
        if is_hash(part) {
            continue;
        }
        let hashed = at > 0
            && part.len() >= 6
            && part.bytes().all(|b| b.is_ascii_alphanumeric())
            && part.bytes().any(|b| b.is_ascii_digit());
        if !hashed {
            if !out.is_empty() {
                out.push('.');
            }
            out.push_str(&numbers(part));
        }
    }
    out
}

/// Removes the digits from a name with many of them, as in generated names; `v2` and `sha256` stay.
pub fn numbers(name: &str) -> Cow<'_, str> {
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    if digits > 3 { Cow::Owned(no_digits(name)) } else { Cow::Borrowed(name) }
}

/// Removes every digit.
fn no_digits(name: &str) -> String {
    name.chars().filter(|c| !c.is_ascii_digit()).collect()
}

/// Removes the position from `path:12:7`.
pub fn without_position(place: &str) -> (&str, &str) {
    let mut path = place;
    for _ in 0..2 {
        match path.rsplit_once(':') {
            Some((before, number)) if !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) => path = before,
            _ => break,
        }
    }
    (path, &place[path.len()..])
}

/// Removes the generated suffixes of the JVM's proxies, lambdas and anonymous classes.
pub fn java_class(class: &str) -> Cow<'_, str> {
    const GENERATED: [&str; 5] = ["$$", "$Proxy", "$ByteBuddy$", "$HibernateProxy$", "$MockitoMock$"];
    const ACCESSORS: [&str; 2] = ["GeneratedMethodAccessor", "GeneratedConstructorAccessor"];
    // Few class names contain a dollar sign; searching for each mark would be the most expensive part.
    let name = split_last(class, b'.').map_or(class, |(_, name)| name);
    if !class.bytes().any(|byte| byte == b'$') && !name.starts_with("Generated") {
        return Cow::Borrowed(class);
    }
    let is_generated = |at: &usize| GENERATED.iter().any(|mark| class[*at..].starts_with(mark));
    let mut end = class.match_indices('$').map(|(at, _)| at).find(is_generated).unwrap_or(class.len());
    if class.contains("Generated") {
        let ends = ACCESSORS.iter().filter_map(|mark| Some(class.find(mark)? + mark.len()));
        end = ends.fold(end, usize::min);
    }
    // Of `_$$_` the first underscore is left.
    let class = class[..end].trim_end_matches('_');
    // `Handler$1` is an anonymous class, `ns$fn__123` a Clojure function: the compiler generated the numbers.
    let mut out = String::with_capacity(class.len());
    for (at, part) in class.split('$').enumerate() {
        let part = find_rare(part, "__")
            .filter(|at| part[at + 2..].bytes().all(|b| b.is_ascii_digit()))
            .map_or(part, |at| &part[..at]);
        if at > 0 {
            let named = part.trim_start_matches(|c: char| c.is_ascii_digit());
            if !named.is_empty() {
                out.push('$');
                out.push_str(&numbers(named));
            }
        } else {
            out.push_str(part);
        }
    }
    Cow::Owned(out)
}

/// `lambda$handle$0` becomes `handle`; `access$000` is a bridge.
pub fn java_method(method: &str) -> Cow<'_, str> {
    let inner = method.strip_prefix("lambda$").map_or(method, |rest| rest.split('$').next().unwrap_or(rest));
    let inner = inner.strip_prefix("$anonfun$").map_or(inner, |rest| rest.split('$').next().unwrap_or(rest));
    match split_last(inner, b'$') {
        Some((name, number)) if number.bytes().all(|b| b.is_ascii_digit()) => Cow::Borrowed(name),
        _ => numbers(inner),
    }
}

/// Cleans state machines (`<Handle>d__5.MoveNext`), closures (`<>c__DisplayClass3_0.<Handle>b__1`) and generics.
pub fn dotnet(method: &str) -> String {
    let mut parts: alloc::vec::Vec<String> = alloc::vec::Vec::new();
    for part in method.split(['.', '+']) {
        let part = part.split(['`', '[']).next().unwrap_or(part);
        if part.is_empty() || part == "MoveNext" || part.starts_with("<>c") {
            continue;
        }
        let generated = part.trim_start_matches('<');
        match (generated.len() < part.len()).then(|| generated.split_once('>')).flatten() {
            Some((name, rest)) if !name.is_empty() => {
                parts.push(name.to_string());
                // `<Parse>g__Amount|3_0` is the local function `Amount` of `Parse`.
                parts.extend(rest.strip_prefix("g__").and_then(|local| Some(local.split_once('|')?.0.to_string())));
            }
            Some(_) => {}
            None => parts.push(if part.starts_with("lambda_method") {
                "lambda_method".to_string()
            } else {
                part.to_string()
            }),
        }
    }
    parts.join(".")
}

/// Removes `async`, `new`, `Object.` and `[as x]`, which describe the call, not the function.
pub fn node_function(function: &str) -> Cow<'_, str> {
    let name = function.split(" [as ").next().unwrap_or(function);
    let name = ["async ", "new "].iter().fold(name, |name, prefix| name.strip_prefix(prefix).unwrap_or(name));
    let name = ["Object.", "Module.", "exports.", "module.exports."]
        .iter()
        .fold(name, |name, prefix| name.strip_prefix(prefix).unwrap_or(name));
    let last = name.rsplit(['/']).next().unwrap_or(name);
    if last == "<anonymous>" || last.is_empty() {
        Cow::Borrowed("")
    } else {
        numbers(last.trim_end_matches(".<anonymous>"))
    }
}

/// Returns the method around a block or ERB template.
pub fn ruby_method(function: &str) -> Cow<'_, str> {
    let name = match function
        .strip_prefix("block ")
        .or_else(|| function.strip_prefix("rescue in "))
        .or_else(|| function.strip_prefix("ensure in "))
    {
        Some(rest) => rest.rsplit_once("in ").map_or(rest, |(_, name)| name),
        None => function,
    };
    match name.find("__").filter(|_| name.starts_with('_')) {
        Some(end) => Cow::Borrowed(&name[..end]),
        None => numbers(name),
    }
}

/// Removes a call's arguments, and the location of an anonymous class.
pub fn php_call(call: &str) -> String {
    if let Some((class, rest)) = call.split_once("@anonymous") {
        let method = rest.rsplit_once("->").map_or("", |(_, m)| m);
        return clean_call(&alloc::format!("{class}@anonymous->{method}"));
    }
    clean_call(call)
}

fn clean_call(call: &str) -> String {
    let name = call.split('(').next().unwrap_or(call);
    // `{closure:/path/File.php:12}` since PHP 8.4, `{closure}` before.
    if name.contains("{closure") {
        return alloc::format!("{}{{closure}}", name.split("{closure").next().unwrap_or_default());
    }
    name.to_string()
}

/// Removes arguments, type parameters and the numbers of closures.
pub fn go_function(line: &str) -> String {
    let mut name = line;
    if line.ends_with(')') {
        // The arguments are in the last bracket after the last dot's name: `a/b.(*T).F(0x1, {0x2})`.
        let after_slash = line.rfind('/').filter(|at| !line[*at..].contains(", ")).map_or(0, |at| at + 1);
        let mut from = after_slash;
        while let Some(open) = line[from..].find('(').map(|at| at + from) {
            if !line[open..].starts_with("(*") {
                name = &line[..open];
                break;
            }
            from = line[open..].find(')').map_or(line.len(), |close| open + close + 1);
        }
    }
    let mut out = String::with_capacity(name.len());
    let mut depth = 0_usize;
    for c in name.chars() {
        match c {
            '[' => depth += 1,
            ']' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    // Wrappers that the compiler generates around `go`, `defer` and method values.
    for mark in [".gowrap", ".deferwrap", "-fm", "-range"] {
        if let Some(at) = out.find(mark).filter(|at| out[at + mark.len()..].bytes().all(|b| b.is_ascii_digit())) {
            out.truncate(at);
        }
    }
    // `Handle.func1.2` is a closure in `Handle`.
    match out.find(".func").filter(|at| out[at + 5..].starts_with(|c: char| c.is_ascii_digit())) {
        Some(at) => alloc::format!("{}.func", &out[..at]),
        None => out,
    }
}

/// Splits `github.com/a/b.(*T).F` into package and function.
pub fn go_parts(name: &str) -> (&str, &str) {
    let after_slash = name.rfind('/').map_or(0, |at| at + 1);
    match name[after_slash..].find('.') {
        Some(dot) => (&name[..after_slash + dot], &name[after_slash + dot + 1..]),
        None => ("", name),
    }
}

/// Returns the length of the angle brackets at the beginning of a text.
fn angle_length(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'<' => depth += 1,
            b'>' if depth == 1 => return Some(at + 1),
            b'>' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Returns the path in a mangled symbol: `_ZN4shop4cart5total17h0123456789abcdefE`.
fn legacy_path(symbol: &str) -> Option<String> {
    let mut rest = symbol.strip_prefix("_ZN")?;
    let mut path = String::new();
    while let Some(digits) = rest.find(|c: char| !c.is_ascii_digit()).filter(|digits| *digits > 0) {
        let length: usize = rest[..digits].parse().ok()?;
        let name = rest[digits..].get(..length)?;
        rest = &rest[digits + length..];
        let is_hash = length == 17 && name.starts_with('h') && name[1..].bytes().all(|b| b.is_ascii_hexdigit());
        if !is_hash && name != "{{closure}}" && name != "_$u7b$$u7b$closure$u7d$$u7d$" {
            if !path.is_empty() {
                path.push_str("::");
            }
            path.push_str(name);
        }
    }
    (!path.is_empty()).then_some(path)
}

/// Removes a symbol's hash, closures and generated parts.
pub fn rust_symbol(symbol: &str) -> String {
    let symbol = match symbol.rsplit_once("::h") {
        Some((name, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => name,
        _ => symbol,
    };
    if let Some(path) = legacy_path(symbol) {
        return path;
    }
    // Closures, futures (`{async_fn_env#0}`) and instances (`::<u64>`) belong to their function.
    let mut out = String::with_capacity(symbol.len());
    let mut rest = symbol;
    while let Some(at) = rest.find("::") {
        out.push_str(&rest[..at]);
        let part = &rest[at + 2..];
        let length = match part.as_bytes().first() {
            Some(b'{') => part.find('}').map(|close| close + 1 + usize::from(part[close + 1..].starts_with('}'))),
            Some(b'<') => angle_length(part),
            _ => None,
        };
        if length.is_none() {
            out.push_str("::");
        }
        rest = &part[length.unwrap_or(0)..];
    }
    out.push_str(rest);
    // A crate's disambiguator: `orders[4f2c8a1b3d5e6f70]::price`.
    if let Some((name, rest)) = out.split_once('[').filter(|(_, rest)| rest.find(']') == Some(16)) {
        out = alloc::format!("{name}{}", &rest[17..]);
    }
    if out.contains("vtable.shim") { no_digits(&out) } else { out }
}
