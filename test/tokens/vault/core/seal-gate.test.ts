import { describe, expect, it } from "vitest";
import { systemIds } from "../../../../src/kernel/base/ids.ts";
import { Secret } from "../../../../src/kernel/base/secret.ts";
import { EmptyFieldsSchema } from "../../../../src/gen/steward/tokens/v1/sys_fields_pb.ts";
import { createBackend } from "../../../../src/tokens/logical/backend.ts";
import { definePath } from "../../../../src/tokens/logical/define-path.ts";
import type { Core, CoreAnswer, CoreRequest } from "../../../../src/tokens/vault/core/types.ts";
import { createSealGate } from "../../../../src/tokens/vault/core/seal-gate.ts";

const status = createBackend({
  type: "system",
  help: "",
  paths: [
    definePath({
      pattern: "health",
      fields: EmptyFieldsSchema,
      operations: { read: async () => ({ data: { sealed: true } }) },
      synopsis: "s",
      description: "d",
    }),
  ],
});
const request: CoreRequest = {
  verb: "read",
  path: "m/x",
  data: {},
  token: Secret.of("t", "t"),
  remote: undefined,
  wrapTtlMs: undefined,
  signal: new AbortController().signal,
};
const answer: CoreAnswer = {
  requestId: "r",
  isRead: true,
  response: { data: { a: 1 } },
  lease: undefined,
  auth: undefined,
  wrap: undefined,
  warnings: [],
  copyToTop: false,
};

const coreOf = (handle: Core["handle"]): Core => ({
  handle,
  isLive: () => true,
  maxBodyBytes: () => 1_000,
});

describe("the door", () => {
  it("knows no live token while the store is sealed, and lets only a small body in, for the paths that answer then", () => {
    const gate = createSealGate({ status, ids: systemIds });
    const sizes = (): number[] =>
      ["sys/unseal", "sys/init", "m/x"].map((path) => gate.maxBodyBytes({ ...request, path }));
    expect([gate.isLive(Secret.of("t", "t")), sizes()]).toEqual([false, [65_536, 65_536, 0]]);
    gate.open(coreOf(async () => answer));
    expect([gate.isLive(Secret.of("t", "t")), sizes()]).toEqual([true, [65_536, 65_536, 1_000]]);
  });

  it("lets nobody in while the store is sealed, but says that it is", async () => {
    const gate = createSealGate({ status, ids: systemIds });
    await expect(gate.handle(request)).rejects.toMatchObject({
      code: "sealed",
      message: "Vault is sealed",
    });
    expect((await gate.handle({ ...request, path: "sys/health" })).response?.data).toEqual({
      sealed: true,
    });
  });

  it("lets everybody in once it is open", async () => {
    const gate = createSealGate({ status, ids: systemIds });
    gate.open(coreOf(async () => answer));
    expect(await gate.handle(request)).toBe(answer);
  });

  it("closes at once and waits for those inside", async () => {
    const gate = createSealGate({ status, ids: systemIds });
    const { promise, resolve } = Promise.withResolvers<CoreAnswer>();
    gate.open(coreOf(() => promise));
    const inside = gate.handle(request);
    let closed = false;
    const closing = gate.close().then(() => (closed = true));
    await expect(gate.handle(request)).rejects.toMatchObject({ code: "sealed" });
    expect(closed).toBe(false);
    resolve(answer);
    expect(await inside).toBe(answer);
    await closing;
    expect(gate.isOpen()).toBe(false);
  });

  it("tells everyone who closes it, and closes anew after it was opened again", async () => {
    const gate = createSealGate({ status, ids: systemIds });
    for (let round = 0; round < 2; round++) {
      const { promise, resolve } = Promise.withResolvers<CoreAnswer>();
      gate.open(coreOf(() => promise));
      const inside = gate.handle(request);
      const closings = Promise.all([gate.close(), gate.close()]);
      resolve(answer);
      await inside;
      await closings;
    }
    expect(gate.isOpen()).toBe(false);
  });
});
