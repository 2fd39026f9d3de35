import { generateKeyPairSync } from "node:crypto";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import type { Fault } from "../../../src/demo/code-host/faults.ts";
import { startEngineRoom } from "../support/engine.ts";

/** Everything of an error, its causes included. */
function whole(error: unknown): string {
  return inspect(error, { depth: 10, showHidden: true });
}

describe("no secret", () => {
  it("is in any error, log line, metric or warning", async () => {
    await using room = await startEngineRoom();
    const seen: unknown[] = [];
    const faults: readonly Fault[] = [
      { kind: "status", status: 500, effect: true },
      { kind: "html" },
      { kind: "reset", effect: true },
      { kind: "garbage" },
      { kind: "truncate" },
      { kind: "no_expiry" },
      { kind: "redirect", location: "http://127.0.0.1:1/" },
      { kind: "patch", members: { token: { a: "ghs_inside" } } },
      { kind: "patch", members: { expires_at: "2020-01-01T00:00:00Z" } },
    ];
    for (const fault of faults) {
      room.codeHost.faults.next("mint", fault);
      seen.push(await room.refusal("create", "token", { installation_id: 1001 }));
    }
    const key = generateKeyPairSync("rsa", { modulusLength: 1024 })
      .privateKey.export({ type: "pkcs8", format: "pem" })
      .toString();
    for (const text of [
      key.slice(0, 400),
      key.replace("M", "-"),
      `{${key}`,
      key.replaceAll("A", "B"),
    ])
      seen.push(await room.refusal("update", "config", { prv_key: text }));
    seen.push(
      await room.ask("update", "config", { prv_key: key }),
      await room.refusal("create", "token", { installation_id: 1001 }),
      await room.ask("read", "doctor"),
      await room.ask("read", "config"),
      await room.ask("read", "metrics"),
      room.host.logged,
    );
    const text = seen.map(whole).join("\n");
    for (const line of [...key.split("\n"), ...room.demo.privateKeyPem.split("\n")].filter(
      (one) => one.length > 20 && !one.startsWith("--"),
    ))
      expect(text).not.toContain(line.slice(0, 40));
    expect(text).not.toMatch(/ghs_|eyJ/);
  });
});
