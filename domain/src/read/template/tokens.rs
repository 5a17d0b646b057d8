//! A token, a run of characters without delimiters: what its shape and the words around it make of it.

use super::shapes::{self, Shape};
use super::{
    ID_PARTS_MIN, MASK, Scanner, codes, hosts, labels, missing, numbers, parts, paths, secrets, things, words,
};

impl Scanner<'_> {
    pub(super) fn core(&mut self, core: &str, tail: &str) {
        let after = self.rest();
        if self.assigned(core) || self.reference(core) || self.secret(core) {
            return;
        }
        if let Some((host, port)) = hosts::host_and_port(core, &self.out.before[0])
            .filter(|(_, port)| codes::is_service_port(port) && self.out.run.is_none())
        {
            self.core(host, "");
            self.out.punctuation(':');
            self.out.name(port, port);
            return self.out.join_addresses(port);
        }
        if self.names_user(core, tail) {
            return self.out.mask();
        }
        let rejected = || self.out.text.is_empty().then(|| missing::rejected(core, after)).flatten();
        let number = || numbers::of_transport(core, &self.out.before[0], after);
        let name = || number().or_else(|| self.file_name(core)).or_else(|| self.thing_name(core)).or_else(rejected);
        if let Some(more) = tail.is_empty().then(name).flatten() {
            self.at += more;
            return self.out.mask();
        }
        if ["ipv4:", "ipv6:"].iter().any(|scheme| core.starts_with(scheme)) {
            // gRPC's names of its peers.
            return self.out.mask();
        }
        if let Some(port) = codes::own_port(core, &self.out.before[0]) {
            self.out.punctuation(':');
            return self.out.name(port, port);
        }
        let is_code = || codes::is_code(core, &self.out, tail, after);
        match shapes::shape(core) {
            Shape::Word | Shape::Parts
                if paths::is_document(core)
                    && !labels::announces_code(&self.out.before[0])
                    && !self.is_field_of_line(core) =>
            {
                self.out.mask();
            }
            Shape::Word | Shape::Parts if self.is_wrong_value(core, tail) => self.out.mask(),
            Shape::Word
                if things::is_currency(core) && self.joins_amount(after)
                    || words::joins_time(core, self.out.run.is_some(), after) =>
            {
                self.out.mask();
            }
            // `1.5 GiB` and `640 MiB` differ only in the size of the number.
            Shape::Word
                if self.out.run.is_some()
                    && self.out.text.ends_with(' ')
                    && (words::is_unit(core) || numbers::is_measure(core) || numbers::is_times(core, after)) =>
            {
                self.out.mask();
            }
            Shape::Word | Shape::Code => self.out.word(core),
            Shape::Mask | Shape::Parts
                if is_code() || codes::is_identity(core, &self.out.before) || self.names_missing_part(core) =>
            {
                self.out.name(core, core);
            }
            Shape::Mask => self.out.mask(),
            Shape::Parts if self.names_record(core) || self.names_holder() => {
                self.out.mask();
            }
            // A server's log of a request: the method is the event, its target is data.
            Shape::Parts if paths::is_method(&self.out.before[0]) && after.starts_with(" HTTP/") => self.out.mask(),
            Shape::Parts => self.parts(core),
        }
    }

    /// `for user anna`, `user anna not found`
    fn names_user(&self, core: &str, tail: &str) -> bool {
        let is_user = words::precedes_user(&self.out.before) && !self.is_nested
            || (tail.is_empty() && labels::is_said_user(&self.out.before[0], self.rest()));
        is_user && words::is_user(core)
    }

    /// A secret, whatever its form.
    fn secret(&mut self, core: &str) -> bool {
        let is_labelled = self.out.text.ends_with(": ");
        let is_secret = secrets::is_secret(core) || secrets::is_named_secret(core, &self.out.before, is_labelled);
        if is_secret {
            self.out.mask();
        }
        is_secret
    }

    /// `refs/heads/hotfix`: the kind of a reference of Git, and its name.
    fn reference(&mut self, core: &str) -> bool {
        let Some(kind) = paths::kind_of_ref(core) else { return false };
        self.out.both(kind, kind);
        self.out.mask();
        true
    }

    /// `\ncustomer.zip\n  Field required`: the field that a line of pydantic's is about.
    fn is_field_of_line(&self, core: &str) -> bool {
        let before = self.text[..self.at].strip_suffix(core);
        before.is_some_and(|before| before.ends_with('\n')) && self.rest().starts_with("\n  ")
    }

    /// A token with variable parts.
    fn parts(&mut self, core: &str) {
        if let Some((path, query)) = core.split_once('?').filter(|(path, _)| path.contains('/')) {
            let masked = parts::mask_parts(path) + &hosts::query_keys(query);
            return self.out.name(&masked, &masked);
        }
        if let Some(file) = paths::called_file(core, &self.out.before) {
            return self.out.name(file, file);
        }
        if let Some(sheet) = paths::sheet_of_cell(core) {
            let masked = parts::mask_parts(sheet) + "*";
            return self.out.name(&masked, &masked);
        }
        if let Some(role) = paths::assumed_role(core) {
            let masked = parts::mask_parts(role) + "/*";
            return self.out.name(&masked, &masked);
        }
        let mut masked = parts::mask_parts(core);
        if paths::is_file(core) {
            if let Some(more) = self.rest_of_name(paths::begins_data(core)) {
                self.at += more;
                return self.out.mask();
            }
            masked = paths::mask_file(core, &masked);
        }
        let is_route = masked.starts_with('/');
        parts::mask_end_of_key(&mut masked);
        if masked.chars().eq([MASK])
            || parts::is_without_words(&masked)
            || parts::is_xml_id(&masked)
            || (!is_route && masked.matches(MASK).count() >= ID_PARTS_MIN)
        {
            self.out.mask();
        } else {
            self.out.word(&masked);
        }
    }
}
