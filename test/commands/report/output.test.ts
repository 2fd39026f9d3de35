import { PassThrough, Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { writeAll } from "../../../src/commands/report/output.ts";

function* pieces(count: number, seen: { made: number }): Generator<string> {
  for (let index = 0; index < count; index++) {
    seen.made += 1;
    yield "x".repeat(10_000);
  }
}

describe("writing a long report", () => {
  it("waits for a slow reader and holds little", async () => {
    const stream = new PassThrough({ highWaterMark: 1000 });
    const seen = { made: 0 };
    const writing = writeAll(pieces(1000, seen), stream);
    expect(seen.made).toBeLessThan(10);
    let length = 0;
    stream.on("data", (chunk: Buffer) => (length += chunk.length));
    expect(await writing).toBe(true);
    expect(length).toBe(10_000_000);
  });

  it("stops when the reader goes away", async () => {
    const broken = new Writable({
      highWaterMark: 10,
      write: (_chunk, _encoding, done) =>
        done(Object.assign(new Error("write EPIPE"), { code: "EPIPE" })),
    });
    const seen = { made: 0 };
    expect(await writeAll(pieces(1000, seen), broken)).toBe(false);
    expect(seen.made).toBeLessThan(20);
    expect(await writeAll(pieces(10, seen), broken)).toBe(false);
  });

  it("fails when the disk is full, also with the last piece", async () => {
    const full = (): Writable =>
      new Writable({
        highWaterMark: 10,
        write: (_chunk, _encoding, done) =>
          done(
            Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" }),
          ),
      });
    await expect(writeAll(pieces(1000, { made: 0 }), full())).rejects.toMatchObject({
      code: "disk_full",
    });
    await expect(writeAll(["short"], full())).rejects.toMatchObject({ code: "disk_full" });
    // As a file's, which says so after a turn of the event loop.
    const later = new Writable({
      write: (_chunk, _encoding, done) =>
        setImmediate(done, Object.assign(new Error("ENOSPC, write"), { code: "ENOSPC" })),
    });
    await expect(writeAll(["short"], later)).rejects.toMatchObject({ code: "disk_full" });
  });

  it("ends with the signal's reason when it is cancelled", async () => {
    const stuck = new Writable({ highWaterMark: 10, write: () => {} });
    const control = new AbortController();
    const writing = writeAll(pieces(1000, { made: 0 }), stuck, control.signal);
    control.abort(new Error("enough"));
    await expect(writing).rejects.toThrow("enough");
    await expect(writeAll(["short"], stuck, control.signal)).rejects.toThrow("enough");
    expect(stuck.listenerCount("drain")).toBe(0);
  });
});
