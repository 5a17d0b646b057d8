//! Nouns before a name that tell whether it is data or a part of a program.

/// What a noun says of the name that follows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Named {
    /// Something that users of a program make or own: `project`, `coupon`, `player`.
    Record,
    /// A part of a program, its configuration or its language: `field`, `plugin`, `option`.
    Part,
}

impl Named {
    /// Returns what a word says, in lower case, in the singular or in the plural with an s.
    pub fn by(word: &str) -> Option<Self> {
        let holds = |list: &[&str]| {
            [Some(word), word.strip_suffix('s')].into_iter().flatten().any(|word| list.binary_search(&word).is_ok())
        };
        if holds(RECORDS) { Some(Self::Record) } else { holds(PARTS).then_some(Self::Part) }
    }

    /// A name of the kind, for the features that are weighed.
    pub fn label(self) -> &'static str {
        match self {
            Self::Record => "record",
            Self::Part => "part",
        }
    }
}

/// What users of programs make or own, in English, German, French and Spanish, sorted by bytes.
#[rustfmt::skip]
const RECORDS: &[&str] = &[
    "account", "address", "agreement", "album", "animal", "apartment", "appointment", "archivo", "article", "artikel",
    "artist", "asset", "attachment", "auction", "auftrag", "author", "barcode", "basket", "bed", "beleg",
    "beneficiary", "bestellung", "bike", "bill", "board", "book", "booking", "bookmark", "borrower", "box", "branch",
    "brand", "buch", "bucket", "building", "bus", "campaign", "candidate", "car", "card", "cargo", "carpeta",
    "carrier", "cart", "case", "category", "categoría", "channel", "chapter", "chat", "city", "claim", "claimant",
    "client", "cliente", "clinic", "club", "commande", "comment", "community", "company", "competitor", "consignment",
    "contact", "contest", "contract", "conversation", "coupon", "courier", "course", "creditor", "crew", "customer",
    "dashboard", "dataset", "datei", "deal", "debtor", "delivery", "department", "deposit", "directory", "dish",
    "doctor", "document", "donor", "dossier", "draft", "drug", "email", "employee", "employer", "envelope", "episode",
    "estate", "exam", "exhibit", "exhibition", "factura", "facture", "fahrzeug", "farm", "fichier", "file", "filename",
    "filer", "filiale", "film", "firma", "flight", "folder", "forum", "fournisseur", "friend", "game", "gift", "grant",
    "group", "guest", "guild", "gutschein", "hospital", "hotel", "house", "household", "ingredient", "institution",
    "insurer", "invoice", "issue", "item", "journal", "journey", "kategorie", "kit", "kunde", "kundin", "lead",
    "league", "lease", "lecture", "lesson", "letter", "libro", "licence", "lieferant", "lieferung", "listing", "livre",
    "loan", "location", "machine", "magasin", "magazine", "mandant", "manufacturer", "market", "match", "meal",
    "medication", "medicine", "meeting", "member", "membership", "merchant", "meter", "milestone", "mitarbeiter",
    "movie", "municipality", "museum", "nickname", "note", "notebook", "nurse", "order", "ordner", "organisation",
    "organization", "outlet", "owner", "page", "parcel", "park", "participant", "partner", "passenger", "path",
    "patient", "payee", "payer", "pedido", "person", "pet", "pharmacy", "photo", "picture", "place", "plant", "player",
    "playlist", "podcast", "portfolio", "post", "prescription", "presentation", "product", "producto", "produit",
    "produkt", "profile", "project", "projekt", "projet", "promotion", "proveedor", "proyecto", "publisher",
    "purchase", "quiz", "quote", "race", "rechnung", "recipe", "recipient", "repo", "repository", "reservation",
    "resident", "restaurant", "review", "reviewer", "ride", "room", "sale", "school", "seat", "seller", "seminar",
    "sender", "sendung", "sheet", "ship", "shipment", "shop", "site", "sku", "slide", "slug", "song", "space",
    "speaker", "species", "sponsor", "standort", "station", "stop", "store", "story", "street", "student", "studio",
    "subscriber", "subscription", "supplier", "surname", "survey", "taxpayer", "teacher", "team", "tenant", "ticket",
    "tienda", "tour", "tournament", "town", "track", "trader", "train", "traveller", "trip", "truck", "tutor",
    "university", "user", "username", "usuario", "utilisateur", "vehicle", "vendor", "venue", "veranstaltung",
    "verein", "vertrag", "vessel", "video", "village", "visitor", "volume", "volunteer", "voucher", "voyage", "wallet",
    "warehouse", "warenkorb", "website", "wiki", "winner", "wishlist", "witness", "worksheet", "workspace", "zone",
];

/// Parts of programs, sorted by bytes.
#[rustfmt::skip]
const PARTS: &[&str] = &[
    "adapter", "adaptor", "algorithm", "annotation", "api", "argument", "attribut", "attribute", "backend", "befehl",
    "block", "callback", "campo", "champ", "charset", "chart", "cipher", "class", "codec", "codepage", "colonne",
    "column", "columna", "command", "comparator", "component", "config", "configuration", "constraint", "controller",
    "converter", "currency", "datatype", "decoder", "decorator", "dependency", "device", "dialect", "directive",
    "driver", "eigenschaft", "element", "encoder", "encoding", "endpoint", "engine", "enum", "enumeration",
    "environment", "event", "expression", "extension", "extractor", "factory", "feature", "feld", "field", "filter",
    "flag", "format", "formatter", "function", "funktion", "gateway", "generator", "grammar", "handler", "hash",
    "header", "hook", "image", "integration", "interceptor", "interface", "key", "keyword", "language", "layer",
    "level", "library", "listener", "loader", "login", "macro", "manager", "mapper", "mapping", "method", "methode",
    "middleware", "mode", "model", "modul", "module", "méthode", "método", "namespace", "node", "operand", "operation",
    "operator", "option", "package", "param", "parameter", "parser", "permission", "phase", "plugin", "policy", "port",
    "privilege", "processor", "property", "propiedad", "propriété", "protocol", "provider", "qualifier", "query",
    "queue", "reason", "reducer", "relation", "renderer", "reporter", "resolver", "resource", "role", "route", "rule",
    "runner", "runtime", "scheduler", "schema", "scheme", "scope", "section", "selector", "serializer", "service",
    "setting", "signal", "slot", "spalte", "stage", "state", "statement", "status", "step", "storage", "strategy",
    "subsystem", "symbol", "syntax", "tabelle", "tabla", "table", "tag", "target", "task", "template", "theme", "tipo",
    "token", "tool", "topic", "transformer", "transport", "trigger", "typ", "type", "validator", "variable", "variant",
    "version", "view", "widget", "worker",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_sorted_and_have_no_word_in_common() {
        assert!(RECORDS.is_sorted() && PARTS.is_sorted());
        assert!(RECORDS.iter().all(|word| PARTS.binary_search(word).is_err()));
        for (word, named) in [
            ("projects", Some(Named::Record)),
            ("field", Some(Named::Part)),
            ("class", Some(Named::Part)),
            ("the", None),
        ] {
            assert_eq!(Named::by(word), named, "{word}");
        }
    }
}
