import { createPublicKey, generateKeyPairSync, verify } from "node:crypto";
import { describe, expect, it } from "vitest";
import { createAppJwt } from "../../../src/tokens/engine/app-jwt.ts";
import { startEngineRoom } from "../support/engine.ts";
import { createSteppedClock } from "../support/host.ts";

const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });

function claimsOf(authorization: string): {
  readonly iss: unknown;
  readonly iat: number;
  readonly exp: number;
} {
  return JSON.parse(Buffer.from(authorization.split(".")[1] ?? "", "base64url").toString()) as {
    iss: unknown;
    iat: number;
    exp: number;
  };
}

describe("the app's JWT", () => {
  it("is signed with RS256, dated a minute back, good for nine minutes", () => {
    const clock = createSteppedClock();
    const value = createAppJwt(7, privateKey, clock).authorization();
    const [head = "", body = "", mark = ""] = value.replace("Bearer ", "").split(".");
    expect(JSON.parse(Buffer.from(head, "base64url").toString())).toEqual({
      alg: "RS256",
      typ: "JWT",
    });
    expect(
      verify(
        "RSA-SHA256",
        Buffer.from(`${head}.${body}`),
        createPublicKey(privateKey),
        Buffer.from(mark, "base64url"),
      ),
    ).toBe(true);
    const { iss, iat, exp } = claimsOf(value);
    expect([iss, exp - iat]).toEqual(["7", 600]);
    expect(Math.abs(iat - (clock.now() / 1_000 - 60))).toBeLessThan(2);
  });

  it("is signed once and used until a minute before its end", () => {
    const clock = createSteppedClock();
    const jwt = createAppJwt(7, privateKey, clock);
    const first = jwt.authorization();
    clock.wallAheadMs += 478_000;
    expect(jwt.authorization()).toBe(first);
    clock.wallAheadMs += 4_000;
    expect(jwt.authorization()).not.toBe(first);
  });

  it("is signed anew when the wall clock is set back", () => {
    const clock = createSteppedClock();
    const jwt = createAppJwt(7, privateKey, clock);
    const first = claimsOf(jwt.authorization());
    clock.wallAheadMs -= 3_600_000;
    expect(claimsOf(jwt.authorization()).iat).toBeLessThan(first.iat - 3_500);
  });

  it("is dated by the platform's clock once that is known to differ", () => {
    const clock = createSteppedClock();
    const jwt = createAppJwt(7, privateKey, clock);
    const before = claimsOf(jwt.authorization());
    jwt.answered(new Date(clock.now() + 300_000).toUTCString(), clock.monotonic());
    expect(claimsOf(jwt.authorization()).iat - before.iat).toBeGreaterThan(298);
    expect(jwt.platformNowMs() - clock.now()).toBeGreaterThan(298_000);
  });

  it("takes seconds of a difference for the resolution of the header", () => {
    const clock = createSteppedClock();
    const jwt = createAppJwt(7, privateKey, clock);
    const first = jwt.authorization();
    jwt.answered(new Date(clock.now() + 3_000).toUTCString(), clock.monotonic());
    expect(jwt.authorization()).toBe(first);
    expect(Math.abs(jwt.platformNowMs() - clock.now())).toBeLessThan(1_000);
  });

  it("is not signed again and again for a refusal that signing cannot mend", () => {
    const clock = createSteppedClock();
    const jwt = createAppJwt(7, privateKey, clock);
    const sent = jwt.authorization();
    const sentAtMs = clock.monotonic();
    const date = new Date(clock.now()).toUTCString();
    expect(jwt.clockRefused(sent, { date, sentAtMs })).toBe(false);
    expect(jwt.clockRefused(sent, { date: undefined, sentAtMs })).toBe(false);
    expect([jwt.issuerRefused(sent), jwt.issuerRefused(sent)]).toEqual([true, false]);
    expect(claimsOf(jwt.authorization()).iss).toBe(7);
  });
});

describe("minting on a machine whose clock is wrong", () => {
  it.each([-3_600_000, -200_000, 700_000, 3_600_000])(
    "by %d ms works with one more try",
    async (skewMs) => {
      await using room = await startEngineRoom({ codeHost: { skewMs } });
      const response = await room.ask("create", "token", { installation_id: 1001 });
      expect(response?.data).toHaveProperty("token");
      expect(room.codeHost.requests().mint).toBe(
        skewMs === -200_000 || Math.abs(skewMs) > 500_000 ? 2 : 1,
      );
      // What is left of the hour, by the platform's clock.
      expect(Math.abs((response?.secret?.ttlMs ?? 0) - 3_600_000)).toBeLessThan(3_000);
      await room.mint();
      expect(room.codeHost.requests().mint).toBe(3);
    },
  );

  it.each([-3_600_000, 3_600_000])(
    "by %d ms works for all of those that mint at once, each with one more try",
    async (skewMs) => {
      await using room = await startEngineRoom({ codeHost: { skewMs } });
      await Promise.all(Array.from({ length: 8 }, () => room.mint()));
      expect([room.codeHost.counts().minted, room.codeHost.requests().mint]).toEqual([8, 16]);
    },
  );

  it("follows a platform whose clock is set while it runs", async () => {
    await using room = await startEngineRoom();
    await room.mint();
    room.codeHost.skewMs = 1_800_000;
    await room.mint();
    room.codeHost.skewMs = -1_800_000;
    await room.mint();
    expect(room.codeHost.counts().minted).toBe(3);
  });

  it("is told of the clock when no Date helps", async () => {
    await using room = await startEngineRoom();
    room.codeHost.faults.next(
      "mint",
      {
        kind: "status",
        status: 401,
        message: "'Expiration time' claim ('exp') is too far in the future",
      },
      5,
    );
    expect(await room.refusal("create", "token", { installation_id: 1001 })).toMatchObject({
      code: "upstream",
      rule: "clock",
    });
    expect(room.codeHost.requests().mint).toBe(1);
  });
});

describe("a platform that wants numbers as issuers", () => {
  it("gets one from the second try on", async () => {
    await using room = await startEngineRoom({ codeHost: { integerIssuer: true } });
    await room.mint({ org_name: "example-org" });
    await room.mint();
    expect(room.codeHost.requests()).toMatchObject({ org_installation: 2, mint: 2 });
    expect(room.codeHost.lastRequest("mint")?.claims).toMatchObject({ iss: 1 });
  });

  it("gets one for all of those that mint at once", async () => {
    await using room = await startEngineRoom({ codeHost: { integerIssuer: true } });
    await Promise.all(Array.from({ length: 8 }, () => room.mint()));
    expect([room.codeHost.counts().minted, room.codeHost.requests().mint]).toEqual([8, 16]);
  });
});
