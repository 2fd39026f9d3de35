/** A simulated Paperless-ngx with an archive that reads it, on a clock that runs a hundred times faster. */
import { onTestFinished } from "vitest";
import { createPaperlessArchive } from "../../../src/dedup/paperless/archive.ts";
import type { Archive } from "../../../src/dedup/archives/archive.ts";
import { startPaperless } from "../../../src/demo/paperless/paperless.ts";
import type { Estate, Release } from "../../../src/demo/paperless/types.ts";
import type { Paperless } from "../../../src/demo/paperless/paperless.ts";
import { systemClock, type Clock } from "../../../src/kernel/base/clock.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import type { Secret } from "../../../src/kernel/base/secret.ts";
import { createClientFactory } from "../../../src/kernel/client/client.ts";
import { silent } from "../../demo/control-plane/support.ts";

const SPEED = 100;

/** Delays and time limits pass in a hundredth of their time. */
export const fastClock: Clock = {
  now: () => systemClock.now(),
  monotonic: () => systemClock.monotonic() * SPEED,
  timer: (dueMs, run) => systemClock.timer(dueMs / SPEED, run),
};

/** Starts the simulator; it ends with the test. */
export async function simulate(
  fill: (estate: Estate) => void,
  release?: Release,
): Promise<Paperless> {
  const sim = await startPaperless({
    clock: systemClock,
    ids: systemIds,
    log: silent,
    fill,
    ...(release === undefined ? {} : { release }),
  });
  onTestFinished(() => sim.stop());
  return sim;
}

/** Documents with different texts, tags and correspondents. */
export function fillWith(count: number): (estate: Estate) => void {
  return (estate) => {
    for (const name of ["inbox", "tax"]) estate.addReference("tags", { name });
    estate.addReference("correspondents", { name: "Northwind" });
    estate.addReference("document_types", { name: "Invoice" });
    for (let number = 1; number <= count; number++)
      estate.add({
        title: `Paper ${number}`,
        content: `Text of paper number ${number} about subject ${number * 7}.`,
        tags: [(number % 2) + 1],
        correspondent: number % 3 === 0 ? null : 1,
        documentType: 1,
      });
  };
}

/** The token of a user of the simulator, the superuser by default. */
export function tokenOf(sim: Paperless, username = "archivist"): Secret {
  const user = sim.estate.users.find((one) => one.username === username);
  if (user === undefined) throw new Error(`there is no user ${username}`);
  return user.token;
}

/** The archive over a simulator. */
export function archiveOf(
  sim: Pick<Paperless, "url" | "estate">,
  options: {
    readonly url?: string;
    readonly token?: Secret;
    readonly pageSize?: number;
    readonly timeoutMs?: number;
    /** For what takes its time on a busy machine. */
    readonly clock?: Clock;
    readonly password?: { readonly username: string; readonly password: Secret };
  } = {},
): Archive {
  const clock = options.clock ?? fastClock;
  const archive = createPaperlessArchive(
    {
      clock,
      clients: createClientFactory({ clock, ids: systemIds, version: "test" }),
    },
    {
      name: "papers",
      url: options.url ?? sim.url,
      credential: options.password ?? { token: options.token ?? tokenOf(sim as Paperless) },
      timeoutMs: options.timeoutMs ?? 100_000,
      pageSize: options.pageSize ?? 10,
    },
  );
  onTestFinished(() => archive.close?.());
  return archive;
}
