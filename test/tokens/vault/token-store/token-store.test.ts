import { readFileSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";
import { describe, expect, it } from "vitest";
import { Secret } from "../../../../src/kernel/base/secret.ts";
import { tokenChildren, tokenRows } from "../../../../src/tokens/vault/token-store/tables.ts";
import type { CreatedToken } from "../../../../src/tokens/vault/types.ts";
import { createTokenBench, HOUR_MS, specOf, type TokenBench } from "../fixtures/tokens.ts";

const text = (made: CreatedToken): string => made.id.use((value) => value);
const secret = (value: string): Secret => Secret.of(value, "test");
const rows = ({ env }: TokenBench): number => env.read((snapshot) => snapshot.count(tokenRows));

/** A token, its children, theirs, and so on: `width` at each of `depth` levels. */
async function family(
  bench: TokenBench,
  width: number,
  depth: number,
  parent?: string,
): Promise<CreatedToken[]> {
  const made = await Promise.all(
    Array.from({ length: width }, () => bench.tokens.create(specOf({ parent }))),
  );
  if (depth <= 1) return made;
  const below = await Promise.all(
    made.map((token) => family(bench, width, depth - 1, token.entry.key)),
  );
  return [...made, ...below.flat()];
}

describe("a service token", () => {
  it("is found by its id, its accessor and its key, and by nothing else", async () => {
    const { tokens } = await createTokenBench();
    const made = await tokens.create(
      specOf({ meta: { who: "me" }, role: "r", boundCidrs: ["10.0.0.0/8"] }),
    );
    expect(text(made)).toMatch(/^hvs\.[0-9A-Za-z]{24}$/);
    expect(made.entry.accessor).toMatch(/^[0-9A-Za-z]{24}$/);
    expect(made.entry).toMatchObject({
      type: "service",
      meta: { who: "me" },
      role: "r",
      boundCidrs: ["10.0.0.0/8"],
      numUses: 0,
      parent: undefined,
      creationTtlMs: HOUR_MS,
    });
    expect(tokens.lookup(made.id)).toEqual(made.entry);
    expect(tokens.byAccessor(made.entry.accessor)).toEqual(made.entry);
    expect(tokens.byKey(made.entry.key)).toEqual(made.entry);
    for (const wrong of [
      "",
      "hvs.",
      text(made).slice(0, -1),
      `${text(made)} `,
      made.entry.key,
      made.entry.accessor,
    ])
      expect(tokens.lookup(secret(wrong))).toBeUndefined();
    expect(tokens.byAccessor("")).toBeUndefined();
    expect(tokens.byAccessor("x")).toBeUndefined();
  });

  it("survives a restart, and its id is nowhere on disk", async () => {
    const bench = await createTokenBench({ run: false });
    const made = await bench.tokens.create(specOf({ displayName: "canary-name" }));
    await bench.env.close();
    const file = readFileSync(join(bench.directory, "test.mdb"));
    for (const canary of [text(made), text(made).slice(4), made.entry.accessor, "canary-name"])
      expect(file.includes(canary)).toBe(false);
    const { tokens } = await createTokenBench({ directory: bench.directory, clock: bench.clock });
    expect(tokens.lookup(made.id)).toEqual(made.entry);
  });

  it("may have a given id of any form, once", async () => {
    const { tokens } = await createTokenBench();
    const made = await tokens.create(specOf({ id: secret("root") }));
    expect(tokens.lookup(secret("root"))).toEqual(made.entry);
    await expect(tokens.create(specOf({ id: secret("root") }))).rejects.toThrow(
      "cannot create a token with a duplicate ID",
    );
    await expect(tokens.create(specOf({ id: secret("") }))).rejects.toThrow("1 to 4096");
    await expect(tokens.create(specOf({ id: secret("x".repeat(5_000)) }))).rejects.toThrow(
      "1 to 4096",
    );
  });

  it("ends at its time, and its row with the timer", async () => {
    const bench = await createTokenBench();
    const made = await bench.tokens.create(specOf());
    const forever = await bench.tokens.create(specOf({ ttlMs: 0 }));
    const states = () => [bench.tokens.lookup(made.id), bench.tokens.hasEnded(made.entry.key)];
    await bench.clock.advance(HOUR_MS - 1);
    expect(states()).toEqual([made.entry, false]);
    await bench.clock.advance(1);
    expect(states()).toEqual([undefined, true]);
    await bench.clock.advance(11_000);
    expect(rows(bench)).toBe(1);
    bench.clock.step(100_000 * HOUR_MS);
    expect(bench.tokens.lookup(forever.id)?.expiresAtMs).toBeUndefined();
  });

  it("lives no longer when the wall clock is set back, and ends when it is set ahead", async () => {
    const { tokens, clock } = await createTokenBench();
    const old = await tokens.create(specOf());
    clock.step(-10 * HOUR_MS);
    const young = await tokens.create(specOf({ ttlMs: 2 * HOUR_MS }));
    expect((young.entry.expiresAtMs ?? 0) - clock.now()).toBe(2 * HOUR_MS);
    await clock.advance(HOUR_MS);
    expect(tokens.lookup(old.id)).toBeUndefined();
    expect(tokens.lookup(young.id)).toBeDefined();
    clock.step(12 * HOUR_MS);
    expect(tokens.lookup(young.id)).toBeUndefined();
  });

  it("is refused while the wall clock is far ahead, is kept, and is good again when that is undone", async () => {
    const bench = await createTokenBench();
    const { tokens, clock } = bench;
    const [service, batch] = [
      await tokens.create(specOf()),
      await tokens.create(specOf({ type: "batch" })),
    ];
    clock.step(100_000 * HOUR_MS);
    await clock.advance(11_000);
    expect([
      tokens.lookup(service.id),
      tokens.lookup(batch.id),
      tokens.byAccessor(service.entry.accessor),
    ]).toEqual([undefined, undefined, undefined]);
    expect(rows(bench)).toBe(1);
    const meanwhile = await tokens.create(specOf({ ttlMs: 20_000 }));
    expect((meanwhile.entry.expiresAtMs ?? 0) - clock.now()).toBe(20_000);
    clock.step(-100_000 * HOUR_MS);
    expect((tokens.lookup(service.id)?.expiresAtMs ?? 0) - clock.now()).toBe(HOUR_MS - 11_000);
    expect(tokens.lookup(batch.id)).toBeDefined();
    await clock.advance(21_000);
    expect(tokens.lookup(meanwhile.id)).toBeUndefined();
  });

  it("is not renewed beyond its greatest life by the time that the machine was off", async () => {
    const bench = await createTokenBench({ run: false });
    const { id, entry } = await bench.tokens.create(
      specOf({ ttlMs: 400 * HOUR_MS, explicitMaxTtlMs: 500 * HOUR_MS }),
    );
    await bench.env.close();
    bench.clock.step(300 * HOUR_MS);
    const { tokens, clock } = await createTokenBench({
      directory: bench.directory,
      clock: bench.clock,
      run: false,
    });
    expect((tokens.lookup(id)?.expiresAtMs ?? 0) - clock.now()).toBe(100 * HOUR_MS);
    const renewed = await tokens.renew(entry, 400 * HOUR_MS);
    expect((renewed.entry.expiresAtMs ?? 0) - clock.now()).toBe(200 * HOUR_MS);
  });

  it("keeps that over a restart", async () => {
    const bench = await createTokenBench({ run: false });
    await bench.tokens.create(specOf());
    bench.clock.step(-10 * HOUR_MS);
    const young = await bench.tokens.create(specOf());
    await bench.env.close();
    const { tokens } = await createTokenBench({
      directory: bench.directory,
      clock: bench.clock,
      run: false,
    });
    expect(tokens.lookup(young.id)?.expiresAtMs).toBe(bench.clock.now() + HOUR_MS);
    expect((tokens.lookup(young.id)?.expiresAtMs ?? 0) - bench.clock.now()).toBe(HOUR_MS);
  });

  it("takes its uses one by one, and no more than there are", async () => {
    const bench = await createTokenBench();
    const { tokens } = bench;
    const made = await tokens.create(specOf({ numUses: 3 }));
    const uses = await Promise.all(Array.from({ length: 10 }, () => tokens.use(made.entry)));
    expect(uses.map((entry) => entry?.numUses)).toEqual([
      2,
      1,
      -1,
      ...Array<undefined>(7).fill(undefined),
    ]);
    expect(tokens.lookup(made.id)).toBeUndefined();
    // While its last use is served it has not ended.
    expect(tokens.hasEnded(made.entry.key)).toBe(false);
    await bench.clock.advance(121_000);
    await bench.clock.advance(11_000);
    expect([rows(bench), tokens.hasEnded(made.entry.key)]).toEqual([0, true]);
    const free = await tokens.create(specOf());
    expect(await tokens.use(free.entry)).toBe(free.entry);
  });

  it("tells that its row is damaged instead of not knowing it", async () => {
    const bench = await createTokenBench({ run: false });
    const made = await bench.tokens.create(specOf());
    await bench.env.close();
    const raw = open<Buffer, Uint8Array>({
      path: join(bench.directory, "test.mdb"),
      noSubdir: true,
      overlappingSync: false,
      eventTurnBatching: false,
      encoding: "binary",
      keyEncoding: "binary",
      maxDbs: 50,
    });
    const store = raw.openDB<Buffer, Uint8Array>({
      name: "t:token_rows",
      encoding: "binary",
      keyEncoding: "binary",
    });
    for (const { key, value } of Array.from(store.getRange({ start: Uint8Array.of(0) }))) {
      const damaged = Buffer.from(value);
      damaged[20] = (damaged[20] ?? 0) ^ 1;
      await store.put(key, damaged);
    }
    await raw.close();
    // A large file that was closed cleanly is not walked before it is used.
    const { tokens } = await createTokenBench({
      directory: bench.directory,
      clock: bench.clock,
      run: false,
      wholeWalkBytes: 0,
    });
    expect(() => tokens.lookup(made.id)).toThrow("damaged");
  });

  it("is listed by its accessor while it lives", async () => {
    const { tokens } = await createTokenBench();
    const made = await Promise.all([1, 2, 3].map(() => tokens.create(specOf())));
    const [gone] = made;
    await tokens.revoke(gone?.entry.key ?? "");
    const { signal } = new AbortController();
    const accessors = made
      .slice(1)
      .map(({ entry }) => entry.accessor)
      .toSorted();
    expect(await tokens.accessors(signal)).toEqual(accessors);
    const [first = ""] = accessors;
    expect(await tokens.accessors(signal, { after: "", limit: 1 })).toEqual([first]);
    expect(await tokens.accessors(signal, { after: first, limit: 0 })).toEqual(accessors.slice(1));
  });
});

describe("a renewal", () => {
  it("gives the asked time, the usual time or the period, within the maxima", async () => {
    const { tokens, clock } = await createTokenBench({ run: false });
    const plain = await tokens.create(specOf());
    const ttlOf = async (made: CreatedToken, incrementMs?: number) => {
      const { entry, warnings } = await tokens.renew(made.entry, incrementMs);
      return [(entry.expiresAtMs ?? 0) - clock.now(), warnings.length];
    };
    await clock.advance(HOUR_MS / 2);
    expect(await ttlOf(plain)).toEqual([HOUR_MS, 0]);
    expect(await ttlOf(plain, 5 * HOUR_MS)).toEqual([5 * HOUR_MS, 0]);
    expect(await ttlOf(plain, 1_000 * HOUR_MS)).toEqual([767.5 * HOUR_MS, 1]);
    expect(tokens.lookup(plain.id)?.lastRenewalAtMs).toBe(clock.now());
    expect(
      await ttlOf(await tokens.create(specOf({ periodMs: 3 * HOUR_MS })), 9 * HOUR_MS),
    ).toEqual([3 * HOUR_MS, 0]);
    expect(
      await ttlOf(await tokens.create(specOf({ explicitMaxTtlMs: 2 * HOUR_MS })), 9 * HOUR_MS),
    ).toEqual([2 * HOUR_MS, 1]);
    expect(
      await ttlOf(await tokens.create(specOf({ maxTtlMs: 2 * HOUR_MS })), 9 * HOUR_MS),
    ).toEqual([2 * HOUR_MS, 1]);
  });

  it("of a periodic token works for ever, up to its explicit maximum", async () => {
    const { tokens, clock } = await createTokenBench({ run: false });
    const periodic = await tokens.create(specOf({ periodMs: 700 * HOUR_MS, ttlMs: 700 * HOUR_MS }));
    for (let month = 0; month < 3; month++) {
      await clock.advance(600 * HOUR_MS);
      await tokens.renew(periodic.entry, undefined);
    }
    const capped = await tokens.create(
      specOf({ periodMs: HOUR_MS, explicitMaxTtlMs: 2 * HOUR_MS }),
    );
    await clock.advance(HOUR_MS - 1_000);
    await tokens.renew(capped.entry, undefined);
    await clock.advance(HOUR_MS - 1_000);
    const { entry } = await tokens.renew(capped.entry, undefined);
    expect((entry.expiresAtMs ?? 0) - clock.now()).toBe(2_000);
  });

  it("is refused where there is nothing to renew", async () => {
    const { tokens, clock } = await createTokenBench();
    const refused = async (made: CreatedToken, why: string) =>
      expect(tokens.renew(made.entry, undefined)).rejects.toThrow(why);
    await refused(await tokens.create(specOf({ ttlMs: 0 })), "lease is not renewable");
    await refused(await tokens.create(specOf({ renewable: false })), "lease is not renewable");
    await refused(await tokens.create(specOf({ type: "batch" })), "batch tokens cannot be renewed");
    const ended = await tokens.create(specOf());
    await clock.advance(HOUR_MS);
    await refused(ended, "token not found");
  });

  it("keeps a token from its first timer", async () => {
    const { tokens, clock } = await createTokenBench();
    const made = await tokens.create(specOf());
    await clock.advance(HOUR_MS / 2);
    await tokens.renew(made.entry, undefined);
    await clock.advance(HOUR_MS - 1);
    expect(tokens.lookup(made.id)).toBeDefined();
  });
});

describe("a batch token", () => {
  it("is its own record: nothing is stored, nothing of it can be changed", async () => {
    const bench = await createTokenBench();
    const { tokens, clock } = bench;
    const made = await tokens.create(
      specOf({ type: "batch", meta: { a: "b" }, role: "r", boundCidrs: ["::1/128"] }),
    );
    expect(text(made)).toMatch(/^hvb\.[\w-]+$/);
    expect(rows(bench)).toBe(0);
    expect(tokens.lookup(made.id)).toEqual(made.entry);
    expect(made.entry).toMatchObject({
      type: "batch",
      accessor: "",
      renewable: false,
      meta: { a: "b" },
      role: "r",
      boundCidrs: ["::1/128"],
    });
    const id = text(made);
    for (let at = 4; at < id.length; at++) {
      const changed = id.slice(0, at) + (id[at] === "A" ? "B" : "A") + id.slice(at + 1);
      expect(tokens.lookup(secret(changed))).toBeUndefined();
    }
    for (const wrong of [`${id}A`, `${id}=`, id.slice(0, -4), "hvb.", `hvb.${"A".repeat(10_000)}`])
      expect(tokens.lookup(secret(wrong))).toBeUndefined();
    await clock.advance(HOUR_MS);
    expect(tokens.lookup(made.id)).toBeUndefined();
  });

  it("says nothing about itself to whoever decodes it, not even that two are alike", async () => {
    const { tokens } = await createTokenBench();
    const spec = specOf({
      type: "batch",
      policies: ["auditor-policy"],
      displayName: "somebody-here",
      meta: { team: "payments" },
      role: "night-role",
    });
    const bytesOf = async (): Promise<Buffer> =>
      Buffer.from(text(await tokens.create(spec)).slice("hvb.".length), "base64url");
    const [one, other] = [await bytesOf(), await bytesOf()];
    for (const word of ["auditor", "somebody", "payments", "team", "night-role"])
      expect([word, one.includes(word)]).toEqual([word, false]);
    const alike = one.filter((byte, at) => at > 0 && byte === other[at]).length;
    // Of random bytes one in 256 is equal.
    expect(alike).toBeLessThan(one.length / 8);
  });

  it("is good in the store that made it only, and over its restart", async () => {
    const bench = await createTokenBench({ run: false });
    const made = await bench.tokens.create(specOf({ type: "batch" }));
    const other = await createTokenBench({ clock: bench.clock, run: false });
    expect(other.tokens.lookup(made.id)).toBeUndefined();
    await bench.env.close();
    const again = await createTokenBench({
      directory: bench.directory,
      clock: bench.clock,
      run: false,
    });
    expect(again.tokens.lookup(made.id)).toEqual(made.entry);
  });

  it("leaves ids of its form to service tokens that were given one", async () => {
    const { tokens } = await createTokenBench();
    const made = await tokens.create(specOf({ id: secret("hvb.mine") }));
    expect(tokens.lookup(secret("hvb.mine"))).toEqual(made.entry);
  });

  it("ends with the token it came from, and is no larger than a header takes", async () => {
    const { tokens } = await createTokenBench();
    const parent = await tokens.create(specOf());
    const made = await tokens.create(specOf({ type: "batch", parent: parent.entry.key }));
    expect(tokens.lookup(made.id)).toBeDefined();
    await tokens.revoke(parent.entry.key);
    expect(tokens.lookup(made.id)).toBeUndefined();
    await expect(
      tokens.create(specOf({ type: "batch", meta: { long: "x".repeat(10_000) } })),
    ).rejects.toThrow("create a service token");
  });
});

describe("revocation", () => {
  it("ends a token with all that came of it, and tells of each once", async () => {
    const bench = await createTokenBench();
    const { tokens } = bench;
    const ended: string[] = [];
    tokens.onEnd((_tx, { key }) => ended.push(key));
    const root = await tokens.create(specOf({ ttlMs: 0 }));
    const [stranger] = await family(bench, 1, 2);
    const all = await family(bench, 4, 4, root.entry.key);
    expect(all).toHaveLength(340);
    await tokens.revoke(root.entry.key);
    for (const made of [root, ...all]) expect(tokens.lookup(made.id)).toBeUndefined();
    expect(ended.toSorted()).toEqual([root, ...all].map(({ entry }) => entry.key).toSorted());
    expect(tokens.lookup(stranger?.id ?? secret(""))).toBeDefined();
    expect(rows(bench)).toBe(2);
    expect(bench.env.read((snapshot) => snapshot.count(tokenChildren))).toBe(1);
    await tokens.revoke(root.entry.key);
    await tokens.revoke("unknown");
  });

  it("ends thousands of children without holding up others for long", async () => {
    const bench = await createTokenBench();
    const root = await bench.tokens.create(specOf());
    await Promise.all(
      Array.from({ length: 2_000 }, () => bench.tokens.create(specOf({ parent: root.entry.key }))),
    );
    const revoking = bench.tokens.revoke(root.entry.key);
    let others = 0;
    const done = revoking.then(() => true);
    while (!(await Promise.race([done, bench.env.write(() => false)]))) others += 1;
    expect(others).toBeGreaterThan(20);
    expect(rows(bench)).toBe(0);
  });

  it("is final for children that are being made meanwhile", async () => {
    const bench = await createTokenBench();
    const { tokens } = bench;
    const root = await tokens.create(specOf());
    await family(bench, 40, 1, root.entry.key);
    const made: CreatedToken[] = [];
    let refused = 0;
    const making = Array.from({ length: 60 }, async () => {
      for (let round = 0; round < 5; round++)
        await tokens.create(specOf({ parent: root.entry.key })).then(
          (token) => made.push(token),
          () => (refused += 1),
        );
    });
    await tokens.revoke(root.entry.key);
    for (const { id } of made) expect(tokens.lookup(id)).toBeUndefined();
    await Promise.all(making);
    for (const { id } of made) expect(tokens.lookup(id)).toBeUndefined();
    expect(refused).toBeGreaterThan(0);
    expect(rows(bench)).toBe(0);
  });

  it("may leave the children as orphans", async () => {
    const bench = await createTokenBench();
    const { tokens } = bench;
    const root = await tokens.create(specOf());
    const children = await family(bench, 50, 1, root.entry.key);
    const [child] = children;
    const grandchild = await tokens.create(specOf({ parent: child?.entry.key }));
    await tokens.revoke(root.entry.key, { orphanChildren: true });
    expect(tokens.lookup(root.id)).toBeUndefined();
    for (const { id } of children) expect(tokens.lookup(id)).toMatchObject({ parent: undefined });
    await tokens.revoke(child?.entry.key ?? "");
    expect(tokens.lookup(grandchild.id)).toBeUndefined();
    expect(rows(bench)).toBe(49);
  });

  it.each(["as orphans", "revoked"])(
    "comes to the end of children with long metadata, %s",
    async (how) => {
      const bench = await createTokenBench();
      const { tokens } = bench;
      const meta = { note: "x".repeat(60_000) };
      const root = await tokens.create(specOf({ meta }));
      for (let count = 0; count < 40; count += 1) {
        const child = await tokens.create(specOf({ meta, parent: root.entry.key }));
        await tokens.create(specOf({ parent: child.entry.key }));
      }
      await tokens.revoke(root.entry.key, { orphanChildren: how === "as orphans" });
      expect(rows(bench)).toBe(how === "as orphans" ? 80 : 0);
    },
  );

  it("comes to tokens with long metadata and children that expire together", async () => {
    const bench = await createTokenBench();
    const meta = { note: "x".repeat(120_000) };
    for (let count = 0; count < 40; count += 1) {
      const parent = await bench.tokens.create(specOf({ meta }));
      await bench.tokens.create(specOf({ parent: parent.entry.key, ttlMs: 9 * HOUR_MS }));
    }
    await bench.clock.advance(HOUR_MS);
    for (let round = 0; round < 50 && rows(bench) > 0; round += 1) await bench.clock.advance(1_000);
    expect(rows(bench)).toBe(0);
  });

  it("comes to all that were made at a path, children included", async () => {
    const bench = await createTokenBench();
    const logins = await Promise.all(
      Array.from({ length: 300 }, () =>
        bench.tokens.create(specOf({ path: "auth/approle/login" })),
      ),
    );
    const child = await bench.tokens.create(specOf({ parent: logins[7]?.entry.key }));
    const other = await bench.tokens.create(specOf({ path: "auth/approle2/login" }));
    const forEver = await bench.tokens.create(
      specOf({ path: "auth/approle/login", policies: ["root"], ttlMs: 0 }),
    );
    await bench.tokens.revokePrefix("auth/approle/login/", new AbortController().signal);
    for (const { id } of [...logins, child]) expect(bench.tokens.lookup(id)).toBeUndefined();
    for (const { id } of [other, forEver]) expect(bench.tokens.lookup(id)).toBeDefined();
    expect(rows(bench)).toBe(2);
  });

  it("comes to those that are not stored yet, too", async () => {
    const bench = await createTokenBench();
    const made = bench.tokens.create(specOf({ path: "auth/approle/login" }));
    await bench.tokens.revokePrefix("auth/approle/", new AbortController().signal);
    expect(bench.tokens.lookup((await made).id)).toBeUndefined();
  });

  it("comes to children of a token that expires, too", async () => {
    const bench = await createTokenBench();
    const parent = await bench.tokens.create(specOf());
    const child = await bench.tokens.create(
      specOf({ parent: parent.entry.key, ttlMs: 9 * HOUR_MS }),
    );
    await bench.clock.advance(HOUR_MS);
    await bench.clock.advance(11_000);
    expect(bench.tokens.lookup(child.id)).toBeUndefined();
    expect(rows(bench)).toBe(0);
  });

  it("is taken up again after a crash in its middle", async () => {
    const bench = await createTokenBench({ run: false });
    const root = await bench.tokens.create(specOf({ ttlMs: 0 }));
    const children = await family(bench, 6, 2, root.entry.key);
    bench.tokens.onEnd((_tx, { key }) => {
      if (key === children[20]?.entry.key) throw new Error("the disk is gone");
    });
    await expect(bench.tokens.revoke(root.entry.key)).rejects.toThrow("the disk is gone");
    expect(bench.tokens.lookup(root.id)).toBeUndefined();
    await bench.env.close();
    const again = await createTokenBench({ directory: bench.directory, clock: bench.clock });
    expect(rows(again)).toBeGreaterThan(0);
    await bench.clock.advance(31_000).catch(() => undefined);
    for (let rounds = 0; rounds < 50 && rows(again) > 0; rounds++) await again.env.write(() => {});
    expect(rows(again)).toBe(0);
  });

  it("leaves nothing of a child whose parent has ended or was never there", async () => {
    const { tokens, clock } = await createTokenBench();
    const parent = await tokens.create(specOf());
    await clock.advance(HOUR_MS);
    await expect(tokens.create(specOf({ parent: parent.entry.key }))).rejects.toThrow(
      "parent token lookup failed",
    );
    await expect(tokens.create(specOf({ parent: "unknown", type: "batch" }))).rejects.toThrow(
      "parent token lookup failed",
    );
  });
});

describe("lookups", () => {
  it("see every change of a token that was looked up before", async () => {
    const { tokens } = await createTokenBench();
    const parent = await tokens.create(specOf());
    const made = await tokens.create(specOf({ numUses: 5, parent: parent.entry.key }));
    const seen = () => tokens.lookup(made.id);
    expect(seen()).toMatchObject({ numUses: 5 });
    await tokens.use(made.entry);
    expect(seen()).toMatchObject({ numUses: 4 });
    await tokens.renew(made.entry, 5 * HOUR_MS);
    expect((seen()?.expiresAtMs ?? 0) - made.entry.createdAtMs).toBe(5 * HOUR_MS);
    await tokens.revoke(parent.entry.key, { orphanChildren: true });
    expect(seen()).toMatchObject({ parent: undefined });
    await tokens.revoke(made.entry.key);
    expect(seen()).toBeUndefined();
  });
});
