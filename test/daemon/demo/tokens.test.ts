import { describe, expect, it, onTestFinished } from "vitest";
import { startDemoTokens } from "../../../src/daemon/demo/tokens.ts";
import { systemIds } from "../../../src/kernel/base/ids.ts";
import type { Data } from "../../../src/tokens/logical/types.ts";
import type { CoreAnswer } from "../../../src/tokens/vault/core/types.ts";
import { quietLog, temporaryFolder } from "../../kernel/state/fixtures/tables.ts";
import { createSteppedClock } from "../../tokens/support/host.ts";
import { githubMount, openService } from "../../tokens/support/service.ts";

const DAY_MS = 86_400_000;

/** A state folder in which a demo with the root token `demo` can be started, again and again. */
function demoFolder() {
  const clock = createSteppedClock();
  const directory = temporaryFolder();
  const deps = { clock, ids: systemIds, log: quietLog };
  return {
    clock,
    async start() {
      const tokens = await openService(directory, { mounts: [githubMount], audit: [] }, { clock });
      const demo = await startDemoTokens(deps, tokens, "demo");
      const stop = async (): Promise<void> => {
        await demo.stop();
        await tokens.close(1_000);
      };
      onTestFinished(stop);
      const ask = (verb: "read" | "write", path: string, data: Data = {}): Promise<CoreAnswer> =>
        tokens.gate.handle({
          verb,
          path,
          data,
          token: demo.root,
          remote: undefined,
          wrapTtlMs: undefined,
          signal: new AbortController().signal,
        });
      return { ask, stop, organisation: demo.organisation };
    },
  };
}

describe("the demo's tokens", () => {
  it("start again with the same root token after it has expired by the wall clock", async () => {
    const folder = demoFolder();
    const first = await folder.start();
    await first.stop();
    folder.clock.wallAheadMs += 40 * DAY_MS;
    const second = await folder.start();
    const { response } = await second.ask("read", "auth/token/lookup-self");
    expect(response?.data).toMatchObject({ display_name: "demo-root" });
    expect(response?.data?.["ttl"]).toBeGreaterThan(29 * 86_400);
  });

  it("refuse empty lists: the mount has strict scopes", async () => {
    const { ask, organisation } = await demoFolder().start();
    expect((await ask("read", "github/config")).response?.data).toMatchObject({
      strict_scopes: true,
    });
    await expect(
      ask("write", "github/token", { org_name: organisation, permissions: {} }),
    ).rejects.toMatchObject({ code: "invalid", field: "permissions" });
  });
});
