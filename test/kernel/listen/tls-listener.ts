/** The listener of tests with TLS. */
import { onTestFinished } from "vitest";
import { systemClock } from "../../../src/kernel/base/clock.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import {
  createListener,
  type Listener,
  type ListenerSpec,
} from "../../../src/kernel/listen/listener.ts";
import { echo } from "./raw-client.ts";

/** A listener with TLS on a free port, not started yet. */
export function tlsListener(
  tls: ListenerSpec["tls"],
  more: Partial<ListenerSpec> = {},
): { listener: Listener; lines: string[] } {
  const lines: string[] = [];
  const log = createLog({
    level: "info",
    format: "text",
    write: (line) => void lines.push(line),
    now: () => 0,
  });
  const listener = createListener(
    {
      name: "test",
      setting: "gateway.listen",
      address: { host: "127.0.0.1", port: 0 },
      credential: false,
      handle: echo,
      ...(tls === undefined ? {} : { tls: { reloadMs: 5, ...tls } }),
      ...more,
    },
    { clock: systemClock, log },
  );
  onTestFinished(() => listener.stop(0));
  return { listener, lines };
}
