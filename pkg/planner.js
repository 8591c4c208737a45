// What Node and the browser share: plain data in, plain data out. No logic lives here.
import { Planner } from "./dist/planner.js";

/** Feeds files and options to a planner and returns it; the caller frees it. */
function feed({ snapshot = [], charts = [], ...options }) {
  const planner = new Planner(JSON.stringify(options));
  for (const { name, bytes } of snapshot) planner.addSnapshot(name, asBytes(bytes));
  for (const { name, bytes } of charts) planner.addChart(name, asBytes(bytes));
  return planner;
}

const asBytes = (bytes) => (typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes);

/** Runs `use` on a planner for `inputs` and frees it. */
function withPlanner(inputs, use) {
  const planner = feed(inputs);
  try {
    return use(planner);
  } finally {
    planner.free();
  }
}

export const planJson = (inputs) => withPlanner(inputs, (p) => p.plan());
export const plan = (inputs) => JSON.parse(planJson(inputs));
export const planText = (inputs) => withPlanner(inputs, (p) => p.planText());
export const explain = (inputs, namespace, name, object) => withPlanner(inputs, (p) => p.explain(namespace, name, object));

export const diffJson = (inputs, namespace, name, { showSecrets = false } = {}) =>
  withPlanner(inputs, (p) => p.diff(namespace, name, showSecrets));
export const diff = (...question) => parsed(diffJson(...question));
export const whatIfJson = (inputs, { helm, kubeVersion, apiVersions = [] } = {}) =>
  withPlanner(inputs, (p) => p.whatIf(helm, kubeVersion, apiVersions.join(",")));
export const whatIf = (...question) => parsed(whatIfJson(...question));

export const offlineJson = (inputs, { kubeVersion, apiVersions = [] } = {}) =>
  withPlanner(inputs, (p) => p.offline(kubeVersion, apiVersions.join(",")));
export const offline = (...question) => parsed(offlineJson(...question));
export const lintJson = (charts, { name = "release-name", namespace = "default", helm = "4.2", values } = {}) =>
  withPlanner({ charts }, (p) => p.lint(name, namespace, helm, values));
export const lint = (...question) => parsed(lintJson(...question));

const parsed = (json) => (json === undefined ? undefined : JSON.parse(json));

const ask = (words) => (inputs, namespace, name, { revision, kind } = {}) =>
  withPlanner(inputs, (p) => p.settled(namespace, name, revision, kind, words));
const because = (words) => (inputs, namespace, name, { stamp = false } = {}) =>
  withPlanner(inputs, (p) => p.why(namespace, name, stamp, words));

export const settledJson = ask(false);
export const settledText = ask(true);
export const settled = (...question) => parsed(settledJson(...question));
export const whyJson = because(false);
export const whyText = because(true);
export const why = (...question) => parsed(whyJson(...question));
