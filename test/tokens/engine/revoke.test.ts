import { describe, expect, it } from "vitest";
import type { Fault } from "../../../src/demo/code-host/faults.ts";
import type { Data, LogicalResponse } from "../../../src/tokens/logical/types.ts";
import { type EngineRoom, refusalOf, startEngineRoom } from "../support/engine.ts";
import { logical } from "../support/host.ts";

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
    await using room = await startEngineRoom();
    const minted = await mint(room);
    for (let times = 0; times < 3; times++) expect(await revoke(room, minted)).toBeUndefined();
    room.codeHost.faults.next("revoke", { kind: "status", status: 404 });
    expect(await revoke(room, minted)).toBeUndefined();
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
