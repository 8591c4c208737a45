// The page: takes files, asks the worker, shows the answer.
import { droppedFiles, readAll, sortFiles } from "./files.js";
import { detail, planView, problemsView, row } from "./views.js";

const $ = (id) => document.getElementById(id);
const state = { snapshot: [], charts: [], json: null, report: null, run: 0, worker: null };

function compute() {
  // Only the newest question matters: a run that is still going is stopped, not waited for.
  state.worker?.terminate();
  state.worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
  const id = ++state.run;
  $("status").textContent = `Reading ${state.snapshot.length} snapshot and ${state.charts.length} chart files…`;
  state.worker.onmessage = ({ data }) => data.id === id && (data.error ? fail(data.error) : show(data));
  state.worker.onerror = (event) => fail(event.message ?? "the worker could not start");
  state.worker.postMessage({ id, inputs: { snapshot: state.snapshot, charts: state.charts, assumeComplete: $("complete").checked } });
}

function fail(message) {
  $("status").textContent = `Failed: ${message}`;
}

function show({ json, milliseconds }) {
  state.json = json;
  state.report = JSON.parse(json);
  const { releases, snapshot } = state.report;
  $("status").textContent = `${snapshot.objects} objects, ${releases.length} releases, ${Math.round(milliseconds)} ms. Nothing left this page.`;
  $("result").hidden = false;
  rows();
  $("plan").replaceChildren(...planView(state.report.plan));
  $("problems").replaceChildren(...problemsView(state.report));
  $("tab-problems").textContent = `Problems (${state.report.diagnostics.length})`;
}

function rows() {
  const all = $("filter").value === "all";
  const shown = state.report.releases.filter((r) => all || r.findings.length > 0 || r.silent.length > 0 || r.verdict.verdict !== "IN_SYNC");
  $("rows").replaceChildren(...shown.map((release) => row(release, () => $("detail").replaceChildren(...detail(release)))));
  $("detail").replaceChildren(...(shown.length ? detail(shown[0]) : []));
}

function add({ snapshot, charts }) {
  state.snapshot.push(...snapshot);
  state.charts.push(...charts);
  compute();
}

$("snapshot").onchange = async ({ target }) => add(sortFiles(await readAll([...target.files])));
$("charts").onchange = async ({ target }) => add({ snapshot: [], charts: await readAll([...target.files]) });
$("complete").onchange = () => state.snapshot.length && compute();
$("filter").onchange = rows;
document.ondragover = (event) => event.preventDefault();
document.ondrop = async (event) => {
  event.preventDefault();
  add(sortFiles(await droppedFiles(event.dataTransfer)));
};
$("save").onclick = () => {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([state.json], { type: "application/json" }));
  link.download = "report.json";
  link.click();
  URL.revokeObjectURL(link.href);
};
for (const tab of document.querySelectorAll("[role=tab]")) {
  tab.onclick = () => {
    for (const other of document.querySelectorAll("[role=tab]")) {
      other.setAttribute("aria-selected", String(other === tab));
      $(other.getAttribute("aria-controls")).hidden = other !== tab;
    }
  };
}

// For tests and for embedding: the report as the worker returned it.
window.planner = { json: () => state.json };
