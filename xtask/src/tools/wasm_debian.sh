# Builds the standard library for wasm32-unknown-unknown from Debian's packaged Rust sources with
# Debian's matching compiler, and links that compiler into rustup as the toolchain `wasm`.
# For machines whose rustup cannot download the target. RUSTUP_SYSROOT: the active toolchain's folder.
set -euo pipefail
export DEBIAN_FRONTEND=noninteractive
unset RUSTUP_TOOLCHAIN RUSTFLAGS CARGO_TARGET_DIR
apt-get update -q
apt-get install -y -q --no-install-recommends rustc-web cargo-web rust-web-src rust-web-clippy
target=wasm32-unknown-unknown
host=$(/usr/bin/rustc -vV | sed -n 's/^host: //p')
lib=/usr/lib/rustlib/$target/lib
# Debian ships no linker for wasm; the one that came with rustup fits.
mkdir -p "/usr/lib/rustlib/$host/bin"
ln -sf "$RUSTUP_SYSROOT/lib/rustlib/$host/bin/rust-lld" "/usr/lib/rustlib/$host/bin/rust-lld"
if ! ls "$lib"/libstd-*.rlib >/dev/null 2>&1; then
  seed=$(mktemp -d)
  trap 'rm -rf "$seed"' EXIT
  cd "$seed"
  mkdir src
  echo '#![no_std]' > src/lib.rs
  printf '[package]\nname = "sysroot-seed"\nversion = "0.0.0"\nedition = "2021"\n' > Cargo.toml
  # Bitcode is needed for link-time optimisation, the `test` crate for tests in the browser.
  RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RUSTFLAGS=-Cembed-bitcode=yes /usr/bin/cargo build --release \
    --target "$target" -Z build-std=std,panic_abort,panic_unwind,proc_macro,test
  rm -f target/$target/release/deps/libsysroot_seed*
  mkdir -p "$lib.new"
  cp target/$target/release/deps/*.rlib "$lib.new"
  rm -rf "$lib"
  mv "$lib.new" "$lib"
fi
rustup toolchain link wasm /usr
