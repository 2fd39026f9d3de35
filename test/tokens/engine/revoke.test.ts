import { describe, expect, it } from "vitest";
import type { Fault } from "../../../src/demo/code-host/faults.ts";
import type { Data, LogicalResponse } from "../../../src/tokens/logical/types.ts";
import { type EngineRoom, refusalOf, startEngineRoom } from "../support/engine.ts";
import { logical } from "../support/host.ts";
import { startLaggingRoom } from "./lagging-room.ts";
import { createSkippingClock } from "./skipping-clock.ts";

function revoke(
  room: EngineRoom,
  minted: LogicalResponse | undefined,
  internalData: Data | undefined = minted?.secret?.internalData,
  signal = new AbortController().signal,
): Promise<unknown> {
  return room.backend.handle(
    logical("revoke", "token", minted?.data ?? {}, {
      signal,
      secret: { internalData: internalData ?? {}, leaseId: "github/token/x" },
    }),
  );
}

const mint = (room: EngineRoom): Promise<LogicalResponse | undefined> =>
  room.ask("create", "token", { installation_id: 1001 });

describe("revoking a token", () => {
  it("asks the platform with the token itself", async () => {
    await using room = await startEngineRoom();
    expect(await revoke(room, await mint(room))).toBeUndefined();
    expect(room.codeHost.counts()).toMatchObject({ minted: 1, live: 0, revoked: 1 });
    expect(room.codeHost.lastRequest("revoke")).toMatchObject({
      method: "DELETE",
      path: "/installation/token",
      claims: undefined,
      headers: { authorization: expect.stringMatching(/^Bearer/) as string },
    });
  });

  it("may be repeated: a token that is over is over", async () => {
    const clock = createSkippingClock();
    await using room = await startEngineRoom({ clock });
    const minted = await mint(room);
    clock.skip(10_000);
    for (let times = 0; times < 3; times++) expect(await revoke(room, minted)).toBeUndefined();
    room.codeHost.faults.next("revoke", { kind: "status", status: 404 });
    expect(await revoke(room, minted)).toBeUndefined();
    expect([clock.waitsMs, room.codeHost.requests().revoke]).toEqual([[], 4]);
  });

  it.each([200, 202, 299])("succeeds when the platform answers %i", async (status) => {
    await using room = await startEngineRoom();
    const minted = await mint(room);
    room.codeHost.faults.next("revoke", { kind: "status", status, effect: true });
    expect(await revoke(room, minted)).toBeUndefined();
    const { raw } = (await room.ask("read", "metrics")) ?? {};
    expect(String(raw?.body)).toContain(
      'vault_github_token_revocation_request_duration_seconds_count{success="true"} 1\n',
    );
  });

  it("works after the configuration was deleted, and goes where the token is from", async () => {
    await using room = await startEngineRoom();
    const minted = await mint(room);
    await room.ask("update", "config", {
      base_url: "https://elsewhere.example.org",
      prv_key: room.demo.privateKeyPem,
    });
    await room.ask("delete", "config");
    await revoke(room, minted);
    expect(room.codeHost.counts().live).toBe(0);
  });

  it("of a lease that does not say where it is from goes to the present address", async () => {
    await using room = await startEngineRoom({ config: {} });
    await room.ask("update", "config", { base_url: `${room.codeHost.url}/api/v3` });
    await revoke(room, await mint(room), { secret_type: "github_token" });
    expect(room.codeHost.lastRequest("revoke")?.path).toBe("/api/v3/installation/token");
  });

  it.each<readonly [Fault, string, RegExp]>([
    [
      { kind: "status", status: 500 },
      "upstream",
      /^unable to revoke access token: 500 Internal Server Error/,
    ],
    [
      { kind: "status", status: 403, message: "no" },
      "invalid",
      /^unable to revoke access token: 403 Forbidden: no/,
    ],
    [
      { kind: "status", status: 429, headers: { "retry-after": "9" } },
      "exhausted",
      /^unable to revoke/,
    ],
    [{ kind: "reset" }, "upstream", /connection to the platform failed/],
    [
      { kind: "redirect", location: "http://127.0.0.1:1/" },
      "upstream",
      /redirects are not followed/,
    ],
    [
      { kind: "html", status: 404 },
      "upstream",
      /^unable to revoke access token: .*404.*check that base_url is the address of the platform's API/,
    ],
  ])("fails when it may still be good: %j", async (fault, code, message) => {
    await using room = await startEngineRoom();
    const minted = await mint(room);
    room.codeHost.faults.next("revoke", fault);
    const refusal = await refusalOf(revoke(room, minted));
    expect(refusal.code).toBe(code);
    expect(refusal.message).toMatch(message);
    expect(refusal.message).not.toContain(String(minted?.data?.["token"]));
    expect(await revoke(room, minted)).toBeUndefined();
  });

  it("ends with the host's signal", async () => {
    await using room = await startEngineRoom();
    const minted = await mint(room);
    room.codeHost.faults.next("revoke", { kind: "hang" });
    const leaving = new AbortController();
    const revoking = refusalOf(revoke(room, minted, undefined, leaving.signal));
    setImmediate(() => leaving.abort(new Error("enough")));
    expect((await revoking).message).toBe("enough");
  });

  it("needs a token and a kind", async () => {
    await using room = await startEngineRoom();
    expect(
      await refusalOf(revoke(room, { data: {} }, { secret_type: "github_token" })),
    ).toMatchObject({
      code: "invalid",
      message: "unable to revoke access token: the lease does not hold it",
    });
    expect(
      await refusalOf(revoke(room, { data: { token: "x" } }, { secret_type: "other" })),
    ).toMatchObject({ rule: "secret_type" });
    expect(room.codeHost.lastRequest("revoke")).toBeUndefined();
  });
});

describe("revoking a token that the platform's servers do not all know yet", () => {
  it("ends it, although the first answers are 401", async () => {
    await using room = await startLaggingRoom();
    const minted = await mint(room);
    expect(await revoke(room, minted)).toBeUndefined();
    expect(room.codeHost.counts()).toMatchObject({ live: 0, revoked: 1 });
    expect(room.clock.waitsMs).toHaveLength(3);
    expect(room.codeHost.requests().revoke).toBe(4);
  });

  it("waits for the rest of its first five seconds alone", async () => {
    await using room = await startLaggingRoom();
    const minted = await mint(room);
    room.clock.skip(3_500);
    expect(await revoke(room, minted)).toBeUndefined();
    expect(room.codeHost.counts().live).toBe(0);
    expect(room.clock.waitsMs).toEqual([1_000]);
  });

  it("ends it when the clock was set back meanwhile, within five seconds", async () => {
    await using room = await startLaggingRoom();
    const minted = await mint(room);
    room.codeHost.faults.next("revoke", { kind: "status", status: 401 }, 9);
    room.clock.setWall(-3_600_000);
    expect(await revoke(room, minted)).toBeUndefined();
    const waitedMs = room.clock.waitsMs.reduce((sum, waitMs) => sum + waitMs, 0);
    expect(waitedMs).toBeGreaterThan(4_000);
    expect(waitedMs).toBeLessThanOrEqual(5_000);
  });

  it.each([undefined, "soon", null])(
    "takes 401 for the end where the lease does not say when it was minted: %j",
    async (mintedAt) => {
      await using room = await startLaggingRoom();
      const minted = await mint(room);
      const internalData = { ...minted?.secret?.internalData, minted_at_ms: mintedAt };
      expect(await revoke(room, minted, internalData)).toBeUndefined();
      expect(room.clock.waitsMs).toEqual([]);
    },
  );

  it("ends with the host's signal while it waits", async () => {
    const leaving = new AbortController();
    const leave = (): void => queueMicrotask(() => leaving.abort(new Error("enough")));
    await using room = await startLaggingRoom(createSkippingClock(leave));
    const refusal = await refusalOf(revoke(room, await mint(room), undefined, leaving.signal));
    expect(refusal.message).toBe("enough");
    expect(room.codeHost.requests().revoke).toBe(1);
  });
});
