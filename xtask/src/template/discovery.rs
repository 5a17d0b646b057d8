//! Which values the parameter `DiscoveryUrl` accepts. With one, the stack's own user pool asks for no authenticator app and
//! takes passwords through the API, so it must be an address that no deployment on AWS can use.

use super::{TEMPLATE, translated};
use crate::failure::{Failure, Outcome};
use crate::paths::Paths;
use crate::run;
use crate::tools::aws;
use serde_json::{Value, json};
use std::process::Command;

/// The part of the stack with the user pool, which has the parameter as well.
const PEOPLE: &str = "infra/people.yaml";
/// Prints which values match a pattern as a whole. CloudFormation's patterns are Java's; these two read the same.
const MATCHES: &str = "import json, re, sys
pattern, values = json.loads(sys.argv[1])
print(json.dumps([bool(re.fullmatch(pattern, value)) for value in values]))";
const ROWS: [(&str, bool); 17] = [
    ("", true),
    ("http://127.0.0.1:4566", true),
    ("http://127.0.0.1:40123/us-east-1_a1B2c3D4e", true),
    ("http://localhost:4566", true),
    ("https://localhost", true),
    ("http://[::1]:8080/realms/staff", true),
    ("https://cognito-idp.eu-west-1.amazonaws.com", false),
    ("https://cognito-idp.eu-west-1.amazonaws.com/eu-west-1_a1B2c3D4e", false),
    ("https://people.example", false),
    ("http://127.0.0.1.people.example", false),
    ("http://localhost.people.example:80", false),
    ("http://localhost@people.example", false),
    ("http://localhost:80@people.example", false),
    ("http://127x0x0x1", false),
    ("http://localhost\",\"issuer\":\"https://people.example", false),
    ("http://localhost/a\nb", false),
    ("x", false),
];

/// Asks Python for each row.
pub fn check(paths: &Paths) -> Outcome<()> {
    let programs = aws::ensure_sam(paths)?;
    for template in [TEMPLATE, PEOPLE] {
        let pattern = translated(paths, template, &[])?["Parameters"]["DiscoveryUrl"]["AllowedPattern"].take();
        let asked = json!([pattern, ROWS.map(|(value, _)| value)]).to_string();
        let mut python = run::cleaned(Command::new(programs.join("python")), paths);
        let answer: Value = serde_json::from_str(&run::stdout_of(python.args(["-c", MATCHES, &asked]))?)
            .map_err(|cause| Failure::new(format!("Python wrote no JSON: {cause}.")))?;
        for (index, (value, wanted)) in ROWS.iter().enumerate() {
            if answer[index] != *wanted {
                let verb = if *wanted { "refuses" } else { "accepts" };
                return Err(Failure::new(format!("The parameter DiscoveryUrl of {template} {verb} {value:?}.")));
            }
        }
    }
    Ok(())
}
