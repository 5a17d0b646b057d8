//! Stack frames of Java, .NET, Go, Node, PHP, Python, Ruby and Rust, without anything that varies between builds and
//! runs.
//!
//! Each line is recognised on its own, by its shape. So a stack of several languages, or one that was cut off, still
//! yields its readable frames. Frames have no line numbers, no addresses, no generated names, and only the base name
//! of a file: the directory of a release is not part of a cause.

mod chains;
mod clean;
mod library;
mod rare;

use crate::text::{self, split_last};
use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use chains::Chains;

/// The part of a stack that is parsed, bytes, and the part of one line.
const STACK_BYTES_MAX: usize = 64 * 1024;
const LINE_BYTES_MAX: usize = 1_000;

/// One frame. Most names are parts of the stack's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame<'a> {
    /// The class, module or file of the function.
    pub module: Cow<'a, str>,
    /// The function.
    pub function: Cow<'a, str>,
    /// Whether it is the team's own code.
    pub in_app: bool,
}

/// One error of a chain: its type and message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cause {
    /// The type.
    pub error_type: String,
    /// The message on the same line.
    pub message: String,
}

/// The content of a stack trace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stack<'a> {
    /// The frames in their printed order, repeated ones once.
    pub frames: Vec<Frame<'a>>,
    /// The causes of the error, the root cause last.
    pub causes: Vec<Cause>,
    /// The first line, if it names the error itself.
    pub head: Option<Cause>,
    /// Whether the throwing frame comes last, as in Python.
    pub innermost_last: bool,
}

/// Parses a stack trace. Never fails: unrecognised lines are skipped.
pub fn parse(stack: &str) -> Stack<'_> {
    let mut found = Stack::default();
    let mut go_function: Option<&str> = None;
    let mut rust_symbol: Option<&str> = None;
    let mut python_errors = Vec::new();
    let mut chains = Chains::default();
    let mut in_python = false;
    for (number, line) in text::head(stack, STACK_BYTES_MAX).lines().enumerate() {
        let line = text::head(line, LINE_BYTES_MAX).trim_end();
        let text = line.trim_start();
        if number > 0 && chains.add(line, &mut found.head) {
            continue;
        }
        // Go prints the goroutine that failed first, and with GOTRACEBACK=all every other one after it.
        if text.starts_with("goroutine ") && found.frames.iter().any(|frame| frame.in_app) {
            break;
        }
        // A group of exceptions is drawn as a tree.
        let text = text.strip_prefix("| ").map_or(text, str::trim_start);
        if text.is_empty() {
            continue;
        }
        if let Some(cause) = cause(text) {
            found.causes.push(cause);
        }
        let indented = text.len() < line.len();
        if text.starts_with("Traceback (most recent call last)") {
            in_python = true;
            found.innermost_last = true;
        } else if !indented && in_python {
            // The last line of a traceback names its error; of several tracebacks, the last names the error itself.
            python_errors.extend(named(text));
            in_python = false;
        } else if number == 0 && !indented {
            found.head = named(text);
        }
        // Go and Rust print a frame on two lines: the function, then its location.
        let frame = match (go_function.take(), rust_symbol.take()) {
            (Some(function), _) if indented => go(function, text).or_else(|| frame(text)),
            (_, Some(symbol)) if text.starts_with("at ") => Some(rust(symbol, text)),
            (_, Some(symbol)) => {
                add(&mut found.frames, Some(rust(symbol, "")));
                frame(text)
            }
            _ => frame(text),
        };
        add(&mut found.frames, frame);
        go_function = (!indented && is_go_function(text)).then_some(text);
        rust_symbol = rust_line(text);
    }
    add(&mut found.frames, rust_symbol.map(|symbol| rust(symbol, "")));
    if let Some(last) = python_errors.pop() {
        found.head = Some(last);
        python_errors.reverse();
        found.causes.extend(python_errors);
    }
    chains.finish(&mut found.causes);
    if found.frames.is_empty() {
        add(&mut found.frames, panicked(stack));
    }
    found
}

/// The place of a panic of Rust, which is all that is printed without a backtrace: `thread 'a' panicked at src/cart.rs:7:5:`.
fn panicked(stack: &str) -> Option<Frame<'_>> {
    let line = text::head(stack, STACK_BYTES_MAX).lines().find(|line| line.starts_with("thread '"))?;
    let (_, said) = text::head(line, LINE_BYTES_MAX).split_once(" panicked at ")?;
    // Before Rust 1.73, the message came first, in quotation marks.
    let place = said.rsplit_once("', ").map_or(said, |(_, place)| place).trim_end_matches(':');
    let (path, position) = clean::without_position(place);
    // Within a workspace, `src/lib.rs` is the name of many files. An absolute path begins with what varies.
    let module = if path.starts_with('/') { clean::file(path) } else { path.to_string() };
    (!position.is_empty() && path.ends_with(".rs")).then(|| Frame {
        in_app: !library::rust("", path),
        module: module.into(),
        function: Cow::Borrowed(""),
    })
}

/// Adds a frame; recursion counts once, through one function or through a few.
fn add<'a>(frames: &mut Vec<Frame<'a>>, frame: Option<Frame<'a>>) {
    let Some(frame) = frame else { return };
    if frame.function.is_empty() && frame.module.is_empty() || library::is_noise(&frame) {
        return;
    }
    // How many frames of libraries are between two of the team's own varies between versions.
    const WINDOW: usize = 4;
    let mut of_kind = frames.iter().rev().filter(|other| other.in_app == frame.in_app).take(WINDOW);
    if of_kind.any(|other| *other == frame) {
        return;
    }
    frames.push(frame);
}

fn frame(text: &str) -> Option<Frame<'_>> {
    let text = text.strip_prefix("from ").unwrap_or(text);
    if let Some(call) = text.strip_prefix("at ") {
        return at(call);
    }
    if let Some(rest) = text.strip_prefix("File \"") {
        return python(rest);
    }
    if text.starts_with('#') {
        return rare::dart(text).or_else(|| rare::native(text)).or_else(|| php(text));
    }
    ruby(text).or_else(|| rare::frame(text))
}

/// `Caused by: T: m`, `---> T: m`, `[cause]: T: m`.
fn cause(text: &str) -> Option<Cause> {
    let leading = || ["Caused by: ", "[cause]: ", "(Inner Exception #"].iter().find_map(|mark| text.strip_prefix(mark));
    let inner = || text::split_rare(text, "---> ").map(|(_, rest)| rest);
    let rest = leading().or_else(inner)?;
    let rest = rest.split_once("> ").filter(|(number, _)| number.len() <= 3).map_or(rest, |(_, rest)| rest);
    let (name, message) = rest.split_once(": ").unwrap_or((rest, ""));
    let message = message.split(" ---> ").next().unwrap_or(message);
    let name = name.trim_end_matches([':', ')', '{']).trim();
    // .NET adds the number of the system: `SocketException (111)`.
    let numbered = name.split_once(" (").filter(|(_, number)| number.bytes().all(|b| b.is_ascii_digit() || b == b'x'));
    let name = numbered.map_or(name, |(name, _)| name);
    (!name.is_empty() && !name.contains(' '))
        .then(|| Cause { error_type: name.to_string(), message: without_strays(message).to_string() })
}

/// Returns a message without the closing brackets at its end that belong to what is around it.
fn without_strays(message: &str) -> &str {
    let strays = message.matches(')').count().saturating_sub(message.matches('(').count());
    let at_end = message.len() - message.trim_end_matches(')').len();
    &message[..message.len() - strays.min(at_end)]
}

/// `T: m`, or a bare type.
fn named(text: &str) -> Option<Cause> {
    let (name, message) = text.split_once(": ").unwrap_or((text, ""));
    let name = name.trim_end_matches(':').rsplit(' ').next().unwrap_or(name);
    super::type_name::looks_like_type(name)
        .then(|| Cause { error_type: name.to_string(), message: message.to_string() })
}

/// Lines that begin with `at`: Java, .NET and Node.
fn at(call: &str) -> Option<Frame<'_>> {
    // Logback appends the archive to a frame: `~[orders.jar:1.2]`.
    let archive = call.strip_suffix(']').and_then(|call| call.find(" [").or_else(|| call.find(" ~[")));
    let call = archive.map(|at| &call[..at]).filter(|frame| frame.ends_with(')')).unwrap_or(call);
    // Code in `eval` belongs to the function that called it.
    if let Some(called) = call.strip_prefix("eval (eval at ").and_then(|rest| rest.split_once(')')) {
        let (function, place) = called.0.split_once(" (").unwrap_or(("", called.0));
        return Some(node(function, place));
    }
    let spaced = call.contains(' ').then(|| call.rsplit_once(" in ")).flatten();
    if let Some((method, _)) = spaced.filter(|(method, _)| method.contains('(')) {
        return Some(dotnet(method));
    }
    let place = call.strip_suffix(')').and_then(|call| split_last(call, b'('));
    let Some((function, place)) = place else {
        // Node without a function. Lines of .NET or Rust that only give a location are not frames of their own.
        return (call.contains(".js")
            || call.contains(".ts")
            || call.starts_with("file:")
            || call.starts_with("node:")
            || call.contains(".mjs"))
        .then(|| node("", call));
    };
    let is_java = !function.contains(' ')
        && (matches!(place, "Native Method" | "Unknown Source" | "<generated>")
            || split_last(place, b'.').is_some_and(|(_, end)| {
                let end = end.split(':').next().unwrap_or(end);
                matches!(end, "java" | "kt" | "scala" | "clj" | "groovy" | "kts")
            }));
    if is_java {
        return Some(java(function));
    }
    let in_js =
        place.rsplit(':').next().is_some_and(|column| !column.is_empty() && column.bytes().all(|b| b.is_ascii_digit()));
    if in_js || place.starts_with('<') || place == "native" || place.starts_with("index ") {
        return Some(node(function.trim(), place));
    }
    Some(dotnet(call))
}

fn java(function: &str) -> Frame<'_> {
    // The module or class loader ends at the last slash. Text after `$$Lambda` is generated and has slashes too.
    let generated = function.contains('$').then(|| function.find("$$")).flatten();
    let visible = generated.unwrap_or(function.len());
    let start = split_last(&function[..visible], b'/').map_or(0, |(loader, _)| loader.len() + 1);
    let function = &function[start..];
    let (class, method) = split_last(function, b'.').unwrap_or(("", function));
    // A closure of Scala 2.11 is a class with the method's name in it.
    let closure = generated.and_then(|_| class.split_once("$$anonfun$"));
    let method = match closure {
        Some((_, closure)) => closure.split('$').next().unwrap_or(method),
        None => method,
    };
    let class = clean::java_class(class);
    Frame { in_app: !library::java(&class), function: clean::java_method(method), module: class }
}

fn dotnet(method: &str) -> Frame<'static> {
    let method = method.split('(').next().unwrap_or(method).trim();
    let path = clean::dotnet(method);
    let (class, function) = path.rsplit_once('.').unwrap_or(("", &path));
    Frame { in_app: !library::dotnet(&path), module: class.to_string().into(), function: function.to_string().into() }
}

fn node<'a>(function: &'a str, place: &str) -> Frame<'a> {
    let (path, _) = clean::without_position(place);
    Frame { in_app: !library::node(path), module: clean::file(path).into(), function: clean::node_function(function) }
}

/// `x.py", line 3, in f`
fn python(rest: &str) -> Option<Frame<'_>> {
    let (path, after) = rest.split_once('"')?;
    let function = after.rsplit_once(", in ").map_or("", |(_, f)| f);
    // Comprehensions have frames of their own only before Python 3.12.
    if matches!(function, "<listcomp>" | "<dictcomp>" | "<setcomp>" | "<genexpr>") {
        return None;
    }
    Some(Frame {
        in_app: !library::python(path),
        module: clean::file(path).into(),
        function: clean::numbers(function.trim()),
    })
}

/// `#0 /a/B.php(88): C->d()`
fn php(text: &str) -> Option<Frame<'_>> {
    let (number, rest) = text[1..].split_once(' ')?;
    number.bytes().all(|b| b.is_ascii_digit()).then_some(())?;
    let (place, call) = rest.split_once(": ").unwrap_or(("", rest));
    if place.is_empty() && call == "{main}" {
        return None;
    }
    let path = place.rsplit_once('(').map_or(place, |(path, _)| path);
    let file = clean::file(path);
    let (call_name, in_file) = (clean::php_call(call), !path.is_empty());
    Some(Frame { in_app: in_file && !library::php(path), module: file.into(), function: call_name.into() })
}

/// ``a/b.rb:12:in `m'``, `a/b.rb:12:in 'C#m'`
fn ruby(text: &str) -> Option<Frame<'_>> {
    let (place, function) = text::split_rare(text, ":in ")?;
    let function = function.trim_start_matches(['`', '\'']);
    let function = function.split(['\'', '`']).next().unwrap_or(function);
    let (path, line) = place.rsplit_once(':')?;
    (!line.is_empty() && line.bytes().all(|b| b.is_ascii_digit())).then_some(())?;
    Some(Frame {
        in_app: !library::ruby(path),
        module: clean::file(path).into(),
        function: clean::ruby_method(function),
    })
}

/// `a/b.(*T).F(0x1)`, or without arguments as `pkg/errors` prints it.
fn is_go_function(text: &str) -> bool {
    (text.ends_with(')') && !text.contains(": ")) || (text.contains('.') && !text.contains([' ', ':']))
}

/// A Go function's line and the line after it: `\t/a/b.go:12 +0x1d`.
fn go(function: &str, place: &str) -> Option<Frame<'static>> {
    let (path, _) = place.split_once(".go:")?;
    let created = function.strip_prefix("created by ").unwrap_or(function);
    let created = created.split(" in goroutine").next().unwrap_or(created);
    let name = clean::go_function(created);
    let (module, method) = clean::go_parts(&name);
    Some(Frame {
        in_app: !library::go(path, &name),
        module: module.to_string().into(),
        function: method.to_string().into(),
    })
}

/// The symbol of a line such as `  2:  0x557e - a::b::h0123456789abcdef`.
fn rust_line(text: &str) -> Option<&str> {
    text.starts_with(|c: char| c.is_ascii_digit()).then_some(())?;
    let (number, rest) = text.split_once(": ")?;
    (number.len() <= 4 && number.bytes().all(|b| b.is_ascii_digit())).then_some(())?;
    let rest = rest.trim();
    let symbol =
        rest.split_once(" - ").filter(|(address, _)| address.starts_with("0x")).map_or(rest, |(_, symbol)| symbol);
    (!symbol.is_empty() && (symbol.contains("::") || !symbol.contains(' '))).then_some(symbol)
}

fn rust(symbol: &str, place: &str) -> Frame<'static> {
    let path = clean::rust_symbol(symbol);
    let in_app = !library::rust(&path, place);
    let (module, function) = path.rsplit_once("::").unwrap_or(("", &path));
    Frame { in_app, module: module.to_string().into(), function: function.to_string().into() }
}

#[cfg(test)]
#[path = "frames_tests.rs"]
mod tests;
