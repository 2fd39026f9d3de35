/** What a service's thread is started with: data, and ports that move. */
import type { MessagePort } from "node:worker_threads";
import type { LogBoot } from "./log-lines.ts";
import type { ResidentCode } from "./resident.ts";

/** The thread's `workerData`. */
export interface Boot {
  readonly code: ResidentCode;
  readonly options: unknown;
  readonly log: LogBoot;
  readonly ports: Readonly<Record<string, MessagePort>>;
}

/** A thread says how it stands this often, also as a sign of life. */
export const STATE_MS = 1000;

/**
 * The variables that a thread may see: those of the runtime, and those that begin as told. Secrets
 * come as options, or not at all.
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
