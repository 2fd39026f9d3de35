/**
 * Scrapes one node agent, with its credentials, TLS settings and limits. Redirects are not
 * followed.
 */
import { readFileSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import type { Dispatcher } from "undici";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { Secret } from "../../kernel/base/secret.ts";
import { ACCEPT_ENCODING, plainBody, readWhole } from "../../kernel/client/http/body.ts";
import { createDeadline } from "../../kernel/async/deadline.ts";
import { classifyStatus, failed, toFailed } from "../../kernel/client/failure.ts";
import { receiveSecret } from "../../kernel/threads/secrets.ts";
import type { NodeTargetOptions } from "../options.ts";

const ACCEPT = "text/plain;version=0.0.4, text/plain;q=0.5, */*;q=0.1";
/** Per agent. */
const CONNECTIONS_EACH = 1;

export interface ScrapeTarget {
  readonly url: string;
  /** Settings of a configured agent; undefined for a discovered one. */
  readonly configured: NodeTargetOptions | undefined;
}

export interface Scraper {
  /** The response body. Rejects with a client failure or the signal's reason. */
  scrape(target: ScrapeTarget, signal: AbortSignal): Promise<string>;
  close(): Promise<void>;
}

export interface ScraperOptions {
  readonly timeoutMs: number;
  /** Both compressed and decompressed. */
  readonly maxResponseBytes: number;
  readonly version: string;
}

/** Agents with their own TLS files have their own connections; all others share. */
export function createScraper(deps: { readonly clock: Clock }, options: ScraperOptions): Scraper {
  const agents = new Map<string, { readonly stamp: string; readonly agent: Promise<Dispatcher> }>();

  const agentOf = (target: ScrapeTarget): Promise<Dispatcher> => {
    const tls = target.configured?.tls;
    const own =
      tls !== undefined &&
      (tls.caFile !== "" || tls.certFile !== "" || tls.serverName !== "" || tls.insecureSkipVerify);
    const key = own ? JSON.stringify(tls) : "";
    const stamp = own ? stampOf(tls) : "";
    const known = agents.get(key);
    if (known?.stamp === stamp) return known.agent;
    const agent = openAgent(own ? tls : undefined, options.timeoutMs);
    agents.set(key, { stamp, agent });
    // Renewed files need new connections; files that are unreadable now are tried again in the next
    // round.
    void known?.agent.then(
      (old) => old.close(),
      () => undefined,
    );
    agent.catch(() => agents.delete(key));
    return agent;
  };

  return {
    async scrape(target, signal) {
      using deadline = createDeadline(deps.clock, options.timeoutMs, signal, () =>
        failed(
          { class: "timeout", status: 0 },
          `no complete response within ${options.timeoutMs} ms`,
        ),
      );
      let status = 0;
      try {
        const agent = await agentOf(target);
        const url = new URL(target.url);
        const answer = await agent.request({
          origin: url.origin,
          path: `${url.pathname}${url.search}`,
          method: "GET",
          headers: await headersOf(target, options),
          signal: deadline.signal,
        });
        answer.body.on("error", () => undefined);
        status = answer.statusCode;
        const headers = Object.fromEntries(
          Object.entries(answer.headers).map(([name, value]) => [
            name,
            Array.isArray(value) ? value.join(", ") : (value ?? ""),
          ]),
        );
        if (status < 200 || status >= 300) {
          answer.body.destroy();
          throw failed({ class: classifyStatus(status, headers), status });
        }
        const body = await readWhole(
          plainBody(answer.body, status, headers, {
            wireBytes: options.maxResponseBytes,
            bodyBytes: options.maxResponseBytes,
          }),
        );
        return body.toString("utf8");
      } catch (thrown) {
        signal.throwIfAborted();
        throw toFailed(deadline.signal.aborted ? deadline.signal.reason : thrown, status);
      }
    },
    async close() {
      const open = [...agents.values()];
      agents.clear();
      await Promise.all(
        open.map(async ({ agent }) => (await agent.catch(() => undefined))?.destroy()),
      );
    },
  };
}

async function openAgent(
  tls: NodeTargetOptions["tls"] | undefined,
  timeoutMs: number,
): Promise<Dispatcher> {
  const { Agent } = await import("undici");
  const connect =
    tls === undefined
      ? { timeout: timeoutMs }
      : {
          timeout: timeoutMs,
          minVersion: "TLSv1.2" as const,
          rejectUnauthorized: !tls.insecureSkipVerify,
          ...(tls.caFile === "" ? {} : { ca: readTls(tls.caFile) }),
          ...(tls.certFile === ""
            ? {}
            : { cert: readTls(tls.certFile), key: readTls(tls.keyFile) }),
          ...(tls.serverName === "" ? {} : { servername: tls.serverName }),
        };
  return new Agent({
    connections: CONNECTIONS_EACH,
    pipelining: 1,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    connect,
  });
}

/** Changes when any of the files changes. */
function stampOf({ caFile, certFile, keyFile }: NodeTargetOptions["tls"]): string {
  return [caFile, certFile, keyFile]
    .map((file) =>
      file === "" ? "" : String(statSync(file, { throwIfNoEntry: false })?.mtimeMs ?? ""),
    )
    .join(" ");
}

function readTls(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    throw new StewardError("not_ready", `the TLS file ${file} cannot be read`, {
      remedy: "check the path and its permissions",
      cause: error,
    });
  }
}

async function headersOf(
  { configured }: ScrapeTarget,
  { version }: ScraperOptions,
): Promise<Record<string, string>> {
  const headers: Record<string, string> = {
    accept: ACCEPT,
    "accept-encoding": ACCEPT_ENCODING,
    "user-agent": `steward/${version}`,
  };
  for (const [name, value] of Object.entries(configured?.headers ?? {}))
    headers[name.toLowerCase()] = receiveSecret(value).use((text) => text);
  const token = await tokenOf(configured);
  if (token !== undefined) headers["authorization"] = token.use((text) => `Bearer ${text}`);
  return headers;
}

/** The file is read for each request, since it may be renewed. */
async function tokenOf(configured: NodeTargetOptions | undefined): Promise<Secret | undefined> {
  if (configured?.bearerToken !== undefined) return receiveSecret(configured.bearerToken);
  if (configured === undefined || configured.bearerTokenFile === "") return undefined;
  try {
    return Secret.of(
      (await readFile(configured.bearerTokenFile, "utf8")).trim(),
      `file ${configured.bearerTokenFile}`,
    );
  } catch (error) {
    throw new StewardError(
      "not_ready",
      `the token file ${configured.bearerTokenFile} cannot be read`,
      { remedy: "check the path and its permissions", cause: error },
    );
  }
}
