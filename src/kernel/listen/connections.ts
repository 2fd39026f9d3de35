/**
 * The open connections of one port. When all places are taken a new one takes that of the connection which is worth
 * least: the oldest that has brought no request yet, else the one that has been idle longest. Never that of a request.
 */
import type { Socket } from "node:net";

/** Connections by what they are worth. */
export interface Connections {
  readonly size: number;
  /** Counts a connection until it closes. */
  hold(socket: Socket): void;
  /** No longer counts it: another one stands for it. */
  forget(socket: Socket): void;
  /** A request of this connection has begun; each one is ended once. */
  begin(socket: Socket): void;
  end(socket: Socket): void;
  /** Cuts the connection that is worth least. False when all carry requests. */
  makeRoom(): boolean;
  all(): readonly Socket[];
}

/** `emptied` is called whenever the last one has gone. */
export function createConnections(emptied: () => void): Connections {
  const requests = new Map<Socket, number>();
  /** Both in the order in which they came to be so. */
  const unproven = new Set<Socket>();
  const idle = new Set<Socket>();
  const forget = (socket: Socket): void => {
    if (!requests.delete(socket)) return;
    unproven.delete(socket);
    idle.delete(socket);
    if (requests.size === 0) emptied();
  };
  const change = (socket: Socket, by: number): void => {
    const before = requests.get(socket);
    if (before === undefined) return;
    requests.set(socket, before + by);
    unproven.delete(socket);
    if (before + by === 0) idle.add(socket);
    else idle.delete(socket);
  };
  return {
    get size() {
      return requests.size;
    },
    hold(socket) {
      requests.set(socket, 0);
      unproven.add(socket);
      socket.once("close", () => forget(socket));
    },
    forget,
    begin: (socket) => change(socket, 1),
    end: (socket) => change(socket, -1),
    makeRoom() {
      const [least = idle.values().next().value] = unproven;
      if (least === undefined) return false;
      forget(least);
      least.destroy();
      return true;
    },
    all: () => [...requests.keys()],
  };
}
