/**
 * An OTLP receiver that is dead in two ways by turns: it refuses connections, or takes them and
 * never answers.
 */
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";

/** A port that nobody answers. */
export interface DeadReceiver {
  readonly port: number;
  /** Takes connections from now on, and never answers. */
  hang(): Promise<void>;
  /** Closes what was taken; connections are refused from now on. */
  refuse(): Promise<void>;
}

/** Refuses at first. The port was given by the system. */
export async function startDeadReceiver(): Promise<DeadReceiver> {
  const sockets = new Set<Socket>();
  let server: Server | undefined;
  const listen = async (port: number): Promise<number> => {
    // What comes is read and dropped: it is the answer that never comes.
    server = createServer((socket) => {
      sockets.add(
        socket
          .on("error", () => undefined)
          .once("close", () => sockets.delete(socket))
          .resume(),
      );
    });
    await new Promise<void>((resolve, reject) =>
      server?.once("error", reject).listen(port, "127.0.0.1", resolve),
    );
    return (server.address() as AddressInfo).port;
  };
  const close = async (): Promise<void> => {
    const closing = server;
    server = undefined;
    for (const socket of sockets) socket.destroy();
    if (closing !== undefined) await new Promise((resolve) => closing.close(resolve));
  };
  const port = await listen(0);
  await close();
  return {
    port,
    hang: async () => void (server === undefined && (await listen(port))),
    refuse: close,
  };
}
