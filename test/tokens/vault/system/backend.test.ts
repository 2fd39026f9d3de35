import { describe, expect, it } from "vitest";
import { createSystemBackend } from "../../../../src/tokens/vault/system/backend.ts";
import type { SystemDeps } from "../../../../src/tokens/vault/system/deps.ts";
import { statusPaths } from "../../../../src/tokens/vault/system/status.ts";

// The tables are made without asking what is behind them.
const nothing = {} as unknown as SystemDeps;

describe("the paths below sys/", () => {
  it("leave out what they do not know, as clients of the original expect", () => {
    expect(
      [...createSystemBackend(nothing).paths, ...statusPaths(nothing)]
        .filter(({ unknown }) => unknown === "refuse")
        .map(({ pattern }) => pattern),
    ).toEqual([]);
  });
});
