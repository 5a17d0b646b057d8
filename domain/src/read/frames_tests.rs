//! One row per language: the counted frames, and that builds and runs do not change them.

use super::*;
use alloc::format;
use proptest::prelude::*;

/// The frames as `module|function`, library frames in brackets.
fn lines(stack: &str) -> String {
    let frames = parse(stack).frames;
    let one = |f: &Frame<'_>| {
        if f.in_app { format!("{}|{}", f.module, f.function) } else { format!("({}|{})", f.module, f.function) }
    };
    frames.iter().map(one).collect::<Vec<_>>().join(" ")
}

fn check(stack: &str, expected: &str) {
    assert_eq!(lines(stack), expected, "{stack}");
}

#[test]
fn frames_are_read_in_eight_languages() {
    check(
        "\tat app//a.shop.Cart.total(Cart.java:7)\n\tat java.base/java.lang.Thread.run(Thread.java:840)",
        "a.shop.Cart|total (java.lang.Thread|run)",
    );
    check("\tat a.Cart$$Lambda$7/0x000.run(Unknown Source)", "a.Cart|run");
    check("\tat a.Cart.lambda$sum$3(Cart.java:1)", "a.Cart|sum");
    check("   at Shop.Cart.<Total>d__5.MoveNext() in C:\\src\\Cart.cs:line 7", "Shop.Cart|Total");
    check("   at Shop.Cart.Total(Int32 id, String x)", "Shop.Cart|Total");
    check("   at System.Linq.Enumerable.First[T](IEnumerable`1 s)", "(System.Linq.Enumerable|First)");
    check("    at async total (/srv/app/dist/cart.js:7:1)", "cart.js|total");
    check("    at /srv/app/cart.js:7:1", "cart.js|");
    check("    at Object.run (/srv/app/node_modules/x/lib/x.js:7:1)", "(x.js|run)");
    check("  File \"/srv/app/cart.py\", line 7, in total", "cart.py|total");
    check("  File \"/usr/lib/python3.12/site-packages/x/y.py\", line 7, in z", "(y.py|z)");
    check("/srv/app/cart.rb:7:in `block (2 levels) in total'", "cart.rb|total");
    check("\tfrom /srv/app/cart.rb:7:in 'Cart#total'", "cart.rb|Cart#total");
    check("#0 /srv/app/Cart.php(7): App\\Cart->total(Object(X))\n#1 {main}", "Cart.php|App\\Cart->total");
    check(
        "github.com/a/shop.(*Cart).Total(0xc000, {0x1, 0x2})\n\t/srv/shop/cart.go:7 +0x1d",
        "github.com/a/shop|(*Cart).Total",
    );
    check("main.main.func1()\n\t/srv/main.go:7 +0x1d", "main|main.func");
    check(
        "   1:     0x55d0 - shop::cart::total::h0123456789abcdef\n              at /build/src/cart.rs:7:1",
        "shop::cart|total",
    );
    check(
        "   0: rust_begin_unwind\n             at /rustc/abc/library/std/src/panicking.rs:1:1",
        "(|rust_begin_unwind)",
    );
}

#[test]
fn generated_code_belongs_to_the_function_it_comes_from() {
    check("\tat a.Cart$$anonfun$total$1.apply(Cart.scala:7)", "a.Cart|total");
    check("\tat a.Cart.$anonfun$total$1(Cart.scala:7)", "a.Cart|total");
    check("\tat a.Cart$$SpringCGLIB$$0.total(<generated>)\n\tat a.Cart.total(Cart.java:7)", "a.Cart|total");
    check("\tat a.Cart.total(Cart.java:7) ~[orders.jar!/:1.2]", "a.Cart|total");
    check("   at Shop.Cart.<>c__DisplayClass5_0.<<Total>b__0>d.MoveNext() in /src/Cart.cs:line 7", "Shop.Cart|Total");
    check("   at Shop.Cart.<Total>g__Add|5_1(Int32 n) in /src/Cart.cs:line 7", "Shop.Cart.Total|Add");
    check("    at eval (eval at total (/app/cart.js:7:1), <anonymous>:1:1)", "cart.js|total");
    check("a/shop.(*Cart).Total-fm()\n\t/src/cart.go:7", "a/shop|(*Cart).Total");
    check("a/shop.Total.gowrap1()\n\t/src/cart.go:7", "a/shop|Total");
    check("   1: shop::cart::total::{async_fn_env#0}\n at ./src/cart.rs:7:5", "shop::cart|total");
    check("   1: shop::cart::total::<u64>\n at ./src/cart.rs:7:5", "shop::cart|total");
    check("   1: _ZN4shop4cart5total17h0123456789abcdefE\n at ./src/cart.rs:7:5", "shop::cart|total");
    check("#0 /app/Cart.php(7): Shop\\Cart@anonymous/app/Cart.php:7$0->run()", "Cart.php|Shop\\Cart@anonymous->run");
    check("  File \"/app/cart.py\", line 7, in total\n  File \"/app/cart.py\", line 8, in <listcomp>", "cart.py|total");
}

#[test]
fn resumption_and_reflection_are_not_frames() {
    check("    at async Promise.all (index 3)\n    at new Promise (<anonymous>)", "");
    check("    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)", "");
    check("   at System.Runtime.CompilerServices.TaskAwaiter.ThrowForNonSuccess(Task task)", "");
    check("\tat jdk.internal.reflect.GeneratedMethodAccessor12.invoke(Unknown Source)", "");
    check("\tat java.base/jdk.internal.reflect.DirectMethodHandleAccessor.invoke(D.java:1)", "");
}

#[test]
fn rarer_forms_are_read_too() {
    check("a/shop.Total\n\t/src/cart.go:7", "a/shop|Total");
    check("    (shop 0.1.0) lib/shop/cart.ex:7: Shop.Cart.total/2", "Shop.Cart|total");
    check("    (shop 0.1.0) lib/shop/cart.ex:7: anonymous fn/1 in Shop.Cart.total/2", "Shop.Cart|total");
    check("    (stdlib 5.0) gen_server.erl:1123: :gen_server.try_dispatch/4", "(:gen_server|try_dispatch)");
    check("#0      Cart.total (package:shop/cart.dart:7:5)", "cart.dart|Cart.total");
    check("total@https://shop.example/static/main.js:7:1", "main.js|total");
}

#[test]
fn recursion_counts_once() {
    let once = "  File \"/a/t.py\", line 7, in walk\n";
    assert_eq!(lines(&once.repeat(50)), lines(once));
}

#[test]
fn causes_are_followed_to_the_root() {
    let root =
        |stack: &str| parse(stack).causes.last().map(|c| format!("{}|{}", c.error_type, c.message)).unwrap_or_default();
    assert_eq!(root("a.E: x\n\tat a.B.c(B.java:1)\nCaused by: b.F: y\nCaused by: c.G: z: w"), "c.G|z: w");
    assert_eq!(root("A.E: x\n ---> B.F: y\n   at A.B.C()"), "B.F|y");
    assert_eq!(root("Error: x\n    at a (/b.js:1:1) {\n  [cause]: TypeError: y"), "TypeError|y");
    let python = "Traceback (most recent call last):\n  File \"/a.py\", line 1, in f\nKeyError: 'a'\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File \"/a.py\", line 2, in g\nValueError: b";
    assert_eq!(root(python), "KeyError|'a'");
    assert_eq!(parse(python).head.map(|h| h.error_type).as_deref(), Some("ValueError"));
    let php = "PDOException: SQLSTATE[HY000] [2002] Connection refused in /app/src/Db.php:7\nStack trace:\n#0 /app/src/Db.php(7): PDO->__construct()\n\nNext Shop\\OrderFailed: could not save in /app/src/Orders.php:12\nStack trace:\n#0 {main}";
    assert_eq!(root(php), "PDOException|SQLSTATE[HY000] [2002] Connection refused");
    assert_eq!(parse(php).head.map(|h| h.error_type).as_deref(), Some("Shop\\OrderFailed"));
    let ruby = "/app/order.rb:7:in 'Order#save': could not save (OrderFailed)\n\tfrom /app/run.rb:3:in 'main'\n/app/db.rb:9:in 'Db#run': connection is closed (PG::ConnectionBad)\n\tfrom /app/order.rb:5:in 'Order#save'";
    assert_eq!(root(ruby), "PG::ConnectionBad|connection is closed");
}

#[test]
fn errors_of_a_group_are_causes_in_any_order() {
    let python = |a: &str, b: &str| {
        format!(
            "  + Exception Group Traceback (most recent call last):\n  |   File \"/app/run.py\", line 7, in run\n  | ExceptionGroup: two (2 sub-exceptions)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"/app/a.py\", line 1, in a\n    | {a}\n    +---------------- 2 ----------------\n    | {b}\n    +------------------------------------"
        )
    };
    let causes =
        |stack: &str| parse(stack).causes.iter().map(|c| format!("{}|{}", c.error_type, c.message)).collect::<Vec<_>>();
    let found = causes(&python("ValueError: x", "KeyError: 'y'"));
    assert_eq!(found, ["KeyError|'y'", "ValueError|x"]);
    assert_eq!(causes(&python("KeyError: 'y'", "ValueError: x")), found);
    assert_eq!(lines(&python("E: x", "F: y")), "run.py|run a.py|a");
    let node = "AggregateError [ECONNREFUSED]: \n    at connect (/app/db.js:7:1) {\n  code: 'ECONNREFUSED',\n  [errors]: [\n    Error: connect ECONNREFUSED ::1:5432\n        at afterConnect (node:net:1611:16),\n    Error: connect ECONNREFUSED 127.0.0.1:5432\n        at afterConnect (node:net:1611:16)\n  ]\n}";
    assert_eq!(causes(node), ["Error|connect ECONNREFUSED 127.0.0.1:5432", "Error|connect ECONNREFUSED ::1:5432"]);
}

proptest! {
    #[test]
    fn positions_and_addresses_do_not_matter(line in 1_u32.., column in 1_u32.., address in any::<u64>()) {
        let stack = |l: u32, c: u32, a: u64| format!(
            "    at f (/srv/a.js:{l}:{c})\nm.F(0x{a:x})\n\t/srv/m.go:{l} +0x{c:x}\n   3: 0x{a:x} - s::f::h{a:016x}\n  at /b/s.rs:{l}:{c}\n  File \"/a.py\", line {l}, in f"
        );
        let (varied, plain) = (stack(line, column, address), stack(1, 1, 1));
        prop_assert_eq!(parse(&varied), parse(&plain));
    }

    #[test]
    fn nothing_panics(stack in "((at |File \"|#|\t|Caused by: |  ---> )?(\\PC|[.:()$/<>\\[\\]])*\n){0,8}") {
        let _ = parse(&stack);
    }
}
