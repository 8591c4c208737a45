// Browser and worker entry: `await ready()` (or `initSync` with bytes you have inlined) before anything else.
import init from "./dist/planner.js";

export const ready = () => init();
export { initSync } from "./dist/planner.js";
export {
  diff, diffJson, explain, lint, lintJson, offline, offlineJson, plan, planJson, planText, settled, settledJson, settledText, whatIf, whatIfJson, why, whyJson, whyText,
} from "./planner.js";
