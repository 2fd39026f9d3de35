/** Calls that read the two logs of the hosted control plane in windows. */
import type { Clock } from "../../../kernel/base/clock.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import { createDeadline } from "../../../kernel/async/deadline.ts";
import type { Page } from "../../../kernel/client/types.ts";
import { text } from "../decode/fields.ts";
import { wholeSeconds } from "../decode/time.ts";
import type { TimeWindow } from "../model.ts";
import type { ControlPlane } from "./control-plane.ts";

const NAME_WINDOW_MS = 300_000;
const NAME_LIMIT_MS = 10_000;

type LogName = "logging/network" | "logging/configuration";

export const logCalls = {
  /**
   * Undecoded records as they arrive; all sources share a decoder. A window is complete only when
   * the iteration has ended.
   */
  flowLogs: (
    plane: ControlPlane,
    window: TimeWindow,
    signal: AbortSignal,
  ): AsyncIterable<unknown[]> => readLog(plane, "logging/network", window, signal),
  /** As `flowLogs`. */
  auditLogs: (
    plane: ControlPlane,
    window: TimeWindow,
    signal: AbortSignal,
  ): AsyncIterable<unknown[]> => readLog(plane, "logging/configuration", window, signal),
};

/**
 * Yields a window's records in batches. The API counts in whole seconds; a window within one second
 * is empty.
 */
async function* readLog(
  { logs, path }: Pick<ControlPlane, "logs" | "path">,
  operation: LogName,
  window: TimeWindow,
  signal: AbortSignal,
  done?: (page: Page) => void,
): AsyncGenerator<unknown[], void, undefined> {
  const [start, end] = [wholeSeconds(window.fromMs), wholeSeconds(window.toMs)];
  if (start === end) return;
  yield* logs.items(
    {
      operation,
      path: path(operation),
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
  plane: Pick<ControlPlane, "logs" | "path">,
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
    plane,
    "logging/configuration",
    { fromMs: nowMs - NAME_WINDOW_MS, toMs: nowMs },
    deadline.signal,
    ({ beside }) => {
      name = text(beside.get("tailnetId")) || text(beside.get("tailnet"));
    },
  );
  for await (const _ of records) continue;
  return name === "" ? undefined : name;
}
