/** The health line of `/` and `/monitor`: overall health with its problems, root causes first. */
import { formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import { badge, stateIcon, type State } from "../pieces/state.ts";
import type { LandingFacts } from "./process-summary.ts";
import type { HealthProblem, StatusJson } from "../../../src/gen/status-json.ts";

const HEALTH: Readonly<Record<StatusJson["health"], readonly [State, string]>> = {
  healthy: ["good", "Healthy"],
  degraded: ["bad", "Degraded"],
  starting: ["unknown", "Starting"],
};
/** Problems shown at once; the others are collapsed. */
const FIRST_REASONS = 3;

/** Problems found by the monitor itself; all others are the process's. */
export const MONITOR_PARTS: ReadonlySet<string> = new Set(["network", "checkpoints", "export"]);

/** The health line with its problems, root causes first. */
export function healthLine(status: StatusJson, facts: LandingFacts): View {
  return line(verdict(status, facts), problemsOf(facts), subjectOf(status), facts.stale);
}

function subjectOf({ networks, service: { network }, provider }: StatusJson): string {
  if (networks.length === 0) return "no network is set up";
  return network === "" || network === "-" ? provider : `${network}, ${provider}`;
}

/** The health line while the monitor is off or does not respond. */
export function processLine({
  summary: { archive, tokens, problems = [] },
  problem,
}: LandingFacts): View {
  const all =
    problem === undefined
      ? problems
      : [
          ...problems,
          {
            part: "monitor",
            reason: problem,
            remedy: "see the log; the monitor is restarted automatically",
            link: "/readyz?verbose=1",
          },
        ];
  const known = archive !== undefined || tokens !== undefined;
  const state =
    all.length > 0
      ? HEALTH.degraded
      : known
        ? HEALTH.healthy
        : (["unknown", "No service is on"] as const);
  return line(
    state,
    all,
    problem === undefined ? "the monitor is off: services.monitor" : "the monitor does not answer",
  );
}

function line(
  [state, word]: readonly [State, string],
  problems: readonly HealthProblem[],
  subject: string,
  stale = false,
): View {
  const shown = stale ? "unknown" : state;
  const list = (rows: readonly HealthProblem[]): View =>
    html`<ul class="reasons">${rows.map(problemRow)}</ul>`;
  return html`<section class=${`health ${shown}`} aria-label="Health">
    <p class="verdict">${stateIcon(shown)}<strong>${stale ? "Not known" : word}</strong><span class="muted">${stale ? `was ${word.toLowerCase()}; ${subject}` : subject}</span></p>
    ${problems.length === 0 ? undefined : list(problems.slice(0, FIRST_REASONS))}
    ${problems.length <= FIRST_REASONS ? undefined : html`<details><summary>${formatSome(problems.length - FIRST_REASONS, "more reason")}</summary>${list(problems.slice(FIRST_REASONS))}</details>`}
  </section>`;
}

function problemRow({ reason, remedy, link }: HealthProblem): View {
  return html`<li>${reason}${remedy === undefined || remedy === "" ? undefined : html`<small>${remedy}</small>`}${linkOf(link)}</li>`;
}

/** A panel of the monitor, or a path of this server. */
function linkOf(link: string | undefined): Child {
  if (link === undefined) return undefined;
  const panel = /^\/monitor#([a-z]+)$/.exec(link)?.[1];
  if (panel !== undefined) return html`<small><a href=${link}>See ${panel}</a></small>`;
  return /^\/(?!\/)/.test(link) ? html`<small><a href=${link}>${link}</a></small>` : undefined;
}

/**
 * The newest problems of each part: a status older than the page leaves them to the process
 * summary, later ones cover everything.
 */
export function problemsOf(facts: LandingFacts): readonly HealthProblem[] {
  const found = facts.status?.health_problems ?? [];
  return isNewer(facts)
    ? found
    : [...(facts.summary.problems ?? []), ...found.filter(({ part }) => MONITOR_PARTS.has(part))];
}

/** Whether the status is newer than the process summary. */
export function isNewer({ status, summaryAtMs }: LandingFacts): boolean {
  return status !== undefined && Date.parse(status.generated_at) >= summaryAtMs;
}

function verdict({ health }: StatusJson, facts: LandingFacts): readonly [State, string] {
  if (isNewer(facts)) return HEALTH[health];
  if ((facts.summary.problems ?? []).length > 0) return HEALTH.degraded;
  return health === "degraded" && problemsOf(facts).length === 0 ? HEALTH.healthy : HEALTH[health];
}

/** A badge with a link to the newer release; nothing without one. */
export function updateBadge({ update }: StatusJson): Child {
  if (update.state !== "available" || !/^https?:\/\//i.test(update.release_url)) return undefined;
  return html`<a class="update" href=${update.release_url} rel="noreferrer">${badge("notice", `${update.latest_version ?? "a newer release"} is out`)}</a>`;
}
