//! Which texts are the text of an error, and what they say.

use super::*;

#[test]
fn an_error_has_the_form_of_one() {
    for text in
        ["KeyError('sku')", "KeyError: 'sku'", "a.b.PriceError: none", "dial tcp: Connection refused", "E\n  x\n"]
    {
        assert_eq!(is_error(text), text != "E\n  x\n", "{text}");
    }
    for text in
        ["gift", "PriceError", "Failure: pump", "Warning: fragile", "store.Berlin: closed", "KeyError (see above)", ""]
    {
        assert!(!is_error(text), "{text}");
    }
}

#[test]
fn an_exception_of_python_is_split_into_type_and_message() {
    for (text, error_type, message) in [
        ("KeyError('sku')", "KeyError", "'sku'"),
        ("KeyError('sku',)", "KeyError", "'sku'"),
        ("ValueError('no sku')", "ValueError", "no sku"),
        ("ValueError(\"it's\")", "ValueError", "it's"),
        ("ValueError('a', 'b')", "ValueError", "'a', 'b'"),
        ("ConnectionError(MaxRetryError('f(x)'))", "ConnectionError", "MaxRetryError('f(x)')"),
        ("TimeoutError()", "TimeoutError", ""),
    ] {
        let found = read(text);
        assert_eq!(found.error_type.as_deref(), Some(error_type), "{text}");
        assert_eq!(found.message.unwrap_or_default(), message, "{text}");
    }
    for text in
        ["order(7)", "Order.Placed(7)", "KeyError(s) in line 7) (x)", "KeyError (7)", "KeyError('sku') raised", "(7)"]
    {
        let found = read(text);
        assert_eq!((found.error_type, found.message.as_deref()), (None, Some(text)));
    }
}

#[test]
fn the_last_traceback_names_the_error() {
    let chained = "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\nKeyError: 'sku'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"a.py\", line 3, in g\n__main__.NoPrice: sku 7\nsecond line\n";
    let found = read(chained);
    assert_eq!(found.error_type.as_deref(), Some("__main__.NoPrice"));
    assert_eq!(found.message.as_deref(), Some("sku 7\nsecond line"));
    let cut = "Traceback (most recent call last):\n  File \"a.py\", line 1, in";
    assert_eq!(read(cut).error_type, None);
    assert!(is_stack(cut) && !is_stack("NoneType: None") && !is_stack("lot 7"));
}
