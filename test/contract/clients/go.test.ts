import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { startShamir } from "../shamir.ts";
import { useEstate } from "./estate.ts";

const run = promisify(execFile);
const cache = join(import.meta.dirname, "../../../.cache/go");
// Go's own installer puts it where PATH does not look.
const go = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/local/go/bin"]
  .map((folder) => join(folder, "go"))
  .find((file) => existsSync(file));
const why =
  go === undefined
    ? "no Go here"
    : existsSync(join(cache, "mod"))
      ? undefined
      : "its modules are not in .cache/go; `.ci/run` fetches them";
if (why !== undefined) process.stderr.write(`skipped: Vault's Go client (${why})\n`);
// Nothing is fetched here, and nothing of the developer's own settings counts.
const environment = {
  PATH: process.env["PATH"] ?? "",
  HOME: process.env["HOME"] ?? cache,
  GOENV: "off",
  GOPATH: cache,
  GOMODCACHE: join(cache, "mod"),
  GOPROXY: "off",
  GOTOOLCHAIN: "local",
  GOFLAGS: "-mod=readonly -trimpath",
  CGO_ENABLED: "0",
};
/** A compiler's first run on a busy machine. */
const BUILD_MS = 300_000;

describe.skipIf(why !== undefined)("github.com/hashicorp/vault/api, the Go client of Vault", () => {
  const program = join(cache, "bin/vault-life");
  beforeAll(async () => {
    await run(go ?? "", ["build", "-o", program, "."], {
      cwd: join(import.meta.dirname, "go"),
      env: environment,
    });
  }, BUILD_MS);
  const estate = useEstate();

  it("lives a whole life with the engine, its leases, policies, tokens, roles and wrapped answers, and keeps a token alive", async () => {
    const { stdout } = await run(program, [], { env: estate.clientEnvironment() });
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => line.replace("held: ", "")),
    ).toEqual([
      "state",
      "mounts",
      "config",
      "permission sets",
      "minting",
      "leases",
      "policies",
      "tokens",
      "watcher",
      "approle",
      "wrapping",
      "house",
      "goodbye",
    ]);
    expect(estate.host.liveTokens()).toEqual([]);
  });

  it("initialises a store with key shares, unseals it, makes new ones and another root token", async () => {
    const vault = await startShamir();
    onTestFinished(async () => void (await vault.daemon.stop()));
    const { stdout } = await run(program, ["shares"], {
      env: { PATH: process.env["PATH"] ?? "", VAULT_ADDR: vault.daemon.url },
    });
    expect(stdout.trim()).toBe("held: shares");
  });
});
