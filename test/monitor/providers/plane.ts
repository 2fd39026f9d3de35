/**
 * A control plane on loopback, and providers that ask it with small limits; what they log is kept.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { readFileSync } from "node:fs";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import type { Log, LogFields } from "../../../src/kernel/base/log.ts";
import type { CallReport } from "../../../src/kernel/client/types.ts";
import type {
  HeadscaleOptions,
  HttpOptions,
  TailscaleOptions,
} from "../../../src/monitor/options.ts";
import { createProvider } from "../../../src/monitor/network/open-provider.ts";
import type { Provider } from "../../../src/monitor/providers/provider.ts";

export const CANARY = "tskey-canary-0123456789";

export const http: HttpOptions = {
  timeoutMs: 2_000,
  maxAttempts: 2,
  baseDelayMs: 1,
  maxDelayMs: 5,
  rateLimit: 0,
};

/** A recorded answer. */
export function sample(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`samples/${name}.json`, import.meta.url), "utf8"));
}

export function tailscaleOptions(
  url: URL,
  change: Partial<TailscaleOptions> = {},
): TailscaleOptions {
  return {
    kind: "tailscale",
    url: url.href,
    network: "-",
    auth: { method: "apikey", key: { sentSecret: CANARY, origin: "test" } },
    http,
    maxResponseBytes: 200_000,
    maxLogResponseBytes: 400_000,
    ...change,
  };
}

export function headscaleOptions(
  url: URL,
  change: Partial<HeadscaleOptions> = {},
): HeadscaleOptions {
  return {
    kind: "headscale",
    url: url.href,
    apiKey: { sentSecret: CANARY, origin: "test" },
    http,
    maxResponseBytes: 200_000,
    ...change,
  };
}

export interface Asked extends AsyncDisposable {
  readonly provider: Provider;
  readonly calls: CallReport[];
  readonly lines: {
    readonly level: string;
    readonly message: string;
    readonly fields: LogFields | undefined;
  }[];
}

export function ask(options: TailscaleOptions | HeadscaleOptions): Asked {
  const calls: CallReport[] = [];
  const lines: Asked["lines"] = [];
  const at = (level: string) => (message: string, fields?: LogFields) =>
    void lines.push({ level, message, fields });
  const log: Log = {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    child: () => log,
  };
  const provider = createProvider(options, {
    clock: systemClock,
    ids: systemIds,
    log,
    version: "1.2.3",
    observe: (report) => calls.push(report),
  });
  return { provider, calls, lines, [Symbol.asyncDispose]: () => provider.close() };
}

/** Answers by path; a path that is not there is a 404. */
export function byPath(answers: Readonly<Record<string, unknown>>) {
  return (request: IncomingMessage, response: ServerResponse): void => {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const known = Object.hasOwn(answers, path);
    response.writeHead(known ? 200 : 404, { "content-type": "application/json" });
    response.end(known ? JSON.stringify(answers[path]) : '{"message":"not found"}');
  };
}

export async function all(batches: AsyncIterable<unknown[]>): Promise<unknown[]> {
  const found: unknown[] = [];
  for await (const batch of batches) found.push(...batch);
  return found;
}
