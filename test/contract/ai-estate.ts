/** A daemon with AI on, beside a simulated Paperless-ngx and a simulated provider. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { Fault } from "../../src/demo/control-plane/faults.ts";
import type { Paperless } from "../../src/demo/paperless/paperless.ts";
import type { Estate } from "../../src/demo/paperless/types.ts";
import { systemClock, type Clock } from "../../src/kernel/base/clock.ts";
import { startAiProvider, type AiProviderSimulator } from "../support/ai-provider.ts";
import { rest, runJob, startDaemon, temporaryFolder, type Daemon } from "./daemon.ts";
import { configOf, startArchive } from "./paperless-estate.ts";

export interface AiEstate {
  readonly sim: Paperless;
  readonly provider: AiProviderSimulator;
  readonly config: string;
  /** Starts a daemon on the estate's state; it ends with the test. */
  start(config?: string): Promise<Daemon>;
  /** Lets go of requests that `HELD` holds. */
  release(): void;
}

/** Holds a request at the archive until the test releases it. */
export const HELD = { kind: "delay", ms: 2 ** 40 } as const satisfies Fault;

/** A clock whose longest timers run when the test says so. */
export function createHeldClock(): Clock & Pick<AiEstate, "release"> {
  const held = new Set<() => void>();
  return {
    ...systemClock,
    timer(atMs, run) {
      if (atMs < HELD.ms) return systemClock.timer(atMs, run);
      held.add(run);
      return { [Symbol.dispose]: () => void held.delete(run) };
    },
    release() {
      for (const run of held) run();
      held.clear();
    },
  };
}

/** Ends with the test, or as `atEnd` says. `archives` are further rows of the configuration. */
export async function startAiEstate(
  fill: (estate: Estate) => void,
  archives = "",
  atEnd: (end: () => Promise<void>) => void = onTestFinished,
): Promise<AiEstate> {
  const clock = createHeldClock();
  const [sim, provider] = await Promise.all([startArchive(fill, clock), startAiProvider()]);
  atEnd(async () => void (await Promise.all([sim.stop(), provider.stop()])));
  const folder = temporaryFolder();
  writeFileSync(join(folder, "key"), "sk-0123456789abcdef", { mode: 0o600 });
  const config = `${configOf(sim, temporaryFolder(), archives)}  ai:
    enabled: true
    openai: {api_key_file: ${join(folder, "key")}, base_url: "${provider.url}/v1"}
`;
  return {
    sim,
    provider,
    config,
    release: clock.release,
    async start(own = config) {
      const daemon = await startDaemon({ config: own });
      atEnd(async () => void (await daemon.stop("SIGKILL")));
      return daemon;
    },
  };
}

/** Documents with a tag and a correspondent of their own. */
export function fillPapers(count: number): (estate: Estate) => void {
  return (estate) => {
    estate.addReference("tags", { name: "inbox" });
    estate.addReference("correspondents", { name: "Other" });
    for (let number = 1; number <= count; number++)
      estate.add({
        title: `Paper ${number}`,
        content: `Text ${number} of a water bill with a sum and a date`,
        tags: [1],
        correspondent: 1,
      });
  };
}

/** Syncs and lets the model suggest for every document. */
export async function suggestForAll(daemon: Daemon): Promise<void> {
  await runJob(daemon, "/api/v1/sync");
  const settings = { provider: "openai", model: "gpt-5.4-mini", batchSize: 8 };
  await rest(daemon, "PUT", "/api/v1/ai/config", settings);
  const job = await runJob(daemon, "/api/v1/ai/process", {});
  if (job.status !== "completed") throw new Error(JSON.stringify(job));
}

/** All results, newest first. */
export async function resultsOf(daemon: Daemon, query = ""): Promise<any[]> {
  const found: any[] = [];
  for (;;) {
    const path = `/api/v1/ai/results?limit=100&offset=${found.length}${query}`;
    const { data, meta } = (await rest(daemon, "GET", path)).json;
    found.push(...data);
    if (data.length === 0 || found.length >= meta.total) return found;
  }
}
