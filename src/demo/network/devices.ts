/**
 * The devices of the network at an instant: which exist, which are connected, until when their keys
 * are good.
 */
import { startOf, turnAt, turnsIn, type Cycle, type Window } from "./cycle.ts";
import type { Identities } from "./identity.ts";
import type { Machine } from "./roster.ts";

/** A machine as it is at one instant. */
export interface Device {
  readonly machine: Machine;
  /** The stable id; another one for each life of an ephemeral machine. */
  readonly nodeId: string;
  /** The older decimal id. */
  readonly legacyId: string;
  readonly host: string;
  readonly createdMs: number;
  readonly online: boolean;
  /** Begin of the present connection, or of the last one. */
  readonly connectedMs: number;
  /** When it was last seen: now, when it is connected. */
  readonly lastSeenMs: number;
  /** Undefined when the key does not run out. */
  readonly expiresMs: number | undefined;
  readonly enabledRoutes: readonly string[];
  readonly machineKey: string;
  readonly nodeKey: string;
}

/** A device that came to be or went. */
interface Coming {
  readonly atMs: number;
  readonly device: Device;
  readonly what: "created" | "deleted";
}

/** The devices over time. */
export interface Devices {
  /** In the order of the roster. */
  at(atMs: number): readonly Device[];
  /** The one of a stable or decimal id, if it exists then. */
  find(id: string, atMs: number): Device | undefined;
  /** Ephemeral devices that came or went within a window. */
  comings(window: Window): readonly Coming[];
}

/** In odd turns the key of the first server runs out like that of a person's machine. */
export const KEY_EXPIRY_CYCLE: Cycle = { periodMs: 3 * 3_600_000, phaseMs: 23 * 60_000 };
/** In odd turns the second router's routes are not approved. */
export const ROUTE_CYCLE: Cycle = { periodMs: 2 * 3_600_000, phaseMs: 31 * 60_000 };
/** The machine whose key expiry is switched on and off. */
export const KEY_EXPIRY_INDEX = 4;
/** The machine whose routes are approved and not. */
export const ROUTE_INDEX = 2;

const KEY_LIFE_MS = 180 * 86_400_000;
const SEEN_EVERY_MS = 1000;

/**
 * Everything is computed on demand; stored are only the ids of the roster and of each ephemeral
 * machine's latest life.
 */
export function createDevices(roster: readonly Machine[], identities: Identities): Devices {
  const lasting = roster.map((machine) => identify(machine, machine.host, identities));
  const byId = new Map(
    roster
      .filter(({ life }) => life === undefined)
      .flatMap((machine) => {
        const { nodeId, legacyId } = lasting[machine.index] as Identified;
        return [
          [nodeId, machine],
          [legacyId, machine],
        ] as const;
      }),
  );
  const mortals = roster.filter(({ life }) => life !== undefined);
  const lives = new Map<Machine, { readonly turn: number; readonly identified: Identified }>();
  const identityIn = (machine: Machine, turn: number): Identified => {
    const known = lives.get(machine);
    if (known?.turn === turn) return known.identified;
    const identified = identify(machine, hostInTurn(machine, turn), identities);
    lives.set(machine, { turn, identified });
    return identified;
  };
  const deviceOf = (machine: Machine, atMs: number): Device | undefined => {
    const { life } = machine;
    if (life === undefined) return present(machine, lasting[machine.index] as Identified, atMs);
    const turn = turnAt(life.cycle, atMs);
    const bornMs = startOf(life.cycle, turn);
    if (atMs - bornMs >= life.cycle.periodMs * life.share) return undefined;
    return {
      ...present(machine, identityIn(machine, turn), atMs),
      createdMs: bornMs,
      connectedMs: bornMs,
    };
  };
  return {
    at: (atMs) => roster.flatMap((machine) => deviceOf(machine, atMs) ?? []),
    find(id, atMs) {
      const machine = byId.get(id);
      if (machine !== undefined) return deviceOf(machine, atMs);
      for (const mortal of mortals) {
        const device = deviceOf(mortal, atMs);
        if (device?.nodeId === id || device?.legacyId === id) return device;
      }
      return undefined;
    },
    comings: (window) => roster.flatMap((machine) => comingsOf(machine, window, deviceOf)),
  };
}

type Identified = Pick<Device, "nodeId" | "legacyId" | "host" | "machineKey" | "nodeKey">;

function identify({ index }: Machine, host: string, identities: Identities): Identified {
  return {
    nodeId: identities.stable("n", `node/${index}/${host}`),
    legacyId: String(identities.integer(`legacy/${index}/${host}`)),
    host,
    machineKey: `mkey:${identities.hex(`machine/${index}/${host}`)}`,
    nodeKey: `nodekey:${identities.hex(`node-key/${index}/${host}`)}`,
  };
}

function hostInTurn(machine: Machine, turn: number): string {
  return `${machine.host}-${(turn % 46_656).toString(36).padStart(3, "0")}`;
}

function comingsOf(
  machine: Machine,
  window: Window,
  deviceOf: (machine: Machine, atMs: number) => Device | undefined,
): Coming[] {
  const { life } = machine;
  if (life === undefined) return [];
  const lastsMs = life.cycle.periodMs * life.share;
  const born = turnsIn(life.cycle, window).map((turn) => ({
    atMs: startOf(life.cycle, turn),
    aliveMs: startOf(life.cycle, turn),
    what: "created" as const,
  }));
  const gone = turnsIn({ ...life.cycle, phaseMs: life.cycle.phaseMs + lastsMs }, window).map(
    (turn) => ({
      atMs: startOf(life.cycle, turn) + lastsMs,
      aliveMs: startOf(life.cycle, turn),
      what: "deleted" as const,
    }),
  );
  return [...born, ...gone].flatMap(({ atMs, aliveMs, what }) => {
    const device = deviceOf(machine, aliveMs);
    return device === undefined ? [] : [{ atMs, device, what }];
  });
}

function present(machine: Machine, identified: Identified, atMs: number): Device {
  const seen = presenceAt(machine, atMs);
  const routed = machine.index !== ROUTE_INDEX || turnAt(ROUTE_CYCLE, atMs) % 2 === 0;
  const expiresMs = expiryAt(machine, atMs);
  // A device whose key has run out is turned away.
  const lapsed =
    expiresMs !== undefined && expiresMs <= atMs
      ? {
          online: false,
          lastSeenMs: Math.min(seen.lastSeenMs, expiresMs),
          connectedMs: Math.min(seen.connectedMs, expiresMs),
        }
      : {};
  return {
    machine,
    ...identified,
    createdMs: machine.createdMs,
    ...seen,
    ...lapsed,
    expiresMs,
    enabledRoutes: routed ? machine.enabledRoutes : [],
  };
}

function presenceAt(
  { presence, createdMs }: Machine,
  atMs: number,
): Pick<Device, "online" | "connectedMs" | "lastSeenMs"> {
  const nowMs = Math.floor(atMs / SEEN_EVERY_MS) * SEEN_EVERY_MS;
  if (presence === undefined) return { online: true, connectedMs: createdMs, lastSeenMs: nowMs };
  const connectedMs = startOf(presence.cycle, turnAt(presence.cycle, atMs));
  const untilMs = connectedMs + Math.floor(presence.cycle.periodMs * presence.share);
  return { online: atMs < untilMs, connectedMs, lastSeenMs: Math.min(nowMs, untilMs) };
}

function expiryAt(machine: Machine, atMs: number): number | undefined {
  if (machine.index === KEY_EXPIRY_INDEX && turnAt(KEY_EXPIRY_CYCLE, atMs) % 2 !== 0)
    return (
      machine.createdMs + Math.ceil((atMs - machine.createdMs + 1) / KEY_LIFE_MS) * KEY_LIFE_MS
    );
  if (machine.key === undefined) return undefined;
  const { cycle, lapseMs } = machine.key;
  return startOf(cycle, turnAt(cycle, atMs) + 1) - lapseMs;
}
