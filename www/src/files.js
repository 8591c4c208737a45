// Reads what was dropped or chosen: files, and folders with everything below them.

/** All files of a drop, each with its path as `name`. */
export async function droppedFiles(transfer) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean);
  if (entries.length === 0) return readAll([...transfer.files]);
  const found = [];
  for (const entry of entries) await walk(entry, found);
  return readAll(found);
}

/** Reads files into memory. */
export const readAll = (files) =>
  Promise.all(files.map(async (file) => ({ name: file.path ?? (file.webkitRelativePath || file.name), bytes: new Uint8Array(await file.arrayBuffer()) })));

async function walk(entry, found) {
  if (entry.isFile) {
    const file = await new Promise((resolve, reject) => entry.file(resolve, reject));
    Object.defineProperty(file, "path", { value: entry.fullPath.slice(1) });
    found.push(file);
    return;
  }
  const reader = entry.createReader();
  for (;;) {
    const batch = await new Promise((resolve, reject) => reader.readEntries(resolve, reject));
    if (batch.length === 0) return;
    for (const child of batch) await walk(child, found);
  }
}

/** Splits a drop into snapshot files and chart files: a chart is an archive, or whatever lies beside a Chart.yaml. */
export function sortFiles(files) {
  const roots = files.filter(({ name }) => /(^|\/)Chart\.yaml$/.test(name)).map(({ name }) => name.slice(0, -"Chart.yaml".length));
  const isChart = ({ name }) => /\.tgz$/.test(name) || roots.some((root) => name.startsWith(root));
  return {
    charts: files.filter(isChart),
    snapshot: files.filter((file) => !isChart(file) && /\.(ya?ml|json)$/i.test(file.name)),
  };
}
