import { describe, expect, it } from "vitest";
import type { Check } from "../../../src/tokens/engine/doctor.ts";
import type { Data } from "../../../src/tokens/logical/types.ts";
import { type EngineRoom, startEngineRoom } from "../support/engine.ts";

async function examined(
  room: EngineRoom,
  data: Data = {},
): Promise<{ readonly ok: boolean; readonly checks: Readonly<Record<string, Check>> }> {
  const answer = (await room.ask("read", "doctor", data))?.data as {
    ok: boolean;
    checks: readonly Check[];
  };
  expect(room.codeHost.counts().minted).toBe(0);
  return {
    ok: answer.ok,
    checks: Object.fromEntries(answer.checks.map((check) => [check.name, check])),
  };
}

describe("the doctor", () => {
  it("finds a good configuration good", async () => {
    await using room = await startEngineRoom();
    const { ok, checks } = await examined(room, { org_name: "EXAMPLE-org" });
    expect([ok, Object.keys(checks)]).toEqual([
      true,
      ["config", "key", "app", "clock", "installation", "suspended", "permissions"],
    ]);
    expect(Object.values(checks).map(({ remedy }) => remedy)).toEqual(["", "", "", "", "", "", ""]);
    expect(checks["key"]?.detail).toBe("RSA, 2048 bits, signs");
    expect(checks["app"]?.detail).toContain("steward-demo");
    expect(checks["installation"]?.detail).toBe("1001 in example-org");
    expect((await examined(room, { installation_id: "1001" })).ok).toBe(true);
    expect(Object.keys((await examined(room)).checks)).toEqual(["config", "key", "app", "clock"]);
  });

  it("stops where nothing is configured", async () => {
    await using room = await startEngineRoom({ config: false });
    const { ok, checks } = await examined(room);
    expect([ok, checks]).toEqual([
      false,
      {
        config: {
          name: "config",
          ok: false,
          detail: "not configured: write app_id and prv_key to github/config first",
          remedy: "write app_id and prv_key to github/config",
        },
      },
    ]);
  });

  it("names a wrong app, a wrong key and an unreachable platform", async () => {
    await using room = await startEngineRoom({ config: { app_id: 99 } });
    expect((await examined(room)).checks["app"]).toMatchObject({
      ok: false,
      detail: expect.stringContaining("Integration not found") as string,
      remedy: "check app_id, prv_key, base_url and the network",
    });
    await room.codeHost.stop();
    expect((await examined(room)).checks["app"]).toMatchObject({
      ok: false,
      detail: expect.stringContaining("connection to the platform failed") as string,
    });
  });

  it("sees a clock that is wrong", async () => {
    await using room = await startEngineRoom({ codeHost: { skewMs: -120_000 } });
    const { ok, checks } = await examined(room);
    expect([ok, checks["clock"]?.ok, checks["app"]?.ok]).toEqual([false, false, true]);
    expect(checks["clock"]?.detail).toMatch(/^1[12]\d s ahead of the platform's$/);
  });

  it("sees what is not installed, suspended or not accepted", async () => {
    await using room = await startEngineRoom();
    expect((await examined(room, { org_name: "nope" })).checks["installation"]).toMatchObject({
      ok: false,
      remedy: "install the app there, or read installations for those it has",
    });
    expect((await examined(room, { installation_id: 5 })).checks["installation"]).toMatchObject({
      ok: false,
    });
    room.codeHost.estate.change(1001, { suspendedAt: "2026-01-01T00:00:00Z" });
    room.codeHost.estate.install(1, {
      id: 1002,
      account: { login: "other", type: "Organization" },
      permissions: { contents: "read" },
      repositories: [],
    });
    const { checks } = await examined(room, { installation_id: 1001 });
    expect(checks["suspended"]).toEqual({
      name: "suspended",
      ok: false,
      detail: "the installation is suspended",
      remedy: "an owner of example-org can unsuspend it in the installation's settings",
    });
    expect((await examined(room, { org_name: "other" })).checks["permissions"]).toMatchObject({
      ok: false,
      detail: expect.stringContaining("contents=write") as string,
    });
  });

  it("refuses parameters that it does not know", async () => {
    await using room = await startEngineRoom();
    expect(await room.refusal("read", "doctor", { org: "x" })).toMatchObject({ code: "invalid" });
  });
});
