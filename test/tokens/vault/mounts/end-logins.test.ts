import { expect, it } from "vitest";
import { endLogins } from "../../../../src/tokens/vault/mounts/end-logins.ts";
import { createTokenBench, specOf } from "../fixtures/tokens.ts";

it("ends the tokens of one auth mount with what came of them, and no others", async () => {
  const { env, tokens } = await createTokenBench();
  const logins = await Promise.all(Array.from({ length: 70 }, () => tokens.create(specOf({ path: "auth/approle/login" }))));
  const child = await tokens.create(specOf({ parent: logins[0]?.entry.key }));
  const others = await Promise.all(["auth/approle-2/login", "auth/token/create", "auth/approle"].map((path) => tokens.create(specOf({ path }))));
  await endLogins({ env, tokens }, "auth/approle/");
  expect([...logins, child].filter(({ id }) => tokens.lookup(id) !== undefined)).toEqual([]);
  expect(others.map(({ id }) => tokens.lookup(id)?.path)).toEqual(["auth/approle-2/login", "auth/token/create", "auth/approle"]);
});
