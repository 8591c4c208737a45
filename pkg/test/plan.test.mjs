// The built package in Node: the same bytes as the native program, whatever the order of the files.
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

import { explain, lint, lintJson, offline, offlineJson, plan, planJson, planText, settled, settledJson, settledText, why, whyJson, whyText, diff, diffJson, whatIfJson } from "../index.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const folder = "fixtures/scenarios/s1-s2";
// The native program names files by their path; so do we.
const snapshot = readdirSync(join(root, folder))
  .filter((name) => name.endsWith(".yaml"))
  .map((name) => ({ name: `${folder}/${name}`, bytes: readFileSync(join(root, folder, name)) }));

execFileSync("cargo", ["build", "--quiet", "--bin", "reconcile-planner"], { cwd: root, stdio: "inherit" });
const native = (...args) => nativeEnding(2, ...args);
const nativeEnding = (status, ...args) => {
  const run = spawnSync("cargo", ["run", "--quiet", "--bin", "reconcile-planner", "--", ...args], { cwd: root, encoding: "utf8", maxBuffer: 1 << 28 });
  assert.equal(run.status, status, run.stderr);
  return run.stdout;
};

test("the report has the same bytes as the native program's", () => {
  assert.equal(`${planJson({ snapshot })}\n`, native("plan", "-o", "json", folder));
});

test("the table has the same bytes as the native program's", () => {
  assert.equal(planText({ snapshot }), native("plan", folder));
});

test("silent states come with their rule and what to do", () => {
  const name = "fixtures/silent/tokens/burnt-by-dependency/snapshot-3.yaml";
  const burnt = { snapshot: [{ name, bytes: readFileSync(join(root, name)) }] };
  const told = plan(burnt).releases.find(({ release }) => release.name === "app").silent;
  assert.deepEqual(told.map(({ state, rule }) => `${state} ${rule}`), ["TOKEN_BURNT F-60"]);
  assert.match(told[0].remedy, /fresh token/);
  assert.deepEqual(why(burnt, "tokens-burnt-by-dependency-d", "app").silent, told);
});

test("the order of the files does not matter", () => {
  assert.equal(planJson({ snapshot: [...snapshot].reverse() }), planJson({ snapshot }));
});

test("the report is data with verdicts, findings and waves", () => {
  const report = plan({ snapshot });
  const release = report.releases.find(({ release }) => release.name === "backupstrategy-controller");
  assert.equal(release.verdict.verdict, "FORCE_AFTER");
  assert.equal(release.findings.filter((finding) => finding.class === "SKIPPED").length, 9);
  assert.deepEqual(report.plan.waves.map(({ steps }) => steps.map((step) => step.release.name)),
    [["bucket-cozy-backups-system"], ["backupstrategy-controller"]]);
});

test("explain names the chain; an unknown release is undefined", () => {
  const text = explain({ snapshot }, "cozy-backup-controller", "backupstrategy-controller", "CNPG/cozy-default-cnpg");
  assert.match(text, /BucketClaim tenant-root\/bucket-cozy-backups \.status\.bucketName/);
  assert.equal(explain({ snapshot }, "a", "b"), undefined);
});

test("settled and why have the same bytes as the native program's", () => {
  const file = "fixtures/scenarios/s4/10/snapshot.yaml";
  const inputs = { snapshot: [{ name: file, bytes: readFileSync(join(root, file)) }] };
  const question = ["sylva-system", "sylva-units", { revision: "7efe12ed" }];
  const args = ["settled", "sylva-system/sylva-units", "--revision", "7efe12ed", file];
  assert.equal(`${settledJson(inputs, ...question)}\n`, nativeEnding(3, ...args, "-o", "json"));
  assert.equal(settledText(inputs, ...question), nativeEnding(3, ...args));
  assert.equal(settled(inputs, ...question).expectedRevision, 4);
  const release = ["cozy-backup-controller", "backupstrategy-controller", { stamp: true }];
  const because = ["why", "cozy-backup-controller/backupstrategy-controller", "--stamp", folder];
  assert.equal(`${whyJson({ snapshot }, ...release)}\n`, nativeEnding(0, ...because, "-o", "json"));
  assert.equal(whyText({ snapshot }, ...release), nativeEnding(0, ...because));
  assert.equal(why({ snapshot }, ...release).stamped.token, "honoured");
  assert.equal(settled(inputs, "a", "b"), undefined);
});

test("differences and what-ifs have the bytes of the native program", () => {
  const folder = "fixtures/scenarios/s1-s2";
  const release = ["tenant-root", "bucket-cozy-backups-system"];
  assert.equal(`${diffJson({ snapshot }, ...release)}\n`, nativeEnding(2, "diff", release.join("/"), "-s", folder, "-o", "json"));
  assert.equal(diff({ snapshot }, ...release).length, 2);
  assert.equal(diff({ snapshot }, "a", "b"), undefined);
  const apis = { helm: "3.17", apiVersions: ["a.io/v1"] };
  const flags = ["--helm", "3.17", "--api-versions", "a.io/v1"];
  assert.equal(`${whatIfJson({ snapshot }, apis)}\n`, nativeEnding(0, "whatif", folder, ...flags, "-o", "json"));
});

test("offline and lint have the bytes of the native program", () => {
  assert.equal(`${offlineJson({ snapshot })}\n`, nativeEnding(2, "offline", folder, "-o", "json"));
  assert.ok(offline({ snapshot }).some(({ verdict }) => verdict === "NOT_SAFE_CLIENT_SIDE"));
  const top = "fixtures/charts/bucket-system";
  const chart = readdirSync(join(root, top), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name))
    .map((path) => ({ name: path.slice(join(root, "fixtures/charts").length + 1), bytes: readFileSync(path) }));
  const values = "users: {a: {}}";
  const flags = ["--helm", "4.2", "--set-json", 'users={"a":{}}', "-o", "json"];
  assert.equal(`${lintJson(chart, { name: "x", values })}\n`, nativeEnding(2, "lint", "x", top, ...flags));
  assert.ok(lint(chart, { name: "x", values }).items.length > 0);
  assert.throws(() => lint([]));
});

test("hostile input ends in a diagnostic, not in a trap", () => {
  const hostile = [
    { name: "a.yaml", bytes: "a: ".repeat(50_000) },
    { name: "b.yaml", bytes: "[".repeat(50_000) },
    { name: "c.json", bytes: `{"a":`.repeat(50_000) },
    { name: "d.yaml", bytes: new Uint8Array([0xff, 0xfe, 0, 1, 2]) },
  ];
  const report = plan({ snapshot: [...hostile, ...snapshot] });
  assert.equal(report.diagnostics.filter(({ severity }) => severity === "error").length, hostile.length);
  assert.equal(report.releases.length, 9);
});

test("an unknown option is refused by name", () => {
  assert.throws(() => plan({ snapshot, conroller: "1.6.2" }), /conroller/);
});
