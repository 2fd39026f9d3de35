/**
 * The open connections of one port by priority. When the limit is reached a new connection replaces
 * the one with the lowest priority: one without a request yet, a stranger's, an idle owner's. A
 * connection with an owner's request is never cut.
 */
import type { Socket } from "node:net";
import type { Share } from "./shares.ts";

export interface Connections {
  readonly size: number;
  /** Counts a connection until it closes. A TLS connection names the socket that carries it. */
  hold(socket: Socket, carrier?: Socket): void;
  /** Stops counting it: another object represents it now. */
  forget(socket: Socket): void;
  /** A request of this connection has begun; each ends once, with the same share. */
  begin(socket: Socket, share: Share): void;
  end(socket: Socket, share: Share): void;
  /** Cuts the connection with the lowest priority. False when all carry requests of owners. */
  makeRoom(): boolean;
  /** Closes a connection, whatever it waits for. */
  cut(socket: Socket): void;
  all(): readonly Socket[];
}

type Rank = "unproven" | "idle stranger" | "busy stranger" | "idle owner" | "busy owner";

/**
 * The order in which connections are cut; within a rank the longest in it first. A busy owner's is
 * never cut.
 */
const CUT_ORDER: readonly Rank[] = ["idle stranger", "busy stranger", "unproven", "idle owner"];
/**
 * When connections without a request are more than half of all, they are cut first: otherwise a new
 * one would often cut the next newest.
 */
const CROWDED_ORDER: readonly Rank[] = ["unproven", "idle stranger", "busy stranger", "idle owner"];

interface Entry {
  /**
   * The socket to destroy: a TLS connection may wait for a write that never ends, also when it is
   * destroyed itself (docs/architecture/admission.md).
   */
  readonly carrier: Socket;
  rank: Rank;
  ownerRequests: number;
  otherRequests: number;
  /** It has sent an owner's request. */
  isOwners: boolean;
}

/** `emptied` is called whenever the last one has closed. */
export function createConnections(emptied: () => void): Connections {
  const entries = new Map<Socket, Entry>();
  /** Each in the order in which its connections entered the rank. */
  const ranks: Record<Rank, Set<Socket>> = {
    unproven: new Set(),
    "idle stranger": new Set(),
    "busy stranger": new Set(),
    "idle owner": new Set(),
    "busy owner": new Set(),
  };
  const forget = (socket: Socket): void => {
    const entry = entries.get(socket);
    if (entry === undefined) return;
    entries.delete(socket);
    ranks[entry.rank].delete(socket);
    if (entries.size === 0) emptied();
  };
  const cut = (socket: Socket): void => void (entries.get(socket)?.carrier ?? socket).destroy();
  const change = (socket: Socket, share: Share, by: 1 | -1): void => {
    const entry = entries.get(socket);
    if (entry === undefined) return;
    if (share === "owner") {
      entry.isOwners = true;
      entry.ownerRequests += by;
    } else entry.otherRequests += by;
    const rank = rankOf(entry);
    if (rank === entry.rank) return;
    ranks[entry.rank].delete(socket);
    ranks[rank].add(socket);
    entry.rank = rank;
  };
  return {
    get size() {
      return entries.size;
    },
    hold(socket, carrier = socket) {
      entries.set(socket, {
        carrier,
        rank: "unproven",
        ownerRequests: 0,
        otherRequests: 0,
        isOwners: false,
      });
      ranks.unproven.add(socket);
      socket.once("close", () => forget(socket));
    },
    forget,
    begin: (socket, share) => change(socket, share, 1),
    end: (socket, share) => change(socket, share, -1),
    makeRoom() {
      for (const rank of ranks.unproven.size > entries.size / 2 ? CROWDED_ORDER : CUT_ORDER) {
        const [least] = ranks[rank];
        if (least === undefined) continue;
        cut(least);
        forget(least);
        return true;
      }
      return false;
    },
    cut,
    all: () => [...entries.keys()],
  };
}

function rankOf({ ownerRequests, otherRequests, isOwners }: Entry): Rank {
  if (ownerRequests > 0) return "busy owner";
  if (isOwners) return "idle owner";
  return otherRequests > 0 ? "busy stranger" : "idle stranger";
}
