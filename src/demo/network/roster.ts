/**
 * The machines of the network, as far as they never change. Everything follows from the seed and
 * the place in the list.
 */
import { createRandom, type Random } from "../random.ts";
import type { Cycle } from "./cycle.ts";
import { overlayAddresses, publicAddress, type Identities } from "./identity.ts";
import {
  CLIENTS,
  LAPTOP_PLATFORMS,
  PHONE_PLATFORMS,
  REGIONS,
  SERVER_PLATFORMS,
  SERVER_ROLES,
  type Platform,
} from "./names.ts";
import type { Person } from "./users.ts";

/** What a machine is for. */
type MachineKind = "exit" | "router" | "server" | "laptop" | "phone" | "ephemeral" | "external";

/** A place in the list of devices. Ephemeral machines come anew in each turn of `life`. */
export interface Machine {
  readonly index: number;
  readonly kind: MachineKind;
  readonly host: string;
  readonly platform: Platform;
  readonly client: string;
  /** Owner; undefined for tagged machines. */
  readonly owner: Person | undefined;
  readonly tags: readonly string[];
  readonly addresses: readonly [ipv4: string, ipv6: string];
  readonly publicAddress: string;
  readonly region: number;
  readonly createdMs: number;
  /** Connected during the first `share` of each turn; always when undefined. */
  readonly presence: { readonly cycle: Cycle; readonly share: number } | undefined;
  /** Ephemeral machines exist during the first `share` of each turn. */
  readonly life: { readonly cycle: Cycle; readonly share: number } | undefined;
  /**
   * The key is renewed when a turn begins, and runs out `lapseMs` before its end, or after it when
   * negative; undefined: never runs out.
   */
  readonly key: { readonly cycle: Cycle; readonly lapseMs: number } | undefined;
  readonly advertisedRoutes: readonly string[];
  readonly enabledRoutes: readonly string[];
  readonly ssh: boolean;
  readonly authorized: boolean;
}

/** Roster indexes of machines that are the same at every instant. */
export interface Conditions {
  /** Not connected; last seen within the last three days. */
  readonly offline?: readonly number[];
  /** The key expires in one to three days, since it is renewed every other day. */
  readonly expiring?: readonly number[];
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const FOUNDED_MS = Date.UTC(2026, 0, 5, 8);
const USUAL: readonly MachineKind[] = [
  "server",
  "server",
  "laptop",
  "laptop",
  "phone",
  "ephemeral",
  "laptop",
  "server",
  "laptop",
  "phone",
];
const PER_ROUTER = 500;
/**
 * No ephemeral machines from this place on: each makes an event every few minutes, and a log of
 * them is read whole.
 */
const MORTAL_BELOW = 1000;

/**
 * `count` machines. The first five are an exit node, two subnet routers, a machine of another
 * network and a server.
 */
export function createRoster(
  count: number,
  seed: number,
  people: readonly Person[],
  identities: Identities,
): readonly Machine[] {
  const random = createRandom(seed, "roster");
  return Array.from({ length: count }, (_, index) =>
    machineAt(index, random.fork(String(index)), people, identities),
  );
}

/** The roster with the machines at these places in these conditions. */
export function withConditions(
  roster: readonly Machine[],
  { offline = [], expiring = [] }: Conditions,
): readonly Machine[] {
  return roster.map((machine) => ({
    ...machine,
    ...(offline.includes(machine.index)
      ? { presence: { cycle: { periodMs: 3 * DAY_MS, phaseMs: machine.createdMs }, share: 0 } }
      : {}),
    ...(expiring.includes(machine.index)
      ? { key: { cycle: { periodMs: 2 * DAY_MS, phaseMs: machine.createdMs }, lapseMs: -DAY_MS } }
      : {}),
  }));
}

function kindAt(index: number): MachineKind {
  if (index === 0) return "exit";
  if (index === 1 || index === 2 || index % PER_ROUTER === PER_ROUTER - 1) return "router";
  if (index === 3) return "external";
  const usual = USUAL[(index - 4) % USUAL.length] as MachineKind;
  return usual === "ephemeral" && index >= MORTAL_BELOW ? "laptop" : usual;
}

function machineAt(
  index: number,
  random: Random,
  people: readonly Person[],
  identities: Identities,
): Machine {
  const kind = kindAt(index);
  const owner = ownerOf(kind, index, people);
  const number = identities.integer(`public/${index}`);
  const routes = routesOf(kind, index);
  return {
    index,
    kind,
    host: hostOf(kind, index, owner),
    platform: platformOf(kind, random),
    client: `${random.pick(CLIENTS)}-t${identities.hex(`client/${index}`).slice(0, 9)}`,
    owner,
    tags: tagsOf(kind),
    addresses: overlayAddresses(index),
    publicAddress: publicAddress(number),
    region: random.pick(REGIONS).id,
    createdMs:
      FOUNDED_MS + random.integer(0, 250) * DAY_MS + random.integer(0, DAY_MS / 1000) * 1000,
    presence: presenceOf(kind, random),
    life:
      kind === "ephemeral"
        ? {
            cycle: { periodMs: 40 * MINUTE_MS, phaseMs: random.integer(0, 39) * MINUTE_MS },
            share: 0.65,
          }
        : undefined,
    key: keyOf(kind, index, random),
    advertisedRoutes: routes,
    enabledRoutes: routes,
    ssh: kind === "server" && index % 2 === 0,
    authorized: index % 23 !== 22,
  };
}

function ownerOf(kind: MachineKind, index: number, people: readonly Person[]): Person | undefined {
  if (kind === "external") return people.at(-1);
  return kind === "laptop" || kind === "phone" ? people[index % (people.length - 1)] : undefined;
}

function tagsOf(kind: MachineKind): readonly string[] {
  switch (kind) {
    case "exit":
      return ["tag:exit"];
    case "router":
      return ["tag:router"];
    case "server":
      return ["tag:server"];
    case "ephemeral":
      return ["tag:ci"];
    default:
      return [];
  }
}

function hostOf(kind: MachineKind, index: number, owner: Person | undefined): string {
  const number = String(index).padStart(2, "0");
  switch (kind) {
    case "exit":
      return "exit-fra";
    case "router":
      return `gw-${number}`;
    case "server":
      return `${SERVER_ROLES[index % SERVER_ROLES.length] ?? "srv"}-${number}`;
    case "ephemeral":
      return `runner-${number}`;
    case "external":
      return "partner-api";
    default:
      return `${owner?.loginName.split("@")[0] ?? "user"}-${kind}-${number}`;
  }
}

function platformOf(kind: MachineKind, random: Random): Platform {
  if (kind === "phone") return random.pick(PHONE_PLATFORMS);
  return random.pick(kind === "laptop" ? LAPTOP_PLATFORMS : SERVER_PLATFORMS);
}

function routesOf(kind: MachineKind, index: number): readonly string[] {
  if (kind === "exit") return ["0.0.0.0/0", "::/0"];
  // The second router stands by for the first.
  return kind === "router"
    ? [`10.${index <= 2 ? 20 : 30 + Math.floor(index / PER_ROUTER)}.0.0/16`]
    : [];
}

function presenceOf(kind: MachineKind, random: Random): Machine["presence"] {
  if (kind !== "laptop" && kind !== "phone") return undefined;
  const minutes = kind === "phone" ? random.integer(12, 45) : random.integer(60, 600);
  return {
    cycle: { periodMs: minutes * MINUTE_MS, phaseMs: random.integer(0, minutes) * MINUTE_MS },
    share: 0.5 + random.next() * 0.4,
  };
}

function keyOf(kind: MachineKind, index: number, random: Random): Machine["key"] {
  if (kind !== "laptop" && kind !== "phone") return undefined;
  // Every fourth renews weekly, so that there is always a key about to run out; of these every
  // second runs out half a day before.
  const short = index % 4 === 2;
  const days = short ? 7 : 180;
  return {
    cycle: { periodMs: days * DAY_MS, phaseMs: random.integer(0, days * 24) * HOUR_MS },
    lapseMs: short && index % 8 === 2 ? DAY_MS / 2 : 0,
  };
}
