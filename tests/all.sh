#!/usr/bin/env bash
# Everything that must hold, on a fresh machine too: installs what it needs, then checks and tests. Used by CI.
set -euo pipefail
cd "$(dirname "$0")/.."

BINDGEN=0.2.129   # must equal wasm-bindgen in Cargo.toml
step() { printf '\n== %s\n' "$*"; }

step "tools"
rustup component add clippy rustfmt 2>/dev/null
rustup target add wasm32-unknown-unknown 2>/dev/null
wasm-bindgen --version 2>/dev/null | grep -qF "$BINDGEN" || cargo install --quiet --locked wasm-bindgen-cli --version "$BINDGEN"
command -v chromium >/dev/null || { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; }
(cd pkg && npm ci --silent --no-audit --no-fund)

step "format"
cargo fmt --check

step "lints, native and wasm32"
cargo clippy --quiet --all-targets -- -D warnings
cargo clippy --quiet --lib --no-default-features --target wasm32-unknown-unknown -- -D warnings

step "native tests"
cargo test --quiet

step "wasm package"
node pkg/build.mjs

step "wasm tests in Node, browser tests in headless Chromium"
node --test pkg/test/*.test.mjs www/tests/*.test.mjs
