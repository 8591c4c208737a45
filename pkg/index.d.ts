import type { Difference, Lint, Offline, Report, Settled, WhatIf, Why } from "./dist/planner.js";
export type * from "./dist/planner.js";

/** One input file: its name appears in messages; its order among the others does not matter. */
export interface InputFile {
  name: string;
  bytes: Uint8Array | string;
}

/** What a plan is made from. */
export interface Inputs {
  /** What `kubectl get -o yaml` or `-o json` printed. */
  snapshot: InputFile[];
  /** Files of chart folders (`mychart/Chart.yaml`, …) and `.tgz` archives, for charts that the snapshot does not hold whole. */
  charts?: InputFile[];
  /** Version of helm-controller (`1.6.2`), where the snapshot does not tell. */
  controller?: string;
  /** Arguments that helm-controller was started with (`--feature-gates=…`), where the snapshot does not tell. */
  controllerArgs?: string[];
  /** Treat what the snapshot does not hold as absent from the cluster. */
  assumeComplete?: boolean;
  /** Look for single changes of looked-up objects that would make the next upgrade fail. */
  latent?: boolean;
}

/** The report as data. */
export function plan(inputs: Inputs): Report;
/** The report as JSON text, byte for byte what the native program prints with `-o json`. */
export function planJson(inputs: Inputs): string;
/** The report as a table for people. */
export function planText(inputs: Inputs): string;
/** One release in words; `undefined` if there is no such release. */
export function explain(inputs: Inputs, namespace: string, name: string, object?: string): string | undefined;
/** What a force of one release would change, field by field; `undefined` if there is no such release. Throws if it does not render. */
export function diff(inputs: Inputs, namespace: string, name: string, options?: { showSecrets?: boolean }): Difference[] | undefined;
/** The same as JSON text, byte for byte what the native program prints with `-o json`. */
export function diffJson(inputs: Inputs, namespace: string, name: string, options?: { showSecrets?: boolean }): string | undefined;
/** What is supposed to be otherwise. */
export interface WhatIfOptions {
  /** The Helm inside the controller (`4.2`). */
  helm?: string;
  /** The version of Kubernetes. */
  kubeVersion?: string;
  /** API versions served besides (`a.io/v1`, `a.io/v1/Kind`). */
  apiVersions?: string[];
}
/** Which releases would render otherwise, object by object, and why. */
export function whatIf(inputs: Inputs, options?: WhatIfOptions): WhatIf[];
/** The same as JSON text, byte for byte what the native program prints with `-o json`. */
export function whatIfJson(inputs: Inputs, options?: WhatIfOptions): string;
/** What a renderer without a cluster is told. */
export interface OfflineOptions {
  /** The version of Kubernetes that it is told; without it, it knows the capabilities of the snapshot. */
  kubeVersion?: string;
  /** API versions that it is told besides (`a.io/v1`, `a.io/v1/Kind`). */
  apiVersions?: string[];
}
/** What a renderer without a cluster (Argo CD, `helm template`) makes of each release, against its render on the cluster. */
export function offline(inputs: Inputs, options?: OfflineOptions): Offline[];
/** The same as JSON text, byte for byte what the native program prints with `-o json`. */
export function offlineJson(inputs: Inputs, options?: OfflineOptions): string;
/** How a chart is looked at without a cluster. */
export interface LintOptions {
  /** Name of the release; `release-name` if there is none. */
  name?: string;
  /** Namespace of the release; `default` if there is none. */
  namespace?: string;
  /** The version of Helm; `4.2` if there is none. */
  helm?: string;
  /** Values as YAML. */
  values?: string;
}
/** The hazards of one chart: its files, all below one folder, or one archive. Throws if it cannot be loaded. */
export function lint(chart: InputFile[], options?: LintOptions): Lint;
/** The same as JSON text, byte for byte what the native program prints with `-o json`. */
export function lintJson(chart: InputFile[], options?: LintOptions): string;
/** What a question about settling may say besides the object. */
export interface SettledOptions {
  /** Revision of the source: whole, its digest, its tag, or the first seven or more digits of its hash. */
  revision?: string;
  /** Kind of the object: `HelmRelease` (the default), `GitRepository`, `HelmChart`, `Kustomization`, … */
  kind?: string;
}
/** Whether a release has settled, with the first condition that does not hold; `undefined` if there is no such object. */
export function settled(inputs: Inputs, namespace: string, name: string, options?: SettledOptions): Settled | undefined;
/** The same as JSON text, byte for byte what the native program prints with `-o json`. */
export function settledJson(inputs: Inputs, namespace: string, name: string, options?: SettledOptions): string | undefined;
/** The same in words. */
export function settledText(inputs: Inputs, namespace: string, name: string, options?: SettledOptions): string | undefined;
/** What the controller does at its next run and why; with `stamp`, also if both annotations were stamped now. */
export function why(inputs: Inputs, namespace: string, name: string, options?: { stamp?: boolean }): Why | undefined;
/** The same as JSON text, byte for byte what the native program prints with `-o json`. */
export function whyJson(inputs: Inputs, namespace: string, name: string, options?: { stamp?: boolean }): string | undefined;
/** The same in words. */
export function whyText(inputs: Inputs, namespace: string, name: string, options?: { stamp?: boolean }): string | undefined;
/** Browser entry only: loads the module. */
export function ready(): Promise<unknown>;
