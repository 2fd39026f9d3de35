import { execFile, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { startIssuer } from "../../support/oidc/issuer.ts";
import { useEstate } from "./estate.ts";

const root = join(import.meta.dirname, "../../..");
const python = join(root, ".cache/python/bin/python");
const there = existsSync(python) && spawnSync(python, ["-c", "import hvac"]).status === 0;
if (!there)
  process.stderr.write(
    "skipped: hvac (not in .cache/python; `.ci/run` puts it there where Python is)\n",
  );

describe.skipIf(!there)("hvac, the Python client of Vault", () => {
  const estate = useEstate();

  it("lives a whole life with the engine, its leases, policies, tokens, roles and wrapped answers", async () => {
    await using issuer = await startIssuer();
    const { stdout } = await promisify(execFile)(
      python,
      [join(import.meta.dirname, "python/hvac_life.py")],
      {
        env: {
          PATH: process.env["PATH"],
          ...estate.clientEnvironment(),
          OIDC_ISSUER: issuer.url,
          IDENTITY_TOKEN: await issuer.token(),
          OTHER_IDENTITY_TOKEN: await issuer.token({ repository_id: "12" }),
        },
      },
    );
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => line.replace("held: ", "")),
    ).toEqual([
      "state",
      "mounts",
      "config",
      "permission_sets",
      "minting",
      "leases",
      "policies",
      "tokens",
      "token_roles",
      "approle",
      "identity_tokens",
      "wrapping",
      "errors",
      "goodbye",
    ]);
    expect(estate.host.liveTokens()).toEqual([]);
  });
});
