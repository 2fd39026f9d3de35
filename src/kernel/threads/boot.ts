/** The `workerData` of a service's thread: plain data and transferred ports. */
import type { MessagePort } from "node:worker_threads";
import type { LogBoot } from "./log-lines.ts";
import type { ServiceCode } from "./service-instance.ts";

export interface Boot {
  readonly code: ServiceCode;
  readonly options: unknown;
  readonly log: LogBoot;
  readonly ports: Readonly<Record<string, MessagePort>>;
}

/** Interval of state messages, which are also the thread's heartbeat. */
export const STATE_MS = 1000;

/**
 * Environment variables of a thread: those of the runtime, and those with the given prefixes.
 * Secrets are passed as options, if at all.
 */
export function threadEnvironment(
  environment: NodeJS.ProcessEnv,
  beginnings: readonly string[] = [],
): NodeJS.ProcessEnv {
  const known =
    /^(?:PATH|HOME|TZ|LANG|LC_\w+|TMPDIR|NODE_\w+|SSL_CERT_\w+|(?:https?|no|all)_proxy)$/i;
  return Object.fromEntries(
    Object.entries(environment).filter(
      ([name]) => known.test(name) || beginnings.some((beginning) => name.startsWith(beginning)),
    ),
  );
}
