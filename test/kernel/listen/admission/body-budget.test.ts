import { describe, expect, it } from "vitest";
import { createBodyBudget } from "../../../../src/kernel/listen/admission/body-budget.ts";
import { connectRaw, listen } from "../raw-client.ts";

describe("the budget of bodies", () => {
  it("is shared by all, and what one gives back another may take", () => {
    const budget = createBodyBudget({ bodiesBytes: 100, bodyBytes: 80 });
    let refused = 0;
    const [first, second] = [
      budget.allowance(() => undefined),
      budget.allowance(() => void (refused += 1)),
    ];
    first.reserve(60);
    second.reserve(40);
    expect(() => second.reserve(1)).toThrow(
      expect.objectContaining({ code: "exhausted", retryAfterMs: 1000 }),
    );
    expect([budget.inUseBytes(), refused]).toEqual([100, 1]);
    first.release();
    first.release();
    second.reserve(40);
    expect(budget.inUseBytes()).toBe(80);
    second.giveBack();
    second.reserve(80);
    expect(budget.inUseBytes()).toBe(80);
  });

  it("has no room for a body that is larger than any may be", () => {
    const allowance = createBodyBudget({ bodiesBytes: 100, bodyBytes: 80 }).allowance(
      () => undefined,
    );
    expect(() => allowance.reserve(81)).toThrow(
      expect.objectContaining({ code: "too_large", rule: "body_bytes" }),
    );
  });

  it("is given back when the handler is done, not when its client has gone", async () => {
    const { promise: release, resolve } = Promise.withResolvers<void>();
    let refused: unknown;
    const listener = await listen(
      async (request, response, { body }) => {
        try {
          body.reserve(10);
          if (request.url === "/held") await release;
        } catch (error) {
          refused = error;
        }
        response.end("done");
      },
      { owner: { bodiesBytes: 10 } },
    );
    const held = await connectRaw(listener.port);
    held.socket.write("GET /held HTTP/1.1\r\nHost: x\r\n\r\n");
    await expect.poll(() => listener.inFlight()).toBe(1);
    held.socket.destroy();
    await expect.poll(() => listener.inFlight()).toBe(0);
    const ask = async (): Promise<void> => {
      const client = await connectRaw(listener.port);
      client.socket.write("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
      await client.until(/done/);
    };
    await ask();
    expect(refused).toMatchObject({ code: "exhausted" });
    expect(
      listener.refused().find(({ reason, share }) => reason === "bodies" && share === "owner")
        ?.count,
    ).toBe(1);
    refused = undefined;
    resolve();
    await expect.poll(async () => (await ask(), refused)).toBeUndefined();
  });
});
