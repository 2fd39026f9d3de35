/** Reads the two logs of the hosted control plane in windows. */
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { createDeadline } from "../../../kernel/async/deadline.ts";
import type { Client, Page } from "../../../kernel/client/types.ts";
import { text } from "../decode/fields.ts";
import { wholeSeconds } from "../decode/time.ts";
import type { TimeWindow } from "../provider.ts";

const NAME_WINDOW_MS = 300_000;
const NAME_LIMIT_MS = 10_000;

export interface LogEndpoint {
  readonly operation: "logging/network" | "logging/configuration";
  readonly path: string;
}

/**
 * Yields a window's records in batches. The API counts in whole seconds; a window within one second
 * is empty.
 */
export async function* readLog(
  client: Client,
  endpoint: LogEndpoint,
  window: TimeWindow,
  signal: AbortSignal,
  done?: (page: Page) => void,
): AsyncGenerator<unknown[], void, undefined> {
  const [start, end] = [wholeSeconds(window.fromMs), wholeSeconds(window.toMs)];
  if (start === end) return;
  yield* client.items(
    {
      ...endpoint,
      query: { start, end },
      at: ["logs"],
      missing: "null",
      maxPages: 1,
      next(page) {
        done?.(page);
        return undefined;
      },
    },
    signal,
  );
}

/** The network's own name, which log responses carry. Rejects after 10 s. */
export async function readNetworkName(
  client: Client,
  endpoint: LogEndpoint,
  clock: Clock,
  signal: AbortSignal,
): Promise<string | undefined> {
  using deadline = createDeadline(
    clock,
    NAME_LIMIT_MS,
    signal,
    () =>
      new StewardError("deadline", `the network's name did not come within ${NAME_LIMIT_MS} ms`),
  );
  const nowMs = clock.now();
  let name = "";
  const records = readLog(
    client,
    endpoint,
    { fromMs: nowMs - NAME_WINDOW_MS, toMs: nowMs },
    deadline.signal,
    ({ beside }) => {
      name = text(beside.get("tailnetId")) || text(beside.get("tailnet"));
    },
  );
  for await (const _ of records) continue;
  return name === "" ? undefined : name;
}
