// Computes in the background, so that the page stays alive and a long run can be stopped.
import { planJson, ready } from "../../pkg/browser.js";

const loaded = ready();

self.onmessage = async ({ data: { id, inputs } }) => {
  try {
    await loaded;
    const started = performance.now();
    self.postMessage({ id, json: planJson(inputs), milliseconds: performance.now() - started });
  } catch (error) {
    self.postMessage({ id, error: String(error?.message ?? error) });
  }
};
