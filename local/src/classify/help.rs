//! What `dlo classify --help` says of input, output and exit status. A test runs its examples.

/// The part of the help after the options.
pub const HELP: &str = r#"Input: one JSON object per line of at most 8 MiB. `jq -c .` prints JSON so, and `jq -c '.[]'` the elements of an array.

  An error record. Every field is optional, but one besides the id is needed:
    {"id":1,"error_type":"java.net.SocketTimeoutException","error_message":"Read timed out"}

    id             any JSON value; the answer repeats it as it is written
    error_type     class or code of the error
    error_message  its message
    stack_trace    its stack: a text, or an array of lines; anything else counts as none
    body           body of the message that failed: a text, or JSON. Counts only if there is no error

    Other spellings count, too: Lambda's errorType, errorMessage and stackTrace, or message and stack, also inside an
    object error. Other fields are ignored. stderr names them, once for each set of fields, for the first 16 sets.

  A dead letter: an SQS message as the AWS command prints it, a Lambda event with its Records, or what Lambda sends to
  an on-failure destination:
    aws sqs receive-message --queue-url "$DLQ" --message-attribute-names All --attribute-names All | jq -c . | dlo classify

Output: one JSON object per record and message, in the order of the input:
    {"id":1,"fingerprint":"c6daffcba68feb6bfd2badb0cd23598f","class":"transient","category":"timeout","confidence":95,"reason":"matched: error type SocketTimeoutException","title":"SocketTimeoutException: Read timed out"}

    id             that of the input; null if it has none
    fingerprint    equal for errors with the same cause: what varies between occurrences does not count
    class          transient  the environment failed: the same message may succeed later
                   permanent  the same message fails again until something changes
                   unknown    not known, or public sources disagree about the error
    category       what went wrong; see below
    confidence     percent, 0 to 100: how sure the evidence for the class is. A ranking, not a probability.
                     85-100  a code, a type or a known sentence. 100 is a rule of your policy
                     60-84   words of the message or of the type's name, or what the sender claims
                     26-59   the form of the sentence, or what is wrong with the body; sources that disagree
                     1-25    a guess: the office decides nothing by it. Treat the class as unknown
                     0       nothing is known
    reason         the evidence in words
    title          one line for people; `*` stands for data

    A line that cannot be read is answered with an error, and the next one is classified:
    {"line":2,"error":"..."}   with the id, if the line is JSON and has one

  Categories:
    timeout                 a dependency did not respond in time
    throttled               a rate limit was exceeded
    dependency_unavailable  a service, database or broker is down or unreachable
    conflict                a concurrent change, lock or version conflict
    resource_limit          a quota, size, memory or disk limit
    malformed_payload       the body cannot be parsed
    schema_violation        the body can be parsed, but is not what the consumer expects
    missing_reference       a referenced object does not exist
    duplicate               the object exists already
    business_rule           a business rule forbids it
    auth                    not authenticated or not authorized
    configuration           the consumer is misconfigured
    consumer_bug            a bug in the consumer's own code
    expired                 the message was too late
    invalid_tenant          the tenant or account does not exist or is closed
    bystander               another message of its batch failed
    unknown                 not known

With jq:
    dlo classify errors.jsonl | jq -c 'select(.class == "permanent" and .confidence > 25)'
    dlo classify errors.jsonl | jq -r '[.class, .category] | @tsv' | sort | uniq -c

Exit status:
    0  every line was classified
    1  a line could not be read (its answer has an error), or the input or output failed
    2  the arguments are wrong"#;
