import type { Report } from "./dist/planner.js";
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
  /** Treat what the snapshot does not hold as absent from the cluster. */
  assumeComplete?: boolean;
}

/** The report as data. */
export function plan(inputs: Inputs): Report;
/** The report as JSON text, byte for byte what the native program prints with `-o json`. */
export function planJson(inputs: Inputs): string;
/** The report as a table for people. */
export function planText(inputs: Inputs): string;
/** One release in words; `undefined` if there is no such release. */
export function explain(inputs: Inputs, namespace: string, name: string, object?: string): string | undefined;
/** Browser entry only: loads the module. */
export function ready(): Promise<unknown>;
