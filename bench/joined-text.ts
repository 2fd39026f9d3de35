/**
 * What the pull endpoint is measured against: a plain HTTP server in a thread of its own that
 * answers with text made by string joins.
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parentPort, workerData } from "node:worker_threads";

const lines = (workerData as { readonly text: string }).text.split("\n").map((line) => {
  const cut = line.startsWith("#") ? line.length : line.lastIndexOf(" ");
  return {
    before: line.slice(0, cut + 1),
    value: line.startsWith("#") || line === "" ? undefined : Number(line.slice(cut + 1)),
  };
});

const server = createServer((_request, response) => {
  response.end(lines.map(({ before, value }) => [before, value].join("")).join("\n"));
});
server.listen(0, "127.0.0.1", () =>
  parentPort?.postMessage((server.address() as AddressInfo).port),
);
