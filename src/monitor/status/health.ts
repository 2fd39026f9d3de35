/** The verdict over everything that can go wrong, and why. */
import { Signal, type Delivery } from "../../gen/steward/monitor/v1/export_pb.ts";
import { Health, type HealthProblem } from "../../gen/steward/monitor/v1/status_pb.ts";
import type { CollectorStatus } from "../runner/collector-runner.ts";
import { humanDuration } from "./human.ts";

/** A streak of so many failed runs is told as one. */
const STREAK = 3;
/** Collectors that a reason names. */
const MAX_NAMES = 3;
/** What to do about a failure that names no remedy of its own. */
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

/** Something that is not well, with what to do about it. */
export type Problem = Pick<HealthProblem, "part" | "reason" | "remedy" | "link">;

/** What is judged. */
export interface Judged {
  /** Of the process around the monitor, root causes first. */
  readonly process: readonly Problem[];
  /** Why the checkpoints are not stored. */
  readonly checkpoints: string | undefined;
  readonly delivery: readonly Pick<
    Delivery,
    "signal" | "failing" | "consecutiveFailures" | "lastErrorClass"
  >[];
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

/**
 * Degraded by any problem, else starting while a collector has not finished a run, else healthy.
 * What all the rest may follow from comes first.
 */
export function judge({ process, checkpoints, delivery, networks }: Judged): {
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
            link: "#config",
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
  return { part: panel === "config" ? "export" : "network", reason, remedy, link: `#${panel}` };
}

function deliveryProblem({
  signal,
  consecutiveFailures,
  lastErrorClass,
}: Judged["delivery"][number]): Problem {
  return problem(
    "config",
    `OTLP ${signals[signal]} export failing: ${consecutiveFailures} consecutive failures (${lastErrorClass})`,
    RECEIVER,
  );
}

function networkProblems({ name, prefix, failure, collectors }: JudgedNetwork): Problem[] {
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

/**
 * One for each cause, however many collectors it keeps from their work; those that most fail for
 * first.
 */
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
