/** Runs the plugin in this process, with the system's clock and the process's streams. */
import { writeSync } from "node:fs";
import { systemClock } from "../../kernel/base/clock.ts";
import { errorWithRemedy, toStewardError } from "../../kernel/base/errors.ts";
import { systemIds } from "../../kernel/base/ids.ts";
import { createEngine, unreleased } from "../engine/engine.ts";
import { proxyOf } from "../engine/platform/proxy.ts";
import type { BuildInfo } from "../engine/types.ts";
import { readHostSettings, type HostSettings } from "./handshake.ts";
import { createHclog } from "./hclog.ts";
import { servePlugin } from "./plugin.ts";

const STDOUT = 1;

export interface RunOptions {
  readonly version: string;
  /** Of a release. */
  readonly build: BuildInfo | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The exit code. Never throws. */
export async function runPlugin({ version, build, environment }: RunOptions): Promise<number> {
  let host: HostSettings;
  try {
    host = readHostSettings(environment);
  } catch (thrown) {
    // No host reads this, or one that shows it as it is: a text for people.
    process.stderr.write(`steward plugin: ${errorWithRemedy(toStewardError(thrown))}\n`);
    return 1;
  }
  const log = createHclog({
    level: host.logLevel,
    write: (line) => void process.stderr.write(line),
    now: () => systemClock.now(),
  });
  // Ctrl-C in the host's terminal reaches the plugin too; the host ends it when its own work is done.
  process.on("SIGINT", () => undefined);
  const terminated = new AbortController();
  process.once("SIGTERM", () => terminated.abort());
  let failed = false;
  process.on("uncaughtException", (thrown: unknown) => {
    failed = true;
    // A foreign message may quote a token; the places in the code are enough to find it.
    const places = thrown instanceof Error ? thrown.stack?.match(/^ {4}at .*$/gm) : undefined;
    log.error("uncaught error; the plugin ends, and the host starts another one", { places });
    terminated.abort();
  });
  // A host that died does not read: its end is noticed by its stream and by the parent's id.
  process.stderr.on("error", () => undefined);
  log.info("plugin starts", { version, host: host.version, pid: process.pid });
  if (host.wantsLockedMemory)
    log.warn(
      "the host asks plugins to lock their memory, which this one cannot; use encrypted swap, or none",
    );
  try {
    await servePlugin(
      {
        clock: systemClock,
        ids: systemIds,
        log,
        factory: createEngine({
          version,
          build: build ?? unreleased,
          proxy: proxyOf(environment),
        }),
        print: (text) => void writeSync(STDOUT, text),
        parent: () => process.ppid,
        signal: terminated.signal,
      },
      { host, version },
    );
    return failed ? 1 : 0;
  } catch (thrown) {
    log.error("plugin stopped", { error: toStewardError(thrown) });
    return 1;
  }
}
