/**
 * Keeps the web client inside Node unloaded. To import `node:http`, Node reads each of its exports,
 * and some (`WebSocket`) load undici when they are read: 45 ms of CPU time in every process, and in
 * every thread that serves. The built tree takes the module without those.
 */
import http from "node:http";
import type { Plugin } from "rolldown";

const HTTP_MODULE = "steward:http-module";

export function httpModule(): Plugin {
  return {
    name: "http-module",
    resolveId: {
      filter: { id: /^(?:node:)?http$/ },
      // A package that requires it gets Node's own, whose exports are read when they are needed.
      handler: (_id, _importer, { kind }) => (kind === "require-call" ? null : HTTP_MODULE),
    },
    load: {
      filter: { id: /^steward:http-module$/ },
      handler: () => `const http = process.getBuiltinModule("node:http");
export const { ${namesThatLoadNothing().join(", ")} } = http;
export default http;
`,
    },
  };
}

function namesThatLoadNothing(): string[] {
  return Object.entries(Object.getOwnPropertyDescriptors(http))
    .filter(([, descriptor]) => "value" in descriptor)
    .map(([name]) => name);
}
