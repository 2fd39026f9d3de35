/** Overall health of the monitor and its reasons. */
import { Signal, type Delivery } from "../../gen/steward/monitor/v1/export_pb.ts";
import { Health, type HealthProblem } from "../../gen/steward/monitor/v1/status_pb.ts";
import type { CollectorStatus } from "../runner/collector-runner.ts";
import { humanDuration } from "./human.ts";

/** Consecutive failures reported as a streak. */
const STREAK = 3;
/** Collector names listed in a reason. */
const MAX_NAMES = 3;
/** Default remedy of a failure. */
const UPSTREAM =
  "check that the control plane is up and its address: vpn.url, headscale.url or networks[].url";
const RECEIVER = "check that the receiver is up, and otlp.endpoint with its headers";
const LATE = "a run hangs or the process is short of CPU; the log names the collector";
const STUCK = "see the log for the record that cannot be read; each run retries it";
const signals: Readonly<Record<Signal, string>> = {
  [Signal.UNSPECIFIED]: "",
  [Signal.METRICS]: "metrics",
  [Signal.LOGS]: "logs",
  [Signal.TRACES]: "traces",
};

/** A problem and its remedy. */
export type Problem = Pick<HealthProblem, "part" | "reason" | "remedy" | "link">;

/** Inputs of the health evaluation. */
export interface HealthInputs {
  /** Problems of the process, root causes first. */
  readonly process: readonly Problem[];
  /** Why checkpoints are not stored. */
  readonly checkpoints: string | undefined;
  readonly delivery: readonly Pick<
    Delivery,
    "signal" | "failing" | "consecutiveFailures" | "lastErrorClass"
  >[];
  readonly networks: readonly NetworkHealthInputs[];
}

/** A network with the prefix of its collectors' names, empty when it is the only one. */
export interface NetworkHealthInputs {
  readonly name: string;
  readonly prefix: string;
  /** Why the network is not collected at all. */
  readonly failure: string | undefined;
  readonly collectors: readonly CollectorStatus[];
}

/**
 * Degraded with any problem, else starting until each collector has finished a run, else healthy.
 * Likely root causes come first.
 */
export function evaluateHealth({ process, checkpoints, delivery, networks }: HealthInputs): {
  readonly health: Health;
  readonly problems: Problem[];
} {
  const problems = [
    ...process,
    ...(checkpoints === undefined
      ? []
      : [
          {
            part: "checkpoints",
            reason: `checkpoints are not stored: ${checkpoints}`,
            remedy:
              "check the disk of checkpoint.file_path; Steward recovers by itself once it accepts writes",
            link: "/monitor#config",
          },
        ]),
    ...delivery.filter(({ failing }) => failing).map(deliveryProblem),
    ...networks.flatMap(networkProblems),
  ];
  if (problems.length > 0) return { health: Health.DEGRADED, problems };
  const waiting = networks.flatMap(({ prefix, collectors }) =>
    collectors.filter(({ last }) => last === undefined).map(({ name }) => `${prefix}${name}`),
  );
  if (waiting.length > 0)
    return {
      health: Health.STARTING,
      problems: [problem("collectors", `waiting for first run: ${waiting.join(", ")}`, "")],
    };
  return { health: Health.HEALTHY, problems: [] };
}

function problem(panel: "collectors" | "config" | "api", reason: string, remedy: string): Problem {
  return {
    part: panel === "config" ? "export" : "network",
    reason,
    remedy,
    link: `/monitor#${panel}`,
  };
}

function deliveryProblem({
  signal,
  consecutiveFailures,
  lastErrorClass,
}: HealthInputs["delivery"][number]): Problem {
  return problem(
    "config",
    `OTLP ${signals[signal]} export failing: ${consecutiveFailures} consecutive failures (${lastErrorClass})`,
    RECEIVER,
  );
}

function networkProblems({ name, prefix, failure, collectors }: NetworkHealthInputs): Problem[] {
  const own =
    failure === undefined
      ? []
      : [
          problem(
            "config",
            `network "${name}": ${failure}`,
            "correct its configuration and start Steward again",
          ),
        ].map((each) => ({ ...each, part: "network" }));
  const shown = (collector: CollectorStatus): string => `"${prefix}${collector.name}"`;
  return [
    ...own,
    ...failureProblems(collectors, shown),
    ...collectors.flatMap((collector) => lateProblems(`collector ${shown(collector)}`, collector)),
  ];
}

/** One problem per cause, whatever the number of collectors affected; most frequent first. */
function failureProblems(
  collectors: readonly CollectorStatus[],
  shown: (collector: CollectorStatus) => string,
): Problem[] {
  const failing = collectors.filter(
    ({ consecutiveFailures, last }) => consecutiveFailures >= STREAK || last?.error !== undefined,
  );
  const byCause = Map.groupBy(failing, ({ name, last }) => last?.cause ?? `of ${name}`);
  return [...byCause.values()]
    .toSorted((left, right) => right.length - left.length)
    .map((together) => {
      const streak = Math.max(...together.map(({ consecutiveFailures }) => consecutiveFailures));
      const { cause, remedy = UPSTREAM } = together[0]?.last ?? {};
      return problem(
        "collectors",
        `${naming(together.map(shown))}: ${streak >= STREAK ? `${streak} consecutive failures` : "last run failed"}${cause === undefined ? "" : `: ${cause}`}`,
        remedy,
      );
    });
}

function naming(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return `${names.length === 1 ? "collector" : `${names.length} collectors`} ${names.slice(0, MAX_NAMES).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

function lateProblems(shown: string, { overdue, checkpoint }: CollectorStatus): Problem[] {
  return [
    ...(overdue ? [problem("collectors", `${shown}: the next run is overdue`, LATE)] : []),
    ...(checkpoint?.stuck === true
      ? [problem("collectors", `${shown}: stuck, ${humanDuration(checkpoint.lagMs)} behind`, STUCK)]
      : []),
  ];
}
