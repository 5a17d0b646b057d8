//! Recognises library frames: by package, by the directory of installed packages, by the runtimes' own names.

use super::Frame;
use crate::read::sorted::Sought;

/// Packages of the JVM's platform, languages, frameworks and drivers. Sorted, and no entry is a prefix of another: see
/// [`in_package`].
#[rustfmt::skip]
const JAVA: &[&str] = &[
    "akka.", "android.", "androidx.", "cats.", "ch.qos.", "clojure.", "com.amazonaws.", "com.azure.", "com.datadog.",
    "com.datastax.", "com.fasterxml.", "com.github.benmanes.", "com.google.", "com.hazelcast.", "com.ibm.",
    "com.microsoft.", "com.mongodb.", "com.mysql.", "com.netflix.", "com.newrelic.", "com.oracle.", "com.rabbitmq.",
    "com.sap.db.", "com.squareup.", "com.stripe.", "com.sun.", "com.typesafe.", "com.zaxxer.", "dalvik.", "feign.",
    "groovy.", "io.awspring.", "io.confluent.", "io.github.resilience4j.", "io.grpc.", "io.lettuce.",
    "io.micrometer.", "io.micronaut.", "io.netty.", "io.opentelemetry.", "io.projectreactor.", "io.quarkus.",
    "io.reactivex.", "io.sentry.", "io.smallrye.", "io.undertow.", "io.vertx.", "jakarta.", "java.", "javax.", "jdk.",
    "junit.", "kotlin.", "kotlinx.", "lambdainternal.", "lombok.", "net.bytebuddy.", "net.sf.", "okhttp3.", "okio.",
    "oracle.", "org.apache.", "org.aspectj.", "org.bouncycastle.", "org.codehaus.", "org.eclipse.",
    "org.elasticsearch.", "org.flywaydb.", "org.glassfish.", "org.gradle.", "org.h2.", "org.hibernate.", "org.jboss.",
    "org.jooq.", "org.json.", "org.junit.", "org.mariadb.", "org.mockito.", "org.mongodb.", "org.objectweb.",
    "org.opensearch.", "org.postgresql.", "org.quartz.", "org.reactivestreams.", "org.redisson.", "org.slf4j.",
    "org.springframework.", "org.wildfly.", "org.xerial.", "org.yaml.", "play.", "reactor.", "redis.clients.",
    "retrofit2.", "rx.", "scala.", "software.amazon.", "sun.", "zio.",
];

/// Namespaces of the .NET platform and of packages. Sorted, and no entry is a prefix of another.
#[rustfmt::skip]
const DOTNET: &[&str] = &[
    "Amazon.", "AutoMapper.", "Autofac.", "Azure.", "Castle.", "Confluent.", "Dapper.", "FSharp.",
    "FluentValidation.", "Google.", "Grpc.", "Hangfire.", "IdentityServer4.", "Internal.", "Interop.", "MassTransit.",
    "MediatR.", "MessagePack.", "Microsoft.", "MongoDB.", "Mono.", "Moq.", "MySql.", "MySqlConnector.", "NLog.",
    "NServiceBus.", "NUnit.", "Newtonsoft.", "Npgsql.", "OpenTelemetry.", "Oracle.", "Polly.", "Quartz.", "RabbitMQ.",
    "Rebus.", "Refit.", "RestSharp.", "Sentry.", "Serilog.", "ServiceStack.", "StackExchange.", "Stripe.", "System.",
    "Wolverine.", "Xunit.", "log4net.",
];

/// Whether a path begins with a package of a sorted table. Only the last package that sorts before the path can match:
/// anything between a prefix and the path begins with that prefix too.
fn in_package(packages: &[&str], path: &str) -> bool {
    let sought = Sought::new(path);
    let after = packages.partition_point(|package| sought.order_of(package).is_le());
    after > 0 && path.starts_with(packages[after - 1])
}

pub fn java(class: &str) -> bool {
    in_package(JAVA, class)
}

/// Whether a frame depends on runtime conditions: how a task was resumed, or how a method was called by reflection
/// (the JVM starts with one mechanism and switches to another).
pub fn is_noise(frame: &Frame<'_>) -> bool {
    if frame.in_app {
        return false;
    }
    const MODULES: &[&str] = &[
        "System.Runtime.CompilerServices.",
        "System.Runtime.ExceptionServices.",
        "System.Threading.ExecutionContext",
        "System.Threading.Tasks.",
        "java.lang.invoke.",
        "java.lang.reflect.",
        "jdk.internal.reflect.",
        "sun.reflect.",
    ];
    const FUNCTIONS: &[&str] = &["Promise", "process.processTicksAndRejections", "process._tickCallback"];
    in_package(MODULES, &frame.module)
        || frame.module.starts_with("index ")
        || FUNCTIONS.contains(&frame.function.as_ref())
}

pub fn dotnet(path: &str) -> bool {
    in_package(DOTNET, path) || path == "lambda_method"
}

pub fn node(path: &str) -> bool {
    ["node:", "internal/", "native", "<anonymous>", "index ", "webpack/", "wasm:"].iter().any(|prefix| path.starts_with(prefix))
        || ["node_modules/", "node_modules\\", "/var/runtime/", "/usr/lib/node", "(internal/", "/var/lang/"].iter().any(|part| path.contains(part))
        // The oldest runtimes print their own files without a directory: `events.js`, `_http_client.js`.
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

/// By the source's location, else by name: the path of a standard package has no dot in its first element.
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
        // `golang.org/x/sync@v0.3.0/errgroup/errgroup.go`: a module, built with -trimpath.
        || !path.starts_with('/') && path.contains("@v")
}

/// By crate and by the source's location: the toolchain's own path, the registry, a checkout.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_sorted_and_none_is_a_prefix_of_another() {
        for packages in [JAVA, DOTNET] {
            for pair in packages.windows(2) {
                assert!(pair[0] < pair[1] && !pair[1].starts_with(pair[0]), "{pair:?}");
            }
            assert!(packages.iter().all(|package| in_package(packages, &alloc::format!("{package}x.Y"))));
        }
        assert!(!java("shop.java.Cart") && !java("") && !java("zz") && !java("com.shop.Cart"));
    }
}
