/**
 * The traffic of the network, minute by minute: who talks to whom over what is fixed by the seed,
 * whether they do so in a given minute follows from seed and minute. Shares as measured on a live
 * network: 43 % of connections are physical, 37 % of the others return traffic; 11.6 % of all go
 * over a relay, with 0.4 % of the bytes.
 */
import { createRandom, type Random } from "../random.ts";
import type { Device, Devices } from "./devices.ts";
import type { Machine } from "./roster.ts";

/** What a node counted for one connection. Absent members are zero or unknown. */
export interface Connection {
  readonly proto?: number;
  readonly src: string;
  readonly dst?: string;
  readonly txPkts?: number;
  readonly txBytes?: number;
  readonly rxPkts?: number;
  readonly rxBytes?: number;
}

/** Where a connection went. */
export type Traffic = "virtual" | "subnet" | "exit" | "physical";

/** What one node reports of one minute. */
export interface FlowReport {
  readonly reporter: Device;
  readonly peers: readonly Device[];
  readonly fromMs: number;
  readonly toMs: number;
  /** When the control plane got it; it cannot be read before. */
  readonly loggedMs: number;
  readonly traffic: Readonly<Record<Traffic, readonly Connection[]>>;
}

/** Reports by minute. */
export interface Flows {
  /** Those of the minute that begins at `minute * 60 s`, by `loggedMs`. */
  inMinute(minute: number): readonly FlowReport[];
}

interface Relation {
  readonly client: Machine;
  readonly traffic: Exclude<Traffic, "physical">;
  /** Undefined for exit traffic. */
  readonly target: string | undefined;
  /** Who carries or answers it. */
  readonly peer: Machine;
  readonly proto: number;
  readonly port: number;
  readonly scale: number;
  readonly relayed: boolean;
  readonly version: 4 | 6;
  readonly chance: number;
}

const MINUTE_MS = 60_000;
const TCP = 6;
const UDP = 17;
const SERVICES: readonly (readonly [proto: number, port: number])[] = [
  [TCP, 443],
  [TCP, 443],
  [TCP, 22],
  [TCP, 5432],
  [TCP, 9100],
  [UDP, 53],
  [UDP, 443],
  [TCP, 6379],
];
const RELAYED_SHARE = 0.27;
const RETURN_SHARE = 0.65;
const PHYSICAL_SHARE = 0.78;
const LATE_SHARE = 0.004;
const LATEST_MS = 852_000;
const LAZIEST_MS = 300_000;

/** `clients` bounds how many machines begin conversations, whatever the size of the network. */
export function createFlows(
  roster: readonly Machine[],
  devices: Devices,
  seed: number,
  clients: number,
): Flows {
  const relations = relationsOf(roster, createRandom(seed, "relations"), clients);
  return {
    inMinute(minute) {
      const present = new Map(
        devices
          .at(minute * MINUTE_MS)
          .filter(({ online }) => online)
          .map((device) => [device.machine, device]),
      );
      const random = createRandom(seed, `flows/${minute}`);
      const ledger = new Ledger();
      for (const relation of relations) {
        const client = present.get(relation.client);
        const peer = present.get(relation.peer);
        if (random.next() < relation.chance && client !== undefined && peer !== undefined)
          converse(relation, client, peer, random, ledger);
      }
      return ledger.reports(minute, random);
    },
  };
}

function relationsOf(
  roster: readonly Machine[],
  random: Random,
  clients: number,
): readonly Relation[] {
  const servers = roster.filter(({ kind }) => kind === "server");
  const router = roster.find(({ kind }) => kind === "router");
  const exit = roster.find(({ kind }) => kind === "exit");
  const callers = roster
    .filter(({ kind }) => kind !== "exit" && kind !== "router")
    .slice(0, clients);
  return callers.flatMap((client) => {
    const own = random.fork(String(client.index));
    const base = {
      client,
      version: own.next() < 0.1 ? 6 : 4,
      relayed: own.next() < RELAYED_SHARE,
      chance: 0.35 + own.next() * 0.6,
    } as const;
    const relations: Relation[] = [];
    for (const peer of own.shuffle(servers.slice(0, 64)).slice(0, own.integer(1, 3))) {
      const [proto, port] = own.pick(SERVICES);
      if (peer !== client)
        relations.push({
          ...base,
          traffic: "virtual",
          target: peer.addresses[base.version === 4 ? 0 : 1],
          peer,
          proto,
          port,
          scale: 10 ** (1.5 + own.next() * 3),
        });
    }
    if (router !== undefined && own.next() < 0.25)
      relations.push({
        ...base,
        version: 4,
        traffic: "subnet",
        target: `10.20.1.${own.integer(2, 40)}`,
        peer: router,
        proto: TCP,
        port: own.pick([5432, 445, 3389]),
        scale: 2000,
      });
    if (exit !== undefined && client.kind === "phone")
      relations.push({
        ...base,
        version: 4,
        traffic: "exit",
        target: undefined,
        peer: exit,
        proto: own.pick([TCP, UDP]),
        port: 0,
        scale: 5000,
      });
    return relations;
  });
}

/** Collects what each node counted within one minute. */
class Ledger {
  readonly #entries = new Map<
    Device,
    { readonly peers: Set<Device>; readonly traffic: Record<Traffic, Map<string, Connection>> }
  >();

  /** A node counts once for each pair of ends, however many conversations took that way. */
  add(reporter: Device, peer: Device, traffic: Traffic, connection: Connection): void {
    const known = this.#entries.get(reporter) ?? {
      peers: new Set(),
      traffic: { virtual: new Map(), subnet: new Map(), exit: new Map(), physical: new Map() },
    };
    this.#entries.set(reporter, known);
    known.peers.add(peer);
    const { proto, src, dst = "" } = connection;
    const ends = `${proto ?? ""} ${src} ${dst}`;
    const before = known.traffic[traffic].get(ends);
    known.traffic[traffic].set(ends, before === undefined ? connection : added(before, connection));
  }

  reports(minute: number, random: Random): FlowReport[] {
    const toMs = (minute + 1) * MINUTE_MS;
    const reports = [...this.#entries].map(([reporter, { peers, traffic }]) => ({
      reporter,
      peers: [...peers],
      fromMs: toMs - MINUTE_MS,
      toMs,
      loggedMs: toMs + latenessMs(random),
      traffic: listed(traffic),
    }));
    return reports.toSorted((a, b) => a.loggedMs - b.loggedMs);
  }
}

function listed({
  virtual,
  subnet,
  exit,
  physical,
}: Readonly<Record<Traffic, Map<string, Connection>>>): FlowReport["traffic"] {
  return {
    virtual: [...virtual.values()],
    subnet: [...subnet.values()],
    exit: [...exit.values()],
    physical: [...physical.values()],
  };
}

function added(
  before: Connection,
  { txPkts = 0, txBytes = 0, rxPkts = 0, rxBytes = 0 }: Connection,
): Connection {
  const {
    txPkts: sent = 0,
    txBytes: sentBytes = 0,
    rxPkts: received = 0,
    rxBytes: receivedBytes = 0,
    ...ends
  } = before;
  return counted({
    ...ends,
    txPkts: sent + txPkts,
    txBytes: sentBytes + txBytes,
    rxPkts: received + rxPkts,
    rxBytes: receivedBytes + rxBytes,
  });
}

function latenessMs(random: Random): number {
  return random.next() < LATE_SHARE
    ? random.integer(LAZIEST_MS, LATEST_MS)
    : 5000 + Math.floor(-Math.log(1 - random.next()) * 1800);
}

function converse(
  relation: Relation,
  client: Device,
  peer: Device,
  random: Random,
  ledger: Ledger,
): void {
  const { traffic, proto } = relation;
  const txPkts = 1 + Math.floor(relation.scale ** random.next());
  const rxPkts = Math.floor(txPkts * (0.4 + random.next()));
  // A relayed connection carries little more than keep-alives.
  const size = relation.relayed ? 8 : 1;
  const counts = {
    txPkts: Math.ceil(txPkts / size),
    txBytes: Math.ceil(txPkts / size) * random.integer(60, relation.relayed ? 120 : 900),
    rxPkts: Math.ceil(rxPkts / size),
    rxBytes: Math.ceil(rxPkts / size) * random.integer(60, relation.relayed ? 160 : 1300),
  };
  const from = endpoint(
    client.machine.addresses[relation.version === 4 ? 0 : 1],
    proto === 1 ? 0 : random.integer(32_768, 60_999),
  );
  if (relation.target === undefined)
    ledger.add(peer, client, "exit", {
      proto,
      src: endpoint(client.machine.addresses[0], 0),
      ...counts,
    });
  else {
    const to = endpoint(relation.target, relation.port);
    ledger.add(client, peer, traffic, counted({ proto, src: from, dst: to, ...counts }));
    if (random.next() < RETURN_SHARE)
      ledger.add(
        peer,
        client,
        traffic,
        counted({ proto, src: to, dst: from, ...reversed(counts) }),
      );
  }
  carry(relation, client, peer, counts, random, ledger);
}

// The physical traffic of a relation, as both ends report it.
function carry(
  relation: Relation,
  client: Device,
  peer: Device,
  counts: Required<Pick<Connection, "txPkts" | "txBytes" | "rxPkts" | "rxBytes">>,
  random: Random,
  ledger: Ledger,
): void {
  if (random.next() < PHYSICAL_SHARE)
    ledger.add(
      client,
      peer,
      "physical",
      counted({
        src: endpoint(peer.machine.addresses[0], 0),
        dst: path(relation, peer),
        ...counts,
      }),
    );
  if (random.next() < PHYSICAL_SHARE * RETURN_SHARE)
    ledger.add(
      peer,
      client,
      "physical",
      counted({
        src: endpoint(client.machine.addresses[0], 0),
        dst: path(relation, client),
        ...reversed(counts),
      }),
    );
}

function path({ relayed, version }: Relation, { machine }: Device): string {
  if (relayed) return `127.3.3.40:${machine.region}`;
  return version === 6
    ? endpoint(`2001:db8:0:${machine.index.toString(16)}::1`, 41_641)
    : endpoint(machine.publicAddress, 41_641);
}

function endpoint(address: string, port: number): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

function reversed(
  counts: Required<Pick<Connection, "txPkts" | "txBytes" | "rxPkts" | "rxBytes">>,
): typeof counts {
  return {
    txPkts: counts.rxPkts,
    txBytes: counts.rxBytes,
    rxPkts: counts.txPkts,
    rxBytes: counts.txBytes,
  };
}

// The vendor leaves zeros out.
function counted(connection: Connection): Connection {
  const { txPkts, txBytes, rxPkts, rxBytes, ...rest } = connection;
  return {
    ...rest,
    ...(txPkts ? { txPkts } : {}),
    ...(txBytes ? { txBytes } : {}),
    ...(rxPkts ? { rxPkts } : {}),
    ...(rxBytes ? { rxBytes } : {}),
  };
}
