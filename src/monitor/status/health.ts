/** The verdict over everything that can go wrong, and why (facts, monitor-api §1.2). */
import { Signal, type Delivery } from "../../gen/steward/monitor/v1/export_pb.ts";
import { Health, type Component } from "../../gen/steward/monitor/v1/status_pb.ts";
import type { CollectorStatus } from "../runner/collector-runner.ts";
import { humanDuration } from "./human.ts";

/** A streak of so many failed runs is told as one. */
const STREAK = 3;
/** Collectors that a reason names. */
const MAX_NAMES = 3;
const signals: Readonly<Record<Signal, string>> = { [Signal.UNSPECIFIED]: "", [Signal.METRICS]: "metrics", [Signal.LOGS]: "logs", [Signal.TRACES]: "traces" };

/** What is judged. */
export interface Judged {
  readonly components: readonly Pick<Component, "name" | "failed" | "reason">[];
  readonly delivery: readonly Pick<Delivery, "signal" | "failing" | "consecutiveFailures" | "lastErrorClass">[];
  readonly networks: readonly JudgedNetwork[];
}

/** A network with what it is called before its collectors' names, empty where there is only one. */
export interface JudgedNetwork {
  readonly name: string;
  readonly prefix: string;
  /** Why it is not collected at all. */
  readonly failure: string | undefined;
  readonly collectors: readonly CollectorStatus[];
}

/** Degraded by any reason, else starting while a collector has not finished a run, else healthy. */
export function judge({ components, delivery, networks }: Judged): { readonly health: Health; readonly reasons: string[] } {
  const reasons = [
    ...components.filter(({ failed }) => failed).map(({ name, reason }) => `component ${name}: ${reason}`),
    ...delivery.filter(({ failing }) => failing).map(deliveryReason),
    ...networks.flatMap(networkReasons),
  ];
  if (reasons.length > 0) return { health: Health.DEGRADED, reasons };
  const waiting = networks.flatMap(({ prefix, collectors }) => collectors.filter(({ last }) => last === undefined).map(({ name }) => `${prefix}${name}`));
  if (waiting.length > 0) return { health: Health.STARTING, reasons: [`waiting for first run: ${waiting.join(", ")}`] };
  return { health: Health.HEALTHY, reasons: [] };
}

function deliveryReason({ signal, consecutiveFailures, lastErrorClass }: Judged["delivery"][number]): string {
  return `OTLP ${signals[signal]} export failing: ${consecutiveFailures} consecutive failures (${lastErrorClass})`;
}

function networkReasons({ name, prefix, failure, collectors }: JudgedNetwork): string[] {
  const own = failure === undefined ? [] : [`network "${name}": ${failure}`];
  const shown = (collector: CollectorStatus): string => `"${prefix}${collector.name}"`;
  return [...own, ...failureReasons(collectors, shown), ...collectors.flatMap((collector) => lateReasons(`collector ${shown(collector)}`, collector))];
}

/** One for each cause, however many collectors it keeps from their work. */
function failureReasons(collectors: readonly CollectorStatus[], shown: (collector: CollectorStatus) => string): string[] {
  const failing = collectors.filter(({ consecutiveFailures, last }) => consecutiveFailures >= STREAK || last?.error !== undefined);
  const byCause = Map.groupBy(failing, ({ name, last }) => last?.cause ?? `of ${name}`);
  return [...byCause.values()].map((together) => {
    const streak = Math.max(...together.map(({ consecutiveFailures }) => consecutiveFailures));
    const cause = together[0]?.last?.cause;
    return `${naming(together.map(shown))}: ${streak >= STREAK ? `${streak} consecutive failures` : "last run failed"}${cause === undefined ? "" : `: ${cause}`}`;
  });
}

function naming(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return `${names.length === 1 ? "collector" : `${names.length} collectors`} ${names.slice(0, MAX_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function lateReasons(shown: string, { overdue, checkpoint }: CollectorStatus): string[] {
  return [...(overdue ? [`${shown}: the next run is overdue`] : []), ...(checkpoint?.stuck === true ? [`${shown}: stuck, ${humanDuration(checkpoint.lagMs)} behind`] : [])];
}
