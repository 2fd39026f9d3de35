import { randomBytes } from "node:crypto";
import { inspect } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { systemIds } from "../../../../src/kernel/base/ids.ts";
import { parseShare, splitKey } from "../../../../src/tokens/vault/seal/key-shares.ts";
import { createShareProgress } from "../../../../src/tokens/vault/seal/share-progress.ts";

describe("the text of a share", () => {
  it("is hexadecimal or base64 of 16 to 33 bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 16, maxLength: 33 }), (bytes) => {
        const buffer = Buffer.from(bytes);
        for (const text of [
          buffer.toString("hex"),
          buffer.toString("hex").toUpperCase(),
          buffer.toString("base64"),
        ])
          expect(Buffer.from(parseShare(text))).toEqual(buffer);
      }),
    );
  });

  it("that is base64 made of hexadecimal digits alone is read as base64 when it is too long for a share in hexadecimal", () => {
    // 44 digits are 22 bytes in hexadecimal, which fits; Vault decides in the same way.
    expect(parseShare("ab".repeat(22))).toHaveLength(22);
    expect(() => parseShare("ab".repeat(34))).toThrow("key is longer than maximum 33 bytes");
  });

  it("is repeated by no error", () => {
    for (const text of ["geheimnis!", "abcd", "A".repeat(400), "ä".repeat(40)])
      expect(() => parseShare(text)).toThrow(
        expect.objectContaining({
          message: expect.not.stringContaining(text.slice(0, 4)) as string,
        }) as Error,
      );
  });
});

describe("the shares of a key", () => {
  it("are secrets that cannot be printed; a single one is the key itself", () => {
    const key = new Uint8Array(randomBytes(32));
    const hex = Buffer.from(key).toString("hex");
    const [only] = splitKey(key, { shares: 1, threshold: 1 }, systemIds);
    expect([String(only), inspect(only), JSON.stringify(only)].join("")).not.toContain(hex);
    expect(only?.use((text) => text)).toBe(hex);
    expect(Buffer.from(key).toString("hex")).toBe(hex); // the key itself is left as it is
  });
});

describe("shares that are collected", () => {
  it("are overwritten when they are discarded, and a repeated one too", () => {
    const progress = createShareProgress(systemIds);
    const [share, again] = [Uint8Array.of(1, 2, 3), Uint8Array.of(1, 2, 3)];
    expect([progress.add(share), progress.add(again), progress.count]).toEqual([true, false, 1]);
    expect([...again]).toEqual([0, 0, 0]);
    expect(progress.nonce).not.toBe("");
    progress.reset();
    expect([[...share], progress.count, progress.nonce]).toEqual([[0, 0, 0], 0, ""]);
  });

  it("of different lengths make nothing", () => {
    const progress = createShareProgress(systemIds);
    progress.add(Uint8Array.of(1, 2, 3));
    progress.add(Uint8Array.of(1, 2));
    expect(progress.combined()).toBeUndefined();
  });
});
