import { describe, expect, it } from "vitest";
import type { Fault } from "../../../src/demo/code-host/faults.ts";
import type { Data, LogicalRequest } from "../../../src/tokens/logical/types.ts";
import { type EngineRoom, startEngineRoom } from "../support/engine.ts";
import { startLaggingRoom } from "./lagging-room.ts";

/** What the host is told, in order. */
function watched(): { readonly told: (string | Data)[]; readonly more: Partial<LogicalRequest> } {
  const told: (string | Data)[] = [];
  return {
    told,
    more: {
      effect: { begin: (about) => void told.push(about), none: () => void told.push("none") },
    },
  };
}

async function told(
  room: EngineRoom,
  data: Data = { installation_id: 1001 },
): Promise<readonly (string | Data)[]> {
  const seen = watched();
  await room.ask("create", "token", data, seen.more).catch(() => undefined);
  return seen.told;
}

const ABOUT = { installation_id: 1001, permissions: {}, repositories: [], repository_ids: [] };

describe("the host", () => {
  it("is told right before the platform may make something, with what was asked and no secret", async () => {
    await using room = await startEngineRoom();
    expect(
      await told(room, {
        org_name: "example-org",
        permissions: "contents=read",
        repositories: "web",
      }),
    ).toEqual([
      {
        installation_id: 1001,
        org_name: "example-org",
        permissions: { contents: "read" },
        repositories: ["web"],
        repository_ids: [],
      },
    ]);
  });

  it("is told nothing when the platform was never asked to", async () => {
    await using room = await startEngineRoom();
    expect(await told(room, {})).toEqual([]);
    expect(await told(room, { org_name: "none" })).toEqual([]);
    room.codeHost.faults.next("org_installation", { kind: "status", status: 500 });
    expect(await told(room, { org_name: "other" })).toEqual([]);
  });

  it.each<Fault>(
    [400, 401, 403, 404, 409, 422, 429]
      .map((status): Fault => ({ kind: "status", status }))
      .concat([
        { kind: "redirect", location: "http://127.0.0.1:1/" },
        { kind: "no_expiry" },
        { kind: "truncate", bytes: 100 },
        { kind: "oversize", bytes: 33 * 1024 * 1024 },
      ]),
  )("is told that nothing was made, or nothing is left, after %j", async (fault) => {
    await using room = await startEngineRoom();
    room.codeHost.faults.next("mint", fault);
    expect(await told(room)).toEqual([ABOUT, "none"]);
    expect(room.codeHost.counts().live).toBe(0);
  });

  it("is told so when nobody could be reached", async () => {
    await using room = await startEngineRoom();
    await room.codeHost.stop();
    expect(await told(room)).toEqual([ABOUT, "none"]);
  });

  it.each<Fault>([
    { kind: "status", status: 500, effect: true },
    { kind: "status", status: 502 },
    { kind: "html", effect: true },
    { kind: "reset", effect: true },
    { kind: "garbage", effect: true },
    { kind: "truncate", bytes: 20 },
    { kind: "redirect", status: 303, location: "http://127.0.0.1:1/" },
    { kind: "oversize", bytes: 70 * 1024 * 1024 },
  ])("is left in doubt when something may have been made: %j", async (fault) => {
    await using room = await startEngineRoom();
    room.codeHost.faults.next("mint", fault);
    expect(await told(room)).toEqual([ABOUT]);
    expect(room.codeHost.requests().mint).toBe(1);
  });

  it("is left in doubt when a token that cannot be leased cannot be revoked", async () => {
    await using room = await startEngineRoom();
    room.codeHost.faults.next("mint", { kind: "no_expiry" });
    room.codeHost.faults.next("revoke", { kind: "reset" });
    expect(await told(room)).toEqual([ABOUT]);
  });

  it.each([200, 202, 299])(
    "is told that nothing is left when the platform answers %i to the revocation of such a token",
    async (status) => {
      await using room = await startEngineRoom();
      room.codeHost.faults.next("mint", { kind: "no_expiry" });
      room.codeHost.faults.next("revoke", { kind: "status", status, effect: true });
      expect(await told(room)).toEqual([ABOUT, "none"]);
    },
  );

  it("is told that nothing is left only once such a token is over where its platform lags", async () => {
    await using room = await startLaggingRoom();
    room.codeHost.faults.next("mint", { kind: "no_expiry" });
    expect(await told(room)).toEqual([ABOUT, "none"]);
    expect(room.codeHost.counts()).toMatchObject({ minted: 1, live: 0, revoked: 1 });
  });

  it("is left in doubt when a page with 404 answers the revocation of such a token", async () => {
    await using room = await startEngineRoom();
    room.codeHost.faults.next("mint", { kind: "no_expiry" });
    room.codeHost.faults.next("revoke", { kind: "html", status: 404 });
    expect(await told(room)).toEqual([ABOUT]);
  });

  it("gets the token although the caller left after its request did", async () => {
    await using room = await startEngineRoom({ codeHost: { latencyMs: 50 } });
    const leaving = new AbortController();
    const response = await room.ask(
      "create",
      "token",
      { installation_id: 1001 },
      {
        signal: leaving.signal,
        effect: {
          begin: () => setImmediate(() => leaving.abort(new Error("gone"))),
          none: () => undefined,
        },
      },
    );
    expect(response?.data).toHaveProperty("token");
    expect(leaving.signal.aborted).toBe(true);
  });

  it("asks the platform nothing for a caller who left before", async () => {
    await using room = await startEngineRoom();
    const seen = watched();
    expect(
      (
        await room.refusal(
          "create",
          "token",
          { installation_id: 1001 },
          { ...seen.more, signal: AbortSignal.abort(new Error("gone")) },
        )
      ).message,
    ).toBe("gone");
    expect([seen.told, room.codeHost.requests().mint]).toEqual([[], 0]);
  });

  it("is refused beyond 256 calls at once, with a time to come back", async () => {
    await using room = await startEngineRoom();
    let refusals = 0;
    const allAsked = Promise.withResolvers<void>();
    room.codeHost.faults.next("mint", { kind: "hold", until: allAsked.promise }, 64);
    const all = await Promise.all(
      Array.from({ length: 300 }, () =>
        room.ask("create", "token", { installation_id: 1001 }).then(
          () => "minted",
          (error: unknown) => {
            refusals += 1;
            if (refusals === 44) allAsked.resolve();
            return error as { readonly code: string; readonly retryAfterMs?: number };
          },
        ),
      ),
    );
    expect(all.filter((one) => one === "minted")).toHaveLength(256);
    expect(all.filter((one) => one !== "minted")).toEqual(
      Array.from(
        { length: 44 },
        () =>
          expect.objectContaining({
            code: "exhausted",
            rule: "in_flight",
            retryAfterMs: 1_000,
          }) as unknown,
      ),
    );
    await expect(room.mint()).resolves.toHaveProperty("token");
  });
});
