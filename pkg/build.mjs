// Builds the wasm package into dist/: cargo, then wasm-bindgen. One artefact serves Node, browser, worker and plugin.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
const run = (program, ...args) => execFileSync(program, args, { cwd: root, stdio: "inherit" });

run("cargo", "build", "--quiet", "--lib", "--profile", "wasm", "--no-default-features", "--target", "wasm32-unknown-unknown");
const target = process.env.CARGO_TARGET_DIR ?? join(root, "target");
run("wasm-bindgen", join(target, "wasm32-unknown-unknown", "wasm", "helm_render_predictor.wasm"),
  "--target", "web", "--remove-name-section", "--remove-producers-section", "--out-dir", join(here, "dist"), "--out-name", "planner");

const wasm = readFileSync(join(here, "dist", "planner_bg.wasm"));
const brotli = brotliCompressSync(wasm).length;
const limit = 900_000;
console.log(`planner_bg.wasm: ${wasm.length} bytes, ${brotli} with brotli (at most ${limit})`);
if (brotli > limit) process.exit(1);
