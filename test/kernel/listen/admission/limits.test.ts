import { describe, expect, it } from "vitest";
import { resolveLimits } from "../../../../src/kernel/listen/admission/limits.ts";
import { connectRaw, echo, listen } from "../raw-client.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

describe("the limits of a listener that overrides none", () => {
  it("are those that docs/architecture/admission.md promises to clients", () => {
    expect(resolveLimits()).toMatchObject({
      headerBytes: 16 * KIB,
      headerMs: 10_000,
      idleMs: 120_000,
      stallMs: 30_000,
      owner: { bodyBytes: 32 * MIB, bodyMs: 30_000 },
      stranger: { bodyBytes: 64 * KIB, bodyMs: 30_000 },
      probe: { bodyBytes: 4 * KIB, bodyMs: 2_000 },
    });
  });

  it("stay as they are beside those that are overridden, also within a share", () => {
    const { idleMs, owner } = resolveLimits({ headerMs: 1, owner: { bodyBytes: 1 } });
    expect([idleMs, owner.bodyBytes, owner.bodyMs]).toEqual([120_000, 1, 30_000]);
  });

  it("keep an idle connection for two minutes, which its responses say", async () => {
    const { port } = await listen(echo);
    const client = await connectRaw(port);
    client.socket.write("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
    expect(await client.until(/GET \/a 0/)).toMatch(/\r\nkeep-alive: timeout=120\r\n/i);
  });
});
