import { createHmac } from "node:crypto";
import { describe, expect, it } from "vitest";
import { keys, startHost } from "./support.ts";

const DECODED = "A JSON web token could not be decoded";
const EXPIRES =
  "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
const TOO_FAR = "'Expiration time' claim ('exp') is too far in the future";
const ISSUED =
  "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";

describe("the JWT of an app", () => {
  it("is taken with the app's id as a number, as digits, or with its client id", async () => {
    const { call, jwt } = await startHost();
    for (const iss of [1, "1", "Iv23liFirst"])
      expect((await call("GET", "/app", { as: jwt({ iss }) })).json).toMatchObject({
        id: 1,
        slug: "first",
        installations_count: 1,
      });
  });

  it("is refused with upstream's words for each thing that can be wrong with it", async () => {
    const { call, jwt, clock } = await startHost();
    const nowS = Math.floor(clock.now() / 1000);
    const rows: [claims: Record<string, unknown>, message: string][] = [
      [{ exp: nowS + 601 }, TOO_FAR],
      [{ exp: nowS }, EXPIRES],
      [{ exp: nowS - 1 }, EXPIRES],
      [{ exp: "soon" }, EXPIRES],
      [{ exp: undefined }, "Missing 'expiration time' claim ('exp') in assertion"],
      [{ iat: undefined }, "Missing 'issued at' claim ('iat') in assertion"],
      [{ iat: nowS + 1 }, ISSUED],
      [{ iat: nowS - 0.5 }, ISSUED],
      [{ iat: "now" }, ISSUED],
      [{ iss: 99 }, "Integration not found"],
      [{ iss: "99" }, "Integration not found"],
      [{ iss: "Iv23liNobody" }, "Integration not found"],
      [{ iss: undefined }, "Missing 'issuer' claim ('iss') in assertion"],
      [{ iss: "me" }, "'Issuer' claim ('iss') must be an Integer"],
      [{ iss: 1.5 }, "'Issuer' claim ('iss') must be an Integer"],
    ];
    for (const [claims, message] of rows) {
      const { status, json } = await call("GET", "/app", { as: jwt(claims) });
      expect({ claims, status, json }).toEqual({
        claims,
        status: 401,
        json: { message, documentation_url: expect.stringContaining("https://"), status: "401" },
      });
    }
    for (const iat of [nowS, nowS - 5000])
      expect((await call("GET", "/app", { as: jwt({ iat, exp: nowS + 600 }) })).status).toBe(200);
  });

  it("counts only when the app's own key signed it with RS256", async () => {
    const { call, jwt } = await startHost();
    const good = jwt();
    const [head = "", body = ""] = good.split(".");
    const pem = keys[0].publicKey.export({ type: "spki", format: "pem" }).toString();
    const hs = `${Buffer.from('{"alg":"HS256","typ":"JWT"}').toString("base64url")}.${body}`;
    const forged = [
      jwt({}, { key: 1 }),
      jwt({ iss: 2 }),
      `${head}.${body}.AAAA`,
      `${head}.${body}`,
      "nonsense",
      `${head}.!!.x`,
      jwt({}, { header: { alg: "none" } }),
      jwt({}, { header: { alg: "RS512" } }),
      `${hs}.${createHmac("sha256", pem).update(hs).digest("base64url")}`,
      `${head}.${Buffer.from("[1]").toString("base64url")}.AAAA`,
      "ghs_0123456789",
    ];
    for (const as of forged) expect((await call("GET", "/app", { as })).json.message).toBe(DECODED);
    for (const authorization of ["", `token ${good}`, `Basic ${good}`])
      expect((await call("GET", "/app", { headers: { authorization } })).json.message).toBe(
        DECODED,
      );
    expect((await call("GET", "/app", { as: good })).status).toBe(200);
  });

  it("is checked against the time again when it comes again", async () => {
    const { call, jwt, clock } = await startHost();
    const as = jwt();
    expect((await call("GET", "/app", { as })).status).toBe(200);
    clock.advance(540_000);
    expect((await call("GET", "/app", { as })).json.message).toBe(EXPIRES);
  });

  it("is not believed any longer when the app's key was replaced", async () => {
    const { call, jwt, host } = await startHost();
    const as = jwt();
    expect((await call("GET", "/app", { as })).status).toBe(200);
    host.estate.replaceKeys(1, [keys[1].publicKey]);
    expect((await call("GET", "/app", { as })).json.message).toBe(DECODED);
    expect((await call("GET", "/app", { as: jwt({}, { key: 1 }) })).status).toBe(200);
  });

  it("is judged by the host's clock, which its Date header shows", async () => {
    const { call, jwt, host, clock } = await startHost({ skewMs: -300_000 });
    const early = await call("GET", "/app", { as: jwt() });
    expect(early.json.message).toBe(TOO_FAR);
    expect(Date.parse(early.headers.date ?? "")).toBe(
      Math.floor((clock.now() - 300_000) / 1000) * 1000,
    );
    const nowS = Math.floor(clock.now() / 1000);
    expect((await call("GET", "/app", { as: jwt({ exp: nowS + 100 }) })).json.message).toBe(ISSUED);
    host.skewMs = 600_000;
    expect((await call("GET", "/app", { as: jwt() })).json.message).toBe(EXPIRES);
    expect(
      (await call("GET", "/app", { as: jwt({ iat: nowS + 500, exp: nowS + 1100 }) })).status,
    ).toBe(200);
  });

  it("may be asked to name the app by a number only", async () => {
    const { call, jwt } = await startHost({ integerIssuer: true });
    expect((await call("GET", "/app", { as: jwt({ iss: "1" }) })).json.message).toBe(
      "'Issuer' claim ('iss') must be an Integer",
    );
    expect((await call("GET", "/app", { as: jwt() })).status).toBe(200);
  });
});
