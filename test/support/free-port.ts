/** A port for a program that must know its port before it starts. */
import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below those that the system gives to others: nobody is given it before it is used. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + randomInt(12_000);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) =>
      server.once("error", () => resolve(false)).listen(port, "127.0.0.1", () => resolve(true)),
    );
    if (!isFree) continue;
    await new Promise<void>((resolve) => server.close(() => resolve()));
    return port;
  }
}
