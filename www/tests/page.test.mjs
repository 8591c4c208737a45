// The page in headless Chromium: the same bytes as in Node, and nothing leaves it.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { dirname, extname, join, normalize } from "node:path";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";

import { planJson } from "../../pkg/index.js";

const root = join(dirname(fileURLToPath(import.meta.url)), "..", "..");
const { chromium } = createRequire(join(root, "pkg", "package.json"))("playwright-core");
const folder = join(root, "fixtures/scenarios/s1-s2");
const names = readdirSync(folder).filter((name) => name.endsWith(".yaml"));
const files = names.map((name) => join(folder, name));
const types = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".wasm": "application/wasm" };

let server, browser, page;
const asked = [];

before(async () => {
  server = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    try {
      const body = readFileSync(join(root, path.endsWith("/") ? `${path}index.html` : path));
      response.writeHead(200, { "content-type": types[extname(path)] ?? "text/html" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
  });
  page = await browser.newPage();
  page.on("request", (request) => asked.push(`${request.method()} ${request.url()}`));
  await page.goto(`http://127.0.0.1:${server.address().port}/www/`);
});

after(async () => {
  await browser?.close();
  server?.close();
});

test("dropped files become a table, computed in a worker", async () => {
  await page.setInputFiles("#snapshot", files);
  await page.waitForSelector("#rows tr");
  const rows = await page.$$eval("#rows tr", (rows) => rows.map((row) => row.innerText.replace(/\s+/g, " ").trim()));
  assert.equal(rows.length, 2);
  assert.match(rows[0], /backupstrategy-controller v1 9 SKIPPED, 1 HOLLOW FORCE_AFTER/);
  assert.match(rows[1], /bucket-cozy-backups-system v1 2 SKIPPED FORCE_NOW/);
});

test("the report has the same bytes as in Node", async () => {
  const snapshot = names.map((name, i) => ({ name, bytes: readFileSync(files[i]) }));
  assert.equal(await page.evaluate(() => window.planner.json()), planJson({ snapshot }));
});

test("a release opens with its findings and their chains", async () => {
  await page.click("#rows tr:first-child button");
  const text = await page.$eval("#detail", (detail) => detail.textContent);
  assert.match(text, /SKIPPED CNPG cozy-default-cnpg/);
  assert.match(text, /strategies-sql\.yaml:2.*backups\.bucketName.*BucketClaim tenant-root\/bucket-cozy-backups \.status\.bucketName/s);
});

test("the plan shows two waves with the commands to paste", async () => {
  await page.click("#tab-plan");
  assert.deepEqual(await page.$$eval("#plan h2", (titles) => titles.map((title) => title.textContent)), ["Wave 1", "Wave 2"]);
  const commands = await page.$$eval("#plan .command code", (codes) => codes.map((code) => code.textContent));
  assert.equal(commands.length, 2);
  assert.match(commands[0], /^kubectl -n tenant-root annotate helmrelease bucket-cozy-backups-system .*"\$T1"/);
});

test("nothing leaves the page: only its own files are asked for", () => {
  const origin = `http://127.0.0.1:${server.address().port}/`;
  for (const request of asked) assert.ok(request.startsWith(`GET ${origin}`), request);
});

test("every control can be reached and has a name", async () => {
  const nameless = await page.$$eval("button, input, select", (controls) =>
    controls.filter((c) => !c.textContent.trim() && !c.labels?.length && !c.getAttribute("aria-label")).map((c) => c.outerHTML));
  assert.deepEqual(nameless, []);
});

test("silent states are in the table, and told with what to do", async () => {
  await page.reload();
  await page.setInputFiles("#snapshot", [join(root, "fixtures/silent/tokens/burnt-by-dependency/snapshot-3.yaml")]);
  await page.waitForSelector("#rows tr");
  assert.match(await page.$eval("#rows tr:first-child", (row) => row.innerText.replace(/\s+/g, " ")), /app v1 1 TOKEN_BURNT/);
  await page.click("#rows tr:first-child button");
  assert.match(await page.$eval("#detail .silent", (state) => state.textContent), /TOKEN_BURNT F-60 .*What to do: .*fresh token/s);
});

test("a broken file is named on the page, and the rest is predicted", async () => {
  await page.reload();
  await page.setInputFiles("#snapshot", [...files.map((path, i) => ({ name: names[i], mimeType: "text/yaml", buffer: readFileSync(path) })),
    { name: "cut.json", mimeType: "application/json", buffer: Buffer.from('{"kind": "Li') }]);
  await page.waitForSelector("#rows tr");
  await page.click("#tab-problems");
  assert.match(await page.$eval("#problems", (p) => p.textContent), /cut\.json:1 the file ends in the middle/);
  assert.equal((await page.$$("#rows tr")).length, 2);
});
