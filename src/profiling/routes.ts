/**
 * `/debug/pprof/`: profiles of this process for `go tool pprof` and similar tools, for
 * administrators. `symbol` and `trace` have no equivalent and are not served.
 */
import { Access } from "../gen/steward/options/v1/options_pb.ts";
import { StewardError } from "../kernel/base/errors.ts";
import type { PlainAnswer, PlainRoute } from "../kernel/service.ts";
import type { Profiles } from "./profiles.ts";

const MIN_SECONDS = 1;
const MAX_SECONDS = 120;
const DEFAULT_SECONDS = "30";
const TEXT = {
  "content-type": "text/plain; charset=utf-8",
  "x-content-type-options": "nosniff",
} as const;

const INDEX = `profiles of this process, in the format of pprof, compressed by gzip

profile?seconds=${DEFAULT_SECONDS}   where its threads spend the time of cores, recorded for ${MIN_SECONDS} to ${MAX_SECONDS} seconds, one at a time
heap                 what its threads' heaps are full of
cmdline              how it was started

each sample is labelled with its thread, e.g. go tool pprof -tagfocus=monitor profile
`;

/** Served only where enabled. */
export function profileRoutes(profiles: Profiles, commandLine: readonly string[]): PlainRoute[] {
  const route = (
    template: string,
    answer: (query: URLSearchParams, signal: AbortSignal) => Promise<PlainAnswer>,
  ): PlainRoute => ({
    verb: "GET",
    template,
    access: Access.ADMIN,
    dialect: "monitor",
    // HEAD does not wait for a recording.
    handle: (request, call) =>
      request.method === "HEAD" ? text("") : answer(request.query, call.signal),
  });
  return [
    ...["/debug/pprof", "/debug/pprof/"].map((template) => route(template, () => text(INDEX))),
    route("/debug/pprof/cmdline", () => text(commandLine.join("\0"))),
    route("/debug/pprof/profile", async (query, signal) =>
      file("profile", await profiles.cpu(secondsOf(query) * 1_000, signal)),
    ),
    route("/debug/pprof/heap", async () => file("heap", await profiles.heap())),
  ];
}

function text(body: string): Promise<PlainAnswer> {
  return Promise.resolve({ status: 200, headers: TEXT, body });
}

function file(name: string, body: Uint8Array): PlainAnswer {
  return {
    status: 200,
    headers: {
      "content-type": "application/octet-stream",
      "content-disposition": `attachment; filename="${name}.pb.gz"`,
      "x-content-type-options": "nosniff",
    },
    body,
  };
}

function secondsOf(query: URLSearchParams): number {
  const written = query.get("seconds") ?? DEFAULT_SECONDS;
  const seconds = /^\d{1,3}$/.test(written) ? Number(written) : NaN;
  if (seconds >= MIN_SECONDS && seconds <= MAX_SECONDS) return seconds;
  const remedy = `write seconds=${DEFAULT_SECONDS}`;
  throw new StewardError(
    "invalid",
    `seconds must be a whole number from ${MIN_SECONDS} to ${MAX_SECONDS}; ${remedy}`,
    { field: "seconds", rule: "range", remedy },
  );
}
