//! Which frames belong to libraries: by package, by where packages are installed, by the runtimes' own names.

/// Packages of the JVM's platform, languages, frameworks and drivers.
#[rustfmt::skip]
const JAVA: &[&str] = &[
    "java.", "javax.", "jakarta.", "jdk.", "sun.", "com.sun.", "com.oracle.", "kotlin.", "kotlinx.", "scala.",
    "clojure.", "groovy.", "org.codehaus.", "akka.", "org.springframework.", "org.apache.", "org.hibernate.",
    "org.jboss.", "org.wildfly.", "org.eclipse.", "org.glassfish.", "org.aspectj.", "org.postgresql.", "org.mariadb.",
    "org.h2.", "org.junit.", "org.mockito.", "org.slf4j.", "org.gradle.", "org.quartz.", "org.redisson.", "org.jooq.",
    "org.flywaydb.", "org.elasticsearch.", "org.opensearch.", "org.mongodb.", "org.json.", "org.yaml.",
    "org.bouncycastle.", "org.reactivestreams.", "org.objectweb.", "org.xerial.", "com.fasterxml.", "com.google.",
    "com.amazonaws.", "com.azure.", "com.microsoft.", "com.mysql.", "com.mongodb.", "com.rabbitmq.", "com.zaxxer.",
    "com.netflix.", "com.squareup.", "com.github.benmanes.", "com.datadog.", "com.newrelic.", "com.ibm.",
    "com.sap.db.", "com.typesafe.", "com.hazelcast.", "com.datastax.", "com.stripe.", "io.netty.", "io.grpc.",
    "io.micrometer.", "io.opentelemetry.", "io.lettuce.", "io.vertx.", "io.quarkus.", "io.micronaut.",
    "io.reactivex.", "io.projectreactor.", "io.awspring.", "io.confluent.", "io.github.resilience4j.", "io.undertow.",
    "io.smallrye.", "io.sentry.", "software.amazon.", "reactor.", "rx.", "okhttp3.", "okio.", "retrofit2.", "feign.",
    "redis.clients.", "net.sf.", "net.bytebuddy.", "ch.qos.", "lombok.", "oracle.", "play.", "zio.", "cats.",
    "android.", "androidx.", "dalvik.", "lambdainternal.", "junit.",
];

/// Name spaces of the .NET platform and of packages.
#[rustfmt::skip]
const DOTNET: &[&str] = &[
    "System.", "Microsoft.", "Newtonsoft.", "Amazon.", "Azure.", "MassTransit.", "NServiceBus.", "Npgsql.", "MySql.",
    "MySqlConnector.", "Polly.", "Dapper.", "Serilog.", "AutoMapper.", "Castle.", "Grpc.", "Google.",
    "StackExchange.", "Confluent.", "RabbitMQ.", "MediatR.", "FluentValidation.", "NUnit.", "Xunit.", "Autofac.",
    "NLog.", "log4net.", "Hangfire.", "MongoDB.", "Oracle.", "Quartz.", "RestSharp.", "Refit.", "Stripe.", "Sentry.",
    "OpenTelemetry.", "Rebus.", "Wolverine.", "FSharp.", "Mono.", "Interop.", "Internal.", "MessagePack.",
    "ServiceStack.", "IdentityServer4.", "Moq.",
];

pub fn java(class: &str) -> bool {
    JAVA.iter().any(|prefix| class.starts_with(prefix))
}

pub fn dotnet(path: &str) -> bool {
    DOTNET.iter().any(|prefix| path.starts_with(prefix)) || path == "lambda_method"
}

pub fn node(path: &str) -> bool {
    ["node:", "internal/", "native", "<anonymous>", "index ", "webpack/", "wasm:"].iter().any(|prefix| path.starts_with(prefix))
        || ["node_modules/", "node_modules\\", "/var/runtime/", "/usr/lib/node", "(internal/", "/var/lang/"].iter().any(|part| path.contains(part))
        // The oldest forms of the runtime's own files stand without a directory: `events.js`, `_http_client.js`.
        || !path.contains(['/', '\\'])
}

pub fn python(path: &str) -> bool {
    path.starts_with('<')
        || [
            "site-packages",
            "dist-packages",
            "/lib/python",
            "\\lib\\",
            "/var/runtime/",
            "/var/lang/",
            "/opt/python/",
            "/usr/lib/",
            "\\Python3",
            "/.pyenv/versions/",
        ]
        .iter()
        .any(|part| path.contains(part))
}

pub fn ruby(path: &str) -> bool {
    path.starts_with('<')
        || [
            "/gems/",
            "/lib/ruby/",
            "/rubygems/",
            "/bundler/",
            "/bin/bundle",
            "/bin/rake",
            "/bin/sidekiq",
            "/bin/ruby",
            "/var/runtime/",
            "/exe/",
        ]
        .iter()
        .any(|part| path.contains(part))
}

pub fn php(path: &str) -> bool {
    path.contains("/vendor/")
        || path.contains("\\vendor\\")
        || path.contains("phar://")
        || path == "[internal function]"
}

/// By where the source lies, else by the name: a standard package's path has no dot in its first element.
pub fn go(path: &str, function: &str) -> bool {
    #[rustfmt::skip]
    const STANDARD: &[&str] = &[
        "runtime.", "runtime/", "net.", "net/", "testing.", "reflect.", "sync.", "sync/", "syscall.", "os.", "os/",
        "io.", "bufio.", "encoding/", "database/sql", "crypto/", "internal/", "time.", "context.", "fmt.", "strings.",
        "strconv.", "errors.", "log.", "log/", "sort.", "slices.", "panic",
    ];
    [
        "/pkg/mod/",
        "/vendor/",
        "/usr/local/go/",
        "/usr/lib/go",
        "/libexec/src/",
        "/go/src/runtime/",
        "/root/go/pkg/",
        "_testmain",
    ]
    .iter()
    .any(|part| path.contains(part))
        || STANDARD.iter().any(|prefix| function.starts_with(prefix))
}

/// By crate, and by where the source lies: the toolchain's own path, the registry, a checkout.
pub fn rust(symbol: &str, place: &str) -> bool {
    #[rustfmt::skip]
    const CRATES: &[&str] = &[
        "std", "core", "alloc", "rust_begin_unwind", "rust_panic", "__rust", "__rustc", "_start", "__libc_start",
        "__libc_start_main", "main", "start_thread", "clone", "clone3", "tokio", "tokio_util", "hyper", "hyper_util",
        "futures", "futures_util", "futures_core", "async_std", "actix_rt", "actix_web", "axum", "tower",
        "tower_http", "tracing", "tonic", "reqwest", "rayon", "rayon_core", "backtrace", "anyhow", "eyre", "serde",
        "serde_json", "sqlx", "sqlx_core", "diesel", "lambda_runtime", "aws_sdk_sqs", "aws_smithy_runtime", "rdkafka",
        "crossbeam", "mio", "test", "h2", "rustls", "warp", "rocket", "lapin", "redis", "mongodb", "chrono", "uuid",
    ];
    if [
        "/rustc/",
        "/.cargo/registry/",
        "/cargo/registry/",
        "/.cargo/git/",
        "/library/std/",
        "/library/core/",
        "/library/alloc/",
        "index.crates.io",
    ]
    .iter()
    .any(|part| place.contains(part))
    {
        return true;
    }
    let first = symbol.trim_start_matches(['<', '&', '_']).split("::").next().unwrap_or(symbol);
    let first = first.trim_start_matches("dyn ").trim_start_matches("mut ");
    CRATES.contains(&first)
        || symbol.starts_with("__")
        || symbol.starts_with("<unknown>")
        || symbol.starts_with("_$LT$") && symbol.contains("$GT$")
}
