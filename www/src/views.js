// Turns a report into elements. Text goes in as text: nothing of the snapshot is ever read as markup.

/** An element with attributes (`on…` are listeners) and children. */
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const ref = ({ namespace, name }) => `${namespace}/${name}`;
const objectText = ({ kind, namespace, name }) => `${kind} ${namespace ? `${namespace}/` : ""}${name || "*"}`;
const factText = ({ key, field }) => (field ? `${key} ${field}` : key);

/** `FORCE_AFTER (a/b)` */
export function verdictText(verdict) {
  const details = verdict.releases?.map(ref) ?? verdict.fields ?? verdict.cycle ?? verdict.missing ?? [];
  const one = verdict.error ?? verdict.reason ?? verdict.by ?? verdict.what;
  const text = [...details, ...(one ? [one] : [])].join(", ");
  return text ? `${verdict.verdict} (${text})` : verdict.verdict;
}

function counts({ findings, silent }) {
  const seen = new Map();
  for (const { class: name } of findings) seen.set(name, (seen.get(name) ?? 0) + 1);
  for (const { state } of silent) seen.set(state, (seen.get(state) ?? 0) + 1);
  return [...seen].map(([name, n]) => `${n} ${name}`).join(", ") || "–";
}

/** One row of the table of releases. */
export function row(release, open) {
  return el("tr", { "data-verdict": release.verdict.verdict },
    el("td", {}, el("button", { type: "button", class: "link", onclick: open }, ref(release.release))),
    el("td", {}, release.revision === null ? "–" : `v${release.revision}`),
    el("td", {}, counts(release)),
    el("td", {}, el("span", { class: "verdict" }, verdictText(release.verdict))));
}

/** A release with its findings and their chains. */
export function detail(release) {
  const keys = new Map(release.keys.map((key) => [key.key, key]));
  return [
    el("h2", {}, ref(release.release)),
    el("p", {}, `Flux: ${release.decision.state} (${release.decision.reason}); next action: ${release.decision.action}.`),
    ...release.notes.map((note) => el("p", { class: "note" }, note)),
    ...release.dangers.map(({ kind, object }) => el("p", { class: "danger" }, `A force ${kind} ${objectText(object)}.`)),
    ...release.silent.map(silentView),
    ...release.findings.map((finding) => findingView(finding, keys)),
    el("details", {}, el("summary", {}, "What the controller checks"),
      el("ol", {}, ...release.decision.trace.map(({ rule, text }) => el("li", {}, el("code", {}, rule), ` ${text}`)))),
  ];
}

function silentView({ state, rule, text, objects, meaning, remedy }) {
  return el("details", { class: "silent" },
    el("summary", {}, el("b", {}, state), " ", el("code", {}, rule), ` ${text}`),
    el("p", {}, `${meaning}.`), el("p", {}, `What to do: ${remedy}.`),
    objects.length ? el("ul", {}, ...objects.map((object) => el("li", {}, objectText(object)))) : null);
}

function findingView(finding, keys) {
  return el("details", { class: "finding" },
    el("summary", {}, el("b", {}, finding.class), ` ${finding.object ? objectText(finding.object) : ""} ${finding.fields.join(", ")}`),
    finding.error ? el("pre", {}, finding.error) : null,
    ...finding.chains.map((chain) => chainView(chain, keys.get(chain.key))));
}

function chainView(chain, key) {
  const steps = [`${chain.place}  ${chain.condition}`, ...chain.helpers, `${chain.lookup}  lookup ${factText(chain)}`];
  if (key) steps.push(`${key.exists}; ${producerText(key.producer)}`);
  return el("ol", { class: "chain" }, ...steps.map((step) => el("li", {}, step)));
}

function producerText({ kind, release, fieldWriter, selfProduced, evidence }) {
  const who = release ? (kind === "release" ? `made by release ${ref(release)}` : `made by a ${kind} that acts for release ${ref(release)}`)
    : kind === "unknown" ? "nobody in this snapshot makes it" : `made by a ${kind}`;
  return [who, selfProduced ? `self-produced(${selfProduced})` : "", fieldWriter ? `the field is written by ${fieldWriter}` : "",
    evidence.length ? `[${evidence.join("; ")}]` : ""].filter(Boolean).join(", ");
}

/** The waves with their commands and gates. */
export function planView(plan) {
  if (plan.waves.length === 0 && plan.blocked.length === 0) return [el("p", {}, "Nothing to force.")];
  return [
    ...plan.waves.map((wave) => el("section", { class: "wave" }, el("h2", {}, `Wave ${wave.number}`), ...wave.steps.map(stepView))),
    ...plan.blocked.map((blocked) => el("section", { class: "wave blocked" },
      el("h2", {}, `Blocked: ${ref(blocked.release)}`), el("p", {}, blocked.by), ...blocked.commands.map(commandView))),
    el("p", {}, `Force one release at most every ${plan.throttleSeconds} s; different releases need not wait for each other.`),
  ];
}

function stepView(step) {
  const { created, changed, deleted, rotated } = step.expected;
  const list = (title, items) => (items.length ? el("details", {}, el("summary", {}, `${items.length} ${title}`), el("ul", {}, ...items.map((item) => el("li", {}, item)))) : null);
  return el("div", { class: "step" }, el("h3", {}, ref(step.release)),
    ...step.commands.map(commandView),
    el("p", {}, "Go on when:"), el("ul", {}, ...step.gate.map((line) => el("li", {}, line))),
    list("created", created.map(objectText)), list("changed", changed.map((c) => `${objectText(c.object)} ${c.fields.join(", ")}`)),
    list("deleted", deleted.map(objectText)), list("rotated", rotated.map(objectText)));
}

function commandView(command) {
  return el("div", { class: "command" }, el("code", {}, command),
    el("button", { type: "button", onclick: () => navigator.clipboard?.writeText(command) }, "Copy"));
}

/** Problems of the input, and what was assumed. */
export function problemsView(report) {
  const lines = [
    ...report.diagnostics.map((d) => `${d.severity}: ${d.file ?? ""}${d.line ? `:${d.line}` : ""} ${d.message}${d.remedy ? ` (${d.remedy})` : ""}`),
    ...report.assumptions.map((text) => `assumed: ${text}`),
  ];
  return lines.length ? [el("ul", {}, ...lines.map((line) => el("li", {}, line)))] : [el("p", {}, "None.")];
}
