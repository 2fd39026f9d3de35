/** What waits for the reader: each with what to do about it, most urgent first. */
import type { StatusJson } from "../../../src/gen/status-json.ts";
import { formatAge, formatSome } from "../format.ts";
import { html, type Child, type View } from "../html.ts";
import { deviceLink, devicesOf, type NetworkDevice } from "../monitor/scope.ts";
import type { PageState } from "../page-state.ts";
import { part } from "../pieces/section.ts";
import { stateIcon, type State } from "../pieces/state.ts";
import { moment } from "../pieces/time.ts";
import type { LandingFacts } from "./process-summary.ts";

/** A key that ends within this time needs somebody. */
const SOON_MS = 14 * 86_400_000;
/** Names in one line. */
const MAX_NAMES = 3;

interface Need {
  readonly state: State;
  readonly text: Child;
  readonly href?: string | undefined;
}

export function needs(facts: LandingFacts, state: PageState): View {
  const all = [
    ...tokenNeeds(facts, state),
    ...(facts.status === undefined ? [] : monitorNeeds(facts.status, state)),
    ...archiveNeeds(facts),
  ].toSorted((a, b) => Number(b.state === "bad") - Number(a.state === "bad"));
  return part(
    "Needs you",
    all.length === 0
      ? html`<p class="empty">Nothing waits for you.</p>`
      : html`<ul class="lines">${all.map(
          (need) =>
            html`<li>${stateIcon(facts.stale === true ? "unknown" : need.state)}<span>${need.href === undefined ? need.text : html`<a href=${need.href}>${need.text}</a>`}</span></li>`,
        )}</ul>`,
  );
}

function monitorNeeds(status: StatusJson, state: PageState): readonly Need[] {
  return [
    ...ownKey(status, state),
    ...failingCollectors(status),
    ...endingKeys(devicesOf(status), state),
    ...missingScopes(status),
  ];
}

function ownKey({ api: { auth } }: StatusJson, { nowMs }: PageState): readonly Need[] {
  const at = Date.parse(auth.key_expires_at ?? "");
  if (!(at - nowMs < SOON_MS)) return [];
  return [
    {
      state: at <= nowMs ? "bad" : "notice",
      text: `Steward's own credential for the control plane ${at <= nowMs ? "expired" : "expires"} ${formatAge(at, nowMs)}.`,
      href: "/monitor#api",
    },
  ];
}

function failingCollectors({ collectors }: StatusJson): readonly Need[] {
  const failing = collectors.filter(({ has_run, last_success }) => has_run && !last_success);
  if (failing.length === 0) return [];
  return [
    {
      state: "bad",
      text: `${formatSome(failing.length, "collector")} failing: ${listed(failing.map(({ name }) => name))}.`,
      href: "/monitor#collectors",
    },
  ];
}

function endingKeys(devices: readonly NetworkDevice[], { nowMs }: PageState): readonly Need[] {
  const ending = devices
    .filter(({ key_expiry_disabled: never }) => never !== true)
    .map((device) => ({ device, name: device.name, at: Date.parse(device.key_expires_at ?? "") }))
    .filter(({ at }) => at - nowMs < SOON_MS)
    .toSorted((a, b) => a.at - b.at);
  const [first] = ending;
  if (first === undefined) return [];
  const when = `${first.at <= nowMs ? "expired" : "expires"} ${formatAge(first.at, nowMs)}`;
  return [
    {
      state: first.at <= nowMs ? "bad" : "notice",
      text:
        ending.length === 1
          ? `The key of ${first.name} ${when}.`
          : `${formatSome(ending.length, "key")} of devices end within 14 days: ${listed(ending.map(({ name }) => name))}; the first ${when}.`,
      href: ending.length === 1 ? deviceLink(first.device) : "/devices",
    },
  ];
}

function missingScopes({ capability_matrix: rows }: StatusJson): readonly Need[] {
  const count = rows.filter(({ state }) => state === "scope_denied").length;
  if (count === 0) return [];
  return [
    {
      state: "notice",
      text: `${formatSome(count, "operation")} denied by the control plane for want of a scope.`,
      href: "/monitor#capabilities",
    },
  ];
}

function archiveNeeds({ summary: { archive }, api }: LandingFacts): readonly Need[] {
  const pending = archive?.pending ?? 0;
  if (pending === 0) return [];
  return [
    {
      state: "notice",
      text: `${formatSome(pending, "group")} of near-duplicates to review.`,
      href: api === false ? undefined : "/duplicates",
    },
  ];
}

function tokenNeeds({ summary: { tokens } }: LandingFacts, state: PageState): readonly Need[] {
  if (tokens === undefined) return [];
  const { irrevocable = 0, failedMintAt, refusedMintAt } = tokens;
  return [
    ...(irrevocable > 0
      ? [
          {
            state: "bad" as const,
            text: `${formatSome(irrevocable, "lease")} could not be revoked`,
            href: "/tokens",
          },
        ]
      : []),
    ...(failedMintAt === undefined
      ? []
      : [
          {
            state: "bad" as const,
            text: html`<span>A mint failed ${moment(failedMintAt, state)}</span>`,
            href: "/tokens",
          },
        ]),
    ...(refusedMintAt === undefined
      ? []
      : [
          {
            state: "notice" as const,
            text: html`<span>A mint was refused ${moment(refusedMintAt, state)}</span>`,
            href: "/tokens",
          },
        ]),
  ];
}

function listed(names: readonly string[]): string {
  const more = names.length - MAX_NAMES;
  return `${names.slice(0, MAX_NAMES).join(", ")}${more > 0 ? ` and ${formatSome(more, "other")}` : ""}`;
}
