/** The commands of docs/api.md by `buf`, where `npm run generate` has installed it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { BUF } from "../../tools/generators.ts";
import {
  cleanEnvironment,
  removeTemporaryFolders,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";
import { spawn } from "../support/spawn.ts";

const root = join(import.meta.dirname, "../..");
let daemon: Daemon;

beforeAll(async () => {
  const env = {
    STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
    STEWARD_STATE__DIRECTORY: temporaryFolder(),
    STEWARD_DEMO_ROOT_TOKEN: "demo",
  };
  daemon = await startDaemon({ args: ["-demo"], env });
});

afterAll(async () => {
  await daemon.stop();
  removeTemporaryFolders();
});

/** `buf curl` in the root of the repository, as docs/api.md has it. */
async function bufCurl(
  args: readonly string[],
  method: string,
): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
  // A cache of its own: nothing that another run fetched helps this one.
  const env = { ...cleanEnvironment, BUF_CACHE_DIR: temporaryFolder() };
  const child = spawn(BUF, ["curl", ...args, `${daemon.url}/${method}`], {
    cwd: root,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let [stdout, stderr] = ["", ""];
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, stdout, stderr };
}

describe.runIf(existsSync(BUF)).each([
  ["Connect", []],
  ["gRPC", ["--protocol", "grpc", "--http2-prior-knowledge"]],
  ["gRPC-Web", ["--protocol", "grpcweb"]],
])("buf curl over %s", (_protocol, protocol) => {
  it.each([
    ["the schema of the repository", ["--schema", "proto"]],
    ["the daemon's own reflection", []],
  ])("calls a method with %s", async (_schema, schema) => {
    // Reflection is a stream in both directions: over HTTP/1.1 no protocol has it.
    const version = schema.length === 0 && protocol.length === 0 ? ["--http2-prior-knowledge"] : [];
    const { code, stdout, stderr } = await bufCurl(
      [...schema, ...protocol, ...version],
      "steward.dedup.v1.SystemService/GetHealth",
    );
    expect([code, stderr]).toEqual([0, ""]);
    expect(JSON.parse(stdout)).toMatchObject({ data: { status: "ok", demo: true } });
  });

  it("reads a stream to its end, and the code of an error", async () => {
    const { stdout } = await bufCurl(
      ["--schema", "proto", ...protocol, "-d", '{"limit": 1}'],
      "steward.dedup.v1.JobService/ListJobs",
    );
    const [job] = (JSON.parse(stdout) as { readonly data: readonly { readonly id: string }[] })
      .data;
    const watched = await bufCurl(
      ["--schema", "proto", ...protocol, "-d", JSON.stringify({ jobId: job?.id })],
      "steward.dedup.v1.JobService/WatchJob",
    );
    expect([watched.code, watched.stdout]).toEqual([0, expect.stringContaining('"complete"')]);
    const missing = await bufCurl(
      ["--schema", "proto", ...protocol, "-d", '{"jobId": "x"}'],
      "steward.dedup.v1.JobService/GetJob",
    );
    expect([missing.code === 0, missing.stderr]).toEqual([
      false,
      expect.stringContaining("not_found"),
    ]);
  });

  it("sends the Vault token as a header", async () => {
    const call = (headers: readonly string[]): ReturnType<typeof bufCurl> =>
      bufCurl(
        ["--schema", "proto", ...protocol, ...headers, "-d", '{"mount": "github"}'],
        "steward.tokens.v1.EngineService/ReadConfig",
      );
    expect(JSON.parse((await call(["-H", "X-Vault-Token: demo"])).stdout)).toMatchObject({
      prvKey: "<configured>",
    });
    expect((await call([])).stderr).toContain("permission_denied");
  });
});
