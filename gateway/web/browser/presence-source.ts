/** Fetches presence beside the status: less often, and its failure only leaves the strips old. */
import type { PresenceReport } from "../../../src/gen/presence-json.ts";
import { learnTime, now } from "./clock.ts";

const EVERY_MS = 60_000;
const TIMEOUT_MS = 15_000;

/** Calls back after each attempt, without a report when it failed; `look` makes one when it is due. */
export function createPresenceSource(
  device: string | undefined,
  ended: (report: PresenceReport | undefined) => void,
): { look(): void } {
  const path = `/api/presence.json${device === undefined ? "" : `?device=${encodeURIComponent(device)}`}`;
  let dueMs = 0;
  let isFetching = false;
  const read = async (): Promise<PresenceReport | undefined> => {
    const answer = await fetch(path, {
      cache: "no-store",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    learnTime(answer);
    return answer.ok ? ((await answer.json()) as PresenceReport) : undefined;
  };
  return {
    look() {
      if (isFetching || now() < dueMs) return;
      isFetching = true;
      void read()
        .catch(() => undefined)
        .then((report) => {
          isFetching = false;
          dueMs = now() + EVERY_MS;
          ended(report);
        });
    },
  };
}
