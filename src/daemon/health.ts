/**
 * Health problems of the process, root causes first. The headline and the cards of `/` and the
 * status are drawn from this one list; each probe has a rule of its own (docs/readiness.md).
 */
import type { ComponentState, Health } from "../kernel/supervisor/component.ts";

/** Mirrors `steward.monitor.v1.HealthProblem`. */
export interface Problem {
  /** Component name. */
  readonly part: string;
  readonly reason: string;
  readonly remedy: string;
  /** A path of the gateway, with the fragment of a panel where it has panels. */
  readonly link: string;
}

/** Current component and store states; reading them does no I/O. */
export interface ProcessHealth {
  readonly states: readonly ComponentState[];
  /** Of all open stores together. */
  readonly stores: Health;
}

const RESTARTED = "it is restarted automatically; see the log for the cause";
const DOWN = "see the log for the cause; restart Steward";
const PORT = (key: string): string =>
  `stop the process that uses the port, or set ${key} to another address; Steward retries automatically`;
const CONFIG = "/monitor#config";

/** Remedy and link for components that give none. */
const ADVICE: Readonly<Record<string, Pick<Problem, "remedy" | "link">>> = {
  state: {
    remedy:
      "check the disk of state.directory; Steward recovers by itself once the disk accepts writes",
    link: "/readyz?verbose=1",
  },
  gateway: { remedy: PORT("gateway.listen"), link: CONFIG },
  admin: { remedy: PORT("admin.listen"), link: CONFIG },
  metrics: { remedy: PORT("scrape.listen"), link: CONFIG },
  stream: { remedy: PORT("streaming.listen"), link: CONFIG },
  webhook: { remedy: PORT("webhook.listen"), link: CONFIG },
  dedup: { remedy: "", link: "/api/v1/ready" },
  tokens: { remedy: "", link: "/v1/sys/health" },
  coordination: { remedy: "", link: CONFIG },
  backups: {
    remedy: "see the log; after fixing the cause, `steward backup` makes one at once",
    link: "/readyz?verbose=1",
  },
};
const OTHER = "/readyz?verbose=1";

/** Excludes the monitor, which reports its own problems. */
export function processProblems({ states, stores }: ProcessHealth): Problem[] {
  const state: Problem[] = stores.ok
    ? []
    : [
        problem(
          "state",
          stores.reason ?? "a store is unavailable",
          stores.remedy ?? ADVICE["state"]?.remedy ?? "",
        ),
      ];
  const components = states
    .filter(isTroubled)
    .map(({ name, phase, reason, remedy }) =>
      problem(
        name,
        reason ?? phase,
        remedy ?? ADVICE[name]?.remedy ?? (phase === "failed" ? DOWN : RESTARTED),
      ),
    );
  const follows = ({ reason }: Problem): boolean =>
    state.some((cause) => saysOf(cause.reason).endsWith(saysOf(reason)));
  return [...state, ...components.filter((each) => !follows(each))];
}

function problem(part: string, reason: string, remedy: string): Problem {
  return {
    part,
    reason: `component ${part}: ${reason}`,
    remedy,
    link: ADVICE[part]?.link ?? OTHER,
  };
}

/**
 * Failed exports are reported by the monitor per signal; telemetry appears only when its thread
 * stays down.
 */
function isTroubled({ name, phase }: ComponentState): boolean {
  if (name === "monitor") return false;
  return (
    phase === "failed" || phase === "refusing" || (phase === "degraded" && name !== "telemetry")
  );
}

/**
 * The reason without the component it names: a store that takes no writes is the cause of its
 * service's failure.
 */
function saysOf(reason: string): string {
  return reason.replace(/^component \w[\w-]*: /, "");
}
