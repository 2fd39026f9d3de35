/** The first second of the landing page: is all well, and if not, why; then a card for each service. */
import { formatAge, formatCount, formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import type { PageState } from "../page-state.ts";
import { card, figures } from "../pieces/card.ts";
import { badge, stateIcon, worst, type State } from "../pieces/state.ts";
import { moment } from "../pieces/time.ts";
import { deliveryState, serviceState } from "./export.ts";
import type { LandingFacts } from "./house.ts";
import type { StatusJson } from "./status.ts";

const HEALTH: Readonly<Record<StatusJson["health"], readonly [State, string]>> = {
  healthy: ["good", "Healthy"], degraded: ["bad", "Degraded"], starting: ["unknown", "Starting"],
};
/** Reasons shown at once; the others open below. */
const FIRST_REASONS = 3;
/** Figures older than this say how old they are. */
const OLD_MS = 60_000;

/** The line of health with its reasons: the monitor's verdict, and what the other services have to say against it. */
export function healthLine(status: StatusJson, facts: LandingFacts): View {
  const others = troubles(status, facts);
  const [state, word] = verdict(HEALTH[status.health], others.map(([each]) => each));
  const reasons = [...(status.health_reasons ?? []), ...others.map(([, reason]) => reason)];
  const list = (rows: readonly string[]): View => html`<ul class="reasons">${rows.map((reason) => html`<li>${reason}</li>`)}</ul>`;
  return html`<section class=${`health ${state}`} aria-label="Health">
    <p class="verdict">${stateIcon(state)}<strong>${word}</strong><span class="muted">${status.service.network === "" || status.service.network === "-" ? status.provider : `${status.service.network}, ${status.provider}`}</span></p>
    ${reasons.length === 0 ? undefined : list(reasons.slice(0, FIRST_REASONS))}
    ${reasons.length <= FIRST_REASONS ? undefined : html`<details><summary>${formatSome(reasons.length - FIRST_REASONS, "more reason")}</summary>${list(reasons.slice(FIRST_REASONS))}</details>`}
  </section>`;
}

/** Nothing makes better what the monitor finds bad; a service in trouble makes worse what it finds good. */
function verdict(monitor: readonly [State, string], others: readonly State[]): readonly [State, string] {
  if (monitor[0] === "bad" || others.length === 0) return monitor;
  return others.includes("bad") ? HEALTH.degraded : ["notice", "Needs a look"];
}

function troubles({ services }: StatusJson, { house: { archive, tokens } }: LandingFacts): readonly (readonly [State, string])[] {
  const now = (name: string, service: string, facts: { readonly state: State; readonly word: string } | undefined): readonly (readonly [State, string])[] => {
    const [state, word] = facts === undefined ? ["unknown" as const, ""] : stateNow(facts, services[service]);
    return state === "bad" || state === "notice" ? [[state, `${name}: ${word}`]] : [];
  };
  return [...now("archive", "dedup", archive), ...now("tokens", "tokens", tokens)];
}

/** The health of a process whose monitor is off, or does not answer. */
export function houseLine({ house: { archive, tokens }, problem }: LandingFacts): View {
  const state = problem === undefined ? worst([archive?.state, tokens?.state].filter((each) => each !== undefined)) : "bad";
  const words: Readonly<Record<State, string>> = { good: "Healthy", notice: "Needs a look", bad: "Degraded", unknown: "Nothing to say yet" };
  return html`<section class=${`health ${state}`} aria-label="Health">
    <p class="verdict">${stateIcon(state)}<strong>${words[state]}</strong><span class="muted">${problem === undefined ? "the monitor is off: services.monitor" : "the monitor does not answer"}</span></p>
    ${problem === undefined ? undefined : html`<ul class="reasons"><li>${problem}</li></ul>`}
  </section>`;
}

/** The newer release, as a badge that leads to it; nothing while there is none. */
export function updateBadge({ update }: StatusJson): Child {
  if (update.state !== "available" || !/^https?:\/\//i.test(update.release_url)) return undefined;
  return html`<a class="update" href=${update.release_url} rel="noreferrer">${badge("notice", `${update.latest_version ?? "a newer release"} is out`)}</a>`;
}

/** The three cards; a service that is off has one that says how to switch it on. */
export function cards(facts: LandingFacts, state: PageState): View {
  return html`<div class="cards">${networkCard(facts, state)}${archiveCard(facts, state)}${tokensCard(facts, state)}</div>`;
}

function networkCard({ status, problem }: LandingFacts, state: PageState): View {
  if (status === undefined) return problem === undefined ? offCard("Network", "monitor") : card({ title: "Network", state: ["bad", "no answer"], body: html`<p class="note">${problem}</p>` });
  const { collectors } = status;
  const links = [...(status.flow_store.enabled ? [{ href: "/flows", label: "Flows" }] : []), ...(status.event_store.enabled ? [{ href: "/events", label: "Events" }] : [])];
  return card({
    title: "Network", href: "#inventory", state: collecting(status), links,
    body: [
      figures([{ label: "Devices", value: formatCount(status.device_cache.devices) }, { label: "Collectors", value: formatCount(collectors.length) }, { label: "Series", value: status.cardinality.available || status.cardinality.total > 0 ? formatCount(status.cardinality.total) : "–" }]),
      collectors.length === 0 ? html`<p class="note">Give it credentials: <code>vpn.auth</code> or <code>headscale</code>.</p>` : html`<p class="note">${delivering(status)}Devices read ${moment(newest(status), state)}.</p>`,
    ],
  });
}

function collecting({ collectors }: StatusJson): readonly [State, string] {
  if (collectors.length === 0) return ["unknown", "not set up"];
  const failing = collectors.filter(({ has_run, last_success }) => has_run && !last_success).length;
  if (failing > 0) return ["notice", `${formatCount(failing)} failing`];
  return collectors.every(({ has_run }) => has_run) ? ["good", "collecting"] : ["unknown", "starting"];
}

function delivering({ delivery }: StatusJson): string {
  const state = worst(delivery.map((each) => deliveryState(each)[0]).filter((each) => each !== "unknown"));
  return state === "bad" ? "Export is failing. " : state === "notice" ? "The last export failed. " : "";
}

function newest({ collectors }: StatusJson): string | undefined {
  return collectors.filter(({ name }) => name === "devices").map(({ last_success_at }) => last_success_at ?? "").sort().at(-1);
}

function archiveCard({ house: { archive }, status, houseAtMs, api = true }: LandingFacts, state: PageState): View {
  if (archive === undefined) return offCard("Archive", "dedup");
  return card({
    title: "Archive", ...(api ? { href: "/api/v1/duplicates" } : {}), state: stateNow(archive, status?.services["dedup"]),
    body: [
      figures([{ label: "Documents", value: formatCount(archive.documents) }, { label: "Groups", value: formatCount(archive.groups) }, { label: "To review", value: formatCount(archive.pending) }]),
      html`<p class="note">Synced ${moment(archive.lastSyncAt, state)}, analysed ${moment(archive.lastAnalysisAt, state)}.${asOf(houseAtMs, state)}</p>`,
    ],
  });
}

function tokensCard({ house: { tokens }, status, houseAtMs, api = true }: LandingFacts, state: PageState): View {
  if (tokens === undefined) return offCard("Tokens", "tokens");
  return card({
    title: "Tokens", ...(api ? { href: "/docs#group-tokens_EngineService" } : {}), state: stateNow(tokens, status?.services["tokens"]),
    body: [
      figures([{ label: "Live leases", value: formatCount(tokens.leases) }, { label: "Mounts", value: formatCount(tokens.mounts) }, { label: "Irrevocable", value: formatCount(tokens.irrevocable) }]),
      html`<p class="note">Below <code>/v1</code>, for any Vault client.${asOf(houseAtMs, state)}</p>`,
    ],
  });
}

// These figures came with the page; one that has been open for long says so.
function asOf(houseAtMs: number, { nowMs }: PageState): Child {
  return nowMs - houseAtMs < OLD_MS ? undefined : ` Counted ${formatAge(houseAtMs, nowMs)}: load the page again for newer figures.`;
}

// A service that broke says so whatever it last told of itself.
function stateNow({ state, word }: { readonly state: State; readonly word: string }, service: string | undefined): readonly [State, string] {
  return service !== undefined && serviceState(service) === "bad" ? ["bad", service] : [state, word];
}

function offCard(title: string, service: string): View {
  return card({ title, state: ["unknown", "off"], body: html`<p class="note">Switched off in this process. <code>services.${service}: true</code> switches it on.</p>` });
}
