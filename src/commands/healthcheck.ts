/**
 * `steward -healthcheck`: probes whether the running daemon is ready, on the admin listener if
 * there is one, for containers and scripts.
 */
import { request as requestHttp, type IncomingMessage } from "node:http";
import { request as requestHttps } from "node:https";
import { StewardError, toStewardError } from "../kernel/base/errors.ts";
import { printable } from "../kernel/base/text/printable.ts";
import { formatAddress, type Address } from "../kernel/config/values/address.ts";
import { adminEnabled, adminListen, adminTls } from "../daemon/config/admin-keys.ts";
import type { Config } from "../kernel/config/config.ts";
import { formatFinding } from "../kernel/config/findings.ts";
import { gatewayListen, gatewayTls } from "../../gateway/config.ts";
import type { Environment } from "../kernel/config/key.ts";
import { loadDaemonConfig, type DaemonArguments } from "../daemon/configuration.ts";
import type { CommandOutput } from "./command.ts";
import { withDeadline } from "../kernel/async/deadline.ts";
import { systemClock } from "../kernel/base/clock.ts";

export interface HealthcheckArguments extends DaemonArguments {
  /** For the whole probe. */
  readonly timeoutMs: number;
}

/** No more of an answer is read. */
const MAX_BODY_BYTES = 4096;

/**
 * Exits 0 when ready, 1 when reached but not ready, 2 when the probe failed: invalid configuration
 * or no response in time.
 */
export async function healthcheck(
  options: HealthcheckArguments,
  environment: Environment,
  output: CommandOutput,
): Promise<number> {
  const { config, findings } = loadDaemonConfig(options.config, environment);
  if (config === undefined) {
    const [first] = findings;
    output.stderr(
      `healthcheck: config invalid: ${first === undefined ? "no reason is known" : formatFinding(first).replace(/^ERROR /, "")}\n`,
    );
    return 2;
  }
  const { setting, address, secured } = probed(config);
  if (address.port === 0) {
    output.stderr(
      `healthcheck: cannot ask: ${setting} has port 0, so the system chose the port; configure a fixed port\n`,
    );
    return 2;
  }
  const url = probeUrl(address, secured);
  const deadline = {
    clock: systemClock,
    timeoutMs: options.timeoutMs,
    reason: () => new StewardError("deadline", `no answer within ${options.timeoutMs} ms`),
  };
  try {
    const { status, body } = await withDeadline(deadline, (signal) => probe(url, signal));
    if (status >= 200 && status < 300) {
      output.stdout(`healthcheck: ready (${url} -> ${status})\n`);
      return 0;
    }
    output.stderr(`healthcheck: not ready (${url} -> ${status}): ${printable(body.trim())}\n`);
    return 1;
  } catch (error) {
    output.stderr(
      `healthcheck: cannot ask (${url}): ${printable(reason(error, options.timeoutMs))}\n`,
    );
    return 2;
  }
}

interface Probed {
  readonly setting: string;
  readonly address: Address;
  readonly secured: boolean;
}

/** The listener to ask: both answer probes alike. */
function probed(config: Config): Probed {
  const admin = config.get(adminEnabled) ? config.get(adminListen) : undefined;
  if (admin !== undefined)
    return {
      setting: adminListen.path,
      address: admin,
      secured: config.get(adminTls.certFile) !== "",
    };
  return {
    setting: gatewayListen.path,
    address: config.get(gatewayListen),
    secured: config.get(gatewayTls.certFile) !== "",
  };
}

/** As this machine reaches it. */
function probeUrl({ host, port }: Address, secured: boolean): string {
  const address: Address = {
    host: ["", "0.0.0.0", "::"].includes(host) ? "127.0.0.1" : host,
    port,
  };
  return `${secured ? "https" : "http"}://${formatAddress(address)}/readyz`;
}

/**
 * One GET. The certificate is our own and made for another name, so it is not checked: nothing
 * secret is sent.
 */
function probe(
  url: string,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{
    readonly status: number;
    readonly body: string;
  }>();
  const request = url.startsWith("https:")
    ? requestHttps(url, { signal, agent: false, rejectUnauthorized: false })
    : requestHttp(url, { signal, agent: false });
  request.once("error", reject);
  request.once("response", (answer) => {
    readSome(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject);
  });
  request.end();
  return promise;
}

async function readSome(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of answer as AsyncIterable<Buffer>) {
    parts.push(part);
    size += part.length;
    if (size >= MAX_BODY_BYTES) break;
  }
  return Buffer.concat(parts).subarray(0, MAX_BODY_BYTES).toString("utf8");
}

function reason(error: unknown, timeoutMs: number): string {
  const known = toStewardError(error);
  if (known.code === "cancelled" || known.code === "deadline")
    return `no answer within ${timeoutMs} ms`;
  return known instanceof StewardError && known.code !== "internal"
    ? known.message
    : error instanceof Error
      ? error.message
      : known.message;
}
