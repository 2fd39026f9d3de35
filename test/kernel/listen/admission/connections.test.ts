import { Socket } from "node:net";
import { describe, expect, it } from "vitest";
import {
  createConnections,
  type Connections,
} from "../../../../src/kernel/listen/admission/connections.ts";

function connections(count: number): { all: Connections; sockets: Socket[] } {
  const all = createConnections(() => undefined);
  const sockets = Array.from({ length: count }, () => new Socket());
  for (const socket of sockets) all.hold(socket);
  return { all, sockets };
}

/** Which of them are cut, in order, until none may be. */
function cutOrder({ all, sockets }: ReturnType<typeof connections>): number[] {
  const order: number[] = [];
  while (all.makeRoom())
    order.push(
      ...sockets
        .map((socket, at) => (socket.destroyed && !order.includes(at) ? at : -1))
        .filter((at) => at >= 0),
    );
  return order;
}

describe("a new connection beyond the limit", () => {
  it("takes the place of a stranger's idle one, then of one with a stranger's request, of one without a request, of an owner's idle one", () => {
    const made = connections(6);
    const [, busyStranger, idleOwner, idleStranger, busyOwner, mixed] = made.sockets as [
      Socket,
      Socket,
      Socket,
      Socket,
      Socket,
      Socket,
    ];
    made.all.begin(busyStranger, "stranger");
    made.all.begin(idleOwner, "owner");
    made.all.end(idleOwner, "owner");
    made.all.begin(idleStranger, "probe");
    made.all.end(idleStranger, "probe");
    made.all.begin(busyOwner, "stranger");
    made.all.begin(busyOwner, "owner");
    made.all.begin(mixed, "owner");
    made.all.end(mixed, "owner");
    made.all.begin(mixed, "stranger");
    expect(cutOrder(made)).toEqual([3, 1, 0, 2, 5]);
    expect(made.all.all()).toEqual([busyOwner]);
  });

  it("takes the place of the oldest without a request first where those are more than half", () => {
    const made = connections(5);
    const [stranger, owner] = made.sockets as [Socket, Socket];
    made.all.begin(stranger, "stranger");
    made.all.begin(owner, "owner");
    expect(cutOrder(made)).toEqual([2, 0, 3, 4]);
  });

  it("takes nobody's place where all carry owners' requests", () => {
    const { all, sockets } = connections(3);
    for (const socket of sockets) all.begin(socket, "owner");
    expect(all.makeRoom()).toBe(false);
  });
});
