import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { folderConfig, smallArchive, writeFiles } from "./corpus.ts";
import { type Daemon, removeTemporaryFolders, startDaemon, temporaryFolder } from "./daemon.ts";

const python = join(import.meta.dirname, "../../.cache/python/bin/python");
const there = existsSync(python);
if (!there)
  process.stderr.write(
    "skipped: the Python gRPC client (no .cache/python; `.ci/run` makes it where Python is)\n",
  );

describe.skipIf(!there)("a Python client that knows nothing but the address", () => {
  let daemon: Daemon;
  beforeAll(async () => {
    const folder = temporaryFolder();
    writeFiles(folder, smallArchive);
    daemon = await startDaemon({ config: folderConfig(temporaryFolder(), folder) });
  });
  afterAll(async () => {
    await daemon.stop();
    removeTemporaryFolders();
  });

  it("finds health, the services by reflection and calls one", async () => {
    const { stdout } = await promisify(execFile)(python, [
      join(import.meta.dirname, "python/client.py"),
      daemon.host,
    ]);
    expect(stdout).toMatch(/^health SERVING$/m);
    expect(stdout).toMatch(/^services .*steward\.dedup\.v1\.DuplicateService/m);
    expect(stdout).toMatch(/^groups 0$/m);
    expect(stdout).toMatch(/^refused INVALID_ARGUMENT .*limit/m);
  });
});
