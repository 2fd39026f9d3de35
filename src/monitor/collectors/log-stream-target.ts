/**
 * Compares where the control plane streams its logs with the address of the streaming receiver
 * (`streaming.auto_configure`), and logs what to set. Steward has read scopes only.
 */
import type { LogStreamTarget, LogStreamType } from "../providers/model.ts";
import type { CollectorDeps } from "./collector.ts";

/** Logs what differs; the same again only after it was different. */
export type TargetCheck = (type: LogStreamType, signal: AbortSignal) => Promise<void>;

/** What the receiver speaks. */
const DESTINATION = "splunk";
const names: Readonly<Record<LogStreamType, string>> = {
  network: "network flow logs",
  configuration: "configuration audit logs",
};

/** Undefined when there is nothing to compare with. */
export function createTargetCheck({
  options: { streamTarget: wanted },
  provider,
  log,
}: Pick<CollectorDeps, "options" | "provider" | "log">): TargetCheck | undefined {
  if (wanted === undefined) return undefined;
  const logged = new Map<LogStreamType, string>();
  return async (type, signal) => {
    const found = differenceOf(await provider.logStreamTarget(type, signal), wanted);
    if (logged.get(type) === found) return;
    logged.set(type, found);
    // Warnings of equal text would be taken for repetitions.
    if (found === "") return log.info(`the control plane streams ${names[type]} to this receiver`);
    log.warn(`the control plane does not stream ${names[type]} to this receiver: ${found}`, {
      remedy: `in its admin console, stream ${names[type]} to the destination ${DESTINATION}, URL ${wanted}, with the token of streaming.token`,
    });
  };
}

/** Empty when it is as wanted. Addresses of others are not repeated: they may hold a token. */
function differenceOf(target: LogStreamTarget | undefined, wanted: string): string {
  if (target === undefined) return "nothing is streamed";
  if (target.destination !== DESTINATION)
    return `the destination is ${JSON.stringify(target.destination)}`;
  return normalized(target.url) === normalized(wanted) ? "" : "the URL is another one";
}

function normalized(url: string): string {
  return URL.canParse(url) ? new URL(url).href : url;
}
