/** The cards of `/`, one for each service, with their last 24 hours. */
import { formatAge, formatCount, formatKnown } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import { deliveryState } from "../monitor/export.ts";
import { deviceCount, seriesCount } from "../monitor/overview.ts";
import type { PageState } from "../page-state.ts";
import { card, figures } from "../pieces/card.ts";
import { worst, type State } from "../pieces/state.ts";
import { moment } from "../pieces/time.ts";
import type { StatusJson } from "../../../src/gen/status-json.ts";
import { isNewer, MONITOR_PARTS, problemsOf } from "./head.ts";
import type { ArchiveFacts, LandingFacts, TokenFacts } from "./process-summary.ts";
import { trendRow } from "./trend.ts";

/** Figures older than this show their age. */
const OLD_MS = 60_000;

/** The three cards; a service that is off shows how to switch it on. */
export function cards(facts: LandingFacts, state: PageState): View {
  return html`<div class="cards">${networkCard(facts, state)}${archiveCard(facts, state)}${tokensCard(facts, state)}</div>`;
}

function networkCard(facts: LandingFacts, state: PageState): View {
  const { status, problem } = facts;
  if (status === undefined)
    return problem === undefined
      ? offCard("Network", "monitor")
      : card({
          title: "Network",
          state: ["bad", "no answer"],
          body: html`<p class="note">${problem}</p>`,
        });
  const { collectors, device_cache: cache } = status;
  return card({
    title: "Network",
    href: "/devices",
    state: shownState(facts, collecting(status, facts)),
    links: [{ href: "/monitor", label: "Monitor" }],
    body: [
      figures([
        { label: "Devices", value: deviceCount(cache) },
        { label: "Collectors", value: formatCount(collectors.length) },
        { label: "Series", value: seriesCount(status.cardinality) },
      ]),
      trendRow("Devices online", facts.day?.online),
      collectors.length === 0
        ? html`<p class="note">${delivering(status)}Give it credentials: <code>vpn.auth</code> or <code>headscale</code>.</p>`
        : html`<p class="note">${delivering(status)}${newest(status) === undefined ? "No devices were read yet." : html`<span>Devices read ${moment(newest(status), state)}.</span>`}</p>`,
    ],
  });
}

function collecting(
  { collectors, health }: StatusJson,
  facts: LandingFacts,
): readonly [State, string] {
  const troubled =
    health !== "starting" && problemsOf(facts).some(({ part }) => MONITOR_PARTS.has(part));
  if (collectors.length === 0)
    return troubled
      ? ["bad", isExportOnly(facts) ? "export failing" : "degraded"]
      : ["unknown", "not set up"];
  const failing = collectors.filter(({ has_run, last_success }) => has_run && !last_success).length;
  if (failing > 0) return ["bad", `${formatCount(failing)} failing`];
  if (troubled) return ["bad", isExportOnly(facts) ? "export failing" : "degraded"];
  return collectors.every(({ has_run }) => has_run)
    ? ["good", "collecting"]
    : ["unknown", "starting"];
}

function isExportOnly(facts: LandingFacts): boolean {
  return problemsOf(facts).every(({ part }) => part === "export" || !MONITOR_PARTS.has(part));
}

function delivering({ delivery }: StatusJson): string {
  const state = worst(
    delivery.map((each) => deliveryState(each)[0]).filter((each) => each !== "unknown"),
  );
  return state === "bad"
    ? "Export is failing. "
    : state === "notice"
      ? "The last export failed. "
      : "";
}

function newest({ collectors }: StatusJson): string | undefined {
  return collectors
    .filter(({ name }) => name === "devices")
    .flatMap(({ last_success_at }) => last_success_at ?? [])
    .sort()
    .at(-1);
}

function archiveCard(facts: LandingFacts, state: PageState): View {
  const { archive } = facts.summary;
  if (archive === undefined) return offCard("Archive", "dedup");
  return card({
    title: "Archive",
    ...(facts.api === false ? {} : { href: "/duplicates" }),
    state: shownState(facts, serviceNow(facts, "dedup", archive)),
    body: [
      figures([
        { label: "Documents", value: formatKnown(archive.documents) },
        { label: "Groups", value: formatKnown(archive.groups) },
        { label: "To review", value: formatKnown(archive.pending) },
      ]),
      trendRow("Documents", facts.day?.documents),
      html`<p class="note">${archive.documents === undefined ? undefined : archiveNote(archive, state)}${asOf(facts, state)}</p>`,
    ],
  });
}

function archiveNote(
  { archives, lastSyncAt, lastAnalysisAt }: ArchiveFacts,
  state: PageState,
): View {
  if (archives === 0)
    return html`<span>No archive is configured: add one to <code>dedup.archives</code>.</span>`;
  if (lastSyncAt === undefined)
    return html`<span>Not synced yet: <code>POST /api/v1/sync</code>, or set <code>dedup.sync.interval</code>.</span>`;
  return html`<span>Synced ${moment(lastSyncAt, state)}, ${lastAnalysisAt === undefined ? "not analysed yet" : html`<span>analysed ${moment(lastAnalysisAt, state)}</span>`}.</span>`;
}

function tokensCard(facts: LandingFacts, state: PageState): View {
  const { tokens } = facts.summary;
  if (tokens === undefined) return offCard("Tokens", "tokens");
  return card({
    title: "Tokens",
    href: "/tokens",
    state: shownState(facts, serviceNow(facts, "tokens", tokens)),
    body: [
      figures([
        { label: "Live leases", value: formatKnown(tokens.leases) },
        { label: "Mounts", value: formatKnown(tokens.mounts) },
        { label: "Irrevocable", value: formatKnown(tokens.irrevocable) },
      ]),
      trendRow("Live leases", facts.day?.leases),
      html`<p class="note">${tokensNote(tokens, state)}${asOf(facts, state)}</p>`,
    ],
  });
}

function tokensNote({ failedMintAt, refusedMintAt }: TokenFacts, state: PageState): View {
  if (failedMintAt !== undefined)
    return html`<span>The last mint failed ${moment(failedMintAt, state)}: the log and <code>bao read github/doctor</code> say why.</span>`;
  return html`<span>Below <code>/v1</code>, for any Vault client.${refusedMintAt === undefined ? undefined : html`<span> A mint was refused ${moment(refusedMintAt, state)}.</span>`}</span>`;
}

// These figures came with the page; when old, they show their age.
function asOf({ summaryAtMs }: LandingFacts, { nowMs }: PageState): Child {
  return nowMs - summaryAtMs < OLD_MS
    ? undefined
    : ` Counted ${formatAge(summaryAtMs, nowMs)}: load the page again for newer figures.`;
}

/**
 * The state of the service by the process's health; its own word came with the page and may be
 * older.
 */
function serviceNow(
  facts: LandingFacts,
  service: string,
  loaded: { readonly state: State; readonly word: string },
): readonly [State, string] {
  const phase = isNewer(facts) ? facts.status?.services[service] : undefined;
  const trouble =
    phase !== undefined && TROUBLED.has(phase)
      ? (PHASES[phase] ?? phase)
      : problemsOf(facts).some(({ part }) => part === service)
        ? "degraded"
        : undefined;
  if (trouble !== undefined) return ["bad", loaded.state === "bad" ? loaded.word : trouble];
  return loaded.state === "bad" && phase !== undefined
    ? ["good", phase]
    : [loaded.state, loaded.word];
}

/** Phases of a component that does not do all of its work. */
const TROUBLED: ReadonlySet<string> = new Set(["degraded", "refusing", "failed"]);
const PHASES: Readonly<Record<string, string>> = { refusing: "out of service" };

/** A stale state is shown in the past tense and without colour. */
function shownState(
  { stale }: LandingFacts,
  [state, word]: readonly [State, string],
): readonly [State, string] {
  return stale === true ? ["unknown", `was ${word}`] : [state, word];
}

function offCard(title: string, service: string): View {
  return card({
    title,
    state: ["unknown", "off"],
    body: html`<p class="note">Switched off in this process. <code>services.${service}: true</code> switches it on.</p>`,
  });
}
