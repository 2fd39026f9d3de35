/** Which modules a process loads: what is off takes no memory. Runs the sources, whose files are named. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { cleanEnvironment, rest, watchStart } from "../contract/daemon.ts";
import { spawn } from "../support/spawn.ts";

const root = join(import.meta.dirname, "../..");
/** Configuration, stores and names of metrics are known, whatever runs. */
const KNOWN =
  /\/(config|settings|keys|parameters|band-plan|stores|tables|lease-codec|sketch-store|verdict-block|join-block|rules|overlaps|globs|kinds|type|metrics)\.ts$/;
const PATIENTLY = { timeout: 60_000 };

/** Writes the path of every module that a thread loads, a line each. */
const hook = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from "node:module";
import { appendFileSync } from "node:fs";
import { threadName } from "node:worker_threads";
registerHooks({ load(url, context, next) {
  appendFileSync(process.env.NODE_TEST_LOADED, threadName + " " + url + "\\n");
  return next(url, context);
} });`)}`;

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "steward-test-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

async function start(settings: Readonly<Record<string, string>>) {
  const file = join(folder, "loaded");
  const child = spawn(
    join(root, "bin/node"),
    ["--disable-warning=ExperimentalWarning", "--import", hook, join(root, "src/main.ts")],
    {
      env: {
        ...cleanEnvironment,
        NODE_TEST_LOADED: file,
        STATE_DIRECTORY: folder,
        STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
        ...settings,
      },
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  const daemon = await watchStart(child);
  /** Sources and packages that were loaded so far and match, relative to the root. */
  const loaded = (pattern: RegExp): string[] =>
    readFileSync(file, "utf8")
      .split("\n")
      .map((line) =>
        line
          .replace(`file://${root}/`, "")
          .replace(/^main /, " ")
          .trim(),
      )
      .filter((line) => pattern.test(line));
  return { daemon, loaded };
}

describe("a process with the monitor alone", () => {
  it("loads neither the other services, nor a demo, nor the pool's threads", async () => {
    const { daemon, loaded } = await start({
      STEWARD_SERVICES__DEDUP: "false",
      STEWARD_SERVICES__TOKENS: "false",
    });
    expect((await rest(daemon, "GET", "/healthz")).status).toBe(200);
    expect(loaded(/^src\/daemon\/serve\.ts/)).toHaveLength(1);
    expect(loaded(/^src\/(dedup|tokens|demo)\//).filter((file) => !KNOWN.test(file))).toEqual([]);
    expect(loaded(/node_modules\/(piscina|@opentelemetry)\//)).toEqual([]);
    expect(loaded(/^(monitor|telemetry) /)).toEqual([]);
    expect((await daemon.stop()).code).toBe(0);
  });

  it("scraped, has a telemetry thread without exporters", async () => {
    const { daemon, loaded } = await start({
      STEWARD_SERVICES__DEDUP: "false",
      STEWARD_SERVICES__TOKENS: "false",
      STEWARD_SCRAPE__ENABLED: "true",
      STEWARD_SCRAPE__LISTEN: "127.0.0.1:0",
    });
    await expect
      .poll(() => loaded(/telemetry\/thread\/thread\.ts/).length, PATIENTLY)
      .toBeGreaterThan(0);
    await expect.poll(() => daemon.stderr.join("\n"), PATIENTLY).toContain("name=metrics");
    expect(
      loaded(/node_modules\/(@opentelemetry\/(sdk|exporter|otlp)|@grpc)|thread\/export\/pipeline/),
    ).toEqual([]);
    expect((await daemon.stop()).code).toBe(0);
  });
});
