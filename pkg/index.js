// Node entry: loads the module from disk, synchronously, once.
import { readFileSync } from "node:fs";
import { initSync } from "./dist/planner.js";

initSync({ module: readFileSync(new URL("./dist/planner_bg.wasm", import.meta.url)) });

export {
  diff, diffJson, explain, lint, lintJson, offline, offlineJson, plan, planJson, planText, settled, settledJson, settledText, whatIf, whatIfJson, why, whyJson, whyText,
} from "./planner.js";
