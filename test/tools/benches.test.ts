import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { withoutPluginHost } from "../support/plugin-host.ts";
import { spawn } from "../support/spawn.ts";
import { isLongRun } from "../support/long-run.ts";

const root = join(import.meta.dirname, "../..");
const TEN_MINUTES = 10 * 60_000;

/** Each with as little to do as it can be told, and what it prints last. */
const BENCHES: readonly (readonly [file: string, args: readonly string[], last: RegExp])[] = [
  ["analysis.ts", ["300", "50"], /^ratio +[\d.]+$/],
  ["api.ts", ["--documents=200", "--groups=20", "--seconds=1"], /10 changed documents: .*limit/],
  ["dedup.ts", ["--documents=200", "--real=200"], /^ +10000 +[\d.]+ +\d+ +\d+$/],
  ["exemplars.ts", ["1000"], /one in each bucket snapshot [\d.]+ ms/],
  ["flows.ts", ["--seconds=3"], /rate with the ingress log over that without: [\d.]+, bar/],
  ["hold.ts", ["2"], /"not_served":\d+}$/],
  ["json.ts", ["100"], /"reader":"JSON.parse","round":3,.*"longestStallMs":/],
  ["kernel-gateway.ts", ["0.5"], /^{"way":"grpc","calls_per_second":\d+/],
  ["kernel-state.ts", ["0.2"], /bulk in the same env +64 +\d+/],
  ["leases.ts", ["100"], /all expired at \d+\/s/],
  ["monitor.ts", ["--quick"], /resident memory/],
  ["plugin.ts", ["--seconds=2", "--warm=100"], /^{"ratio":[\d.]+,"bar":/],
  ["scale.ts", ["--only=million,incremental", "--documents=2000", "--incremental=1000"], /≤ 0 /],
  ["small-network.ts", ["--warm=1", "--cycles=1"], /resident memory: \d+ MB, limit/],
  ["status.ts", ["1", "100"], /"when":"collecting, four clients ask"/],
  ["telemetry.ts", ["1000"], /^rate of a pull: [\d.]+ of plain string joins/],
  ["tokens.ts", ["--seconds=1", "--warm=100", "--clients=1"], /^{"clients":1,"daemon":/],
];

async function run(file: string, args: readonly string[]) {
  const flags = ["--disable-warning=ExperimentalWarning", "--expose-gc"];
  const child = spawn(join(root, "bin/node"), [...flags, join("bench", file), ...args], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [out, errors] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (errors += text));
  const [code] = (await once(child, "close")) as [number | null];
  return { code, last: out.trimEnd().split("\n").at(-1) ?? "", errors };
}

// A bar that is missed with so little to do, beside other tests, is no failure: that ends 1, too.
describe.skipIf(!isLongRun)("benches with little to do (minutes: npm run test:long)", () => {
  beforeAll(() => {
    execFileSync("npm", ["run", "-s", "build:plugin"], { cwd: root });
  });

  for (const [file, args, last] of BENCHES)
    it.skipIf(file === "plugin.ts" && withoutPluginHost !== undefined)(
      `${file} measures to its end`,
      async () => {
        const { code, ...said } = await run(file, args);
        expect(said).toEqual({
          last: expect.stringMatching(last),
          errors: expect.not.stringMatching(/^ {4}at /m),
        });
        expect([0, 1]).toContain(code);
      },
      TEN_MINUTES,
    );
});
