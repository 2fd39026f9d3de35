import { describe, expect, it } from "vitest";
import { createUploadBooks } from "../../../src/kernel/profiling/upload-books.ts";
import { createManualClock } from "../supervisor/manual-clock.ts";

function setUp() {
  const clock = createManualClock();
  const written: string[] = [];
  const write = (row: { readonly name: string }, value: number, attributes: object): void =>
    void written.push(
      `${row.name.replace("svc.profiling.upload.", "")}${Object.values(attributes).map(String).join()}=${value}`,
    );
  return {
    clock,
    written,
    books: createUploadBooks(clock, { add: write, gauge: write, record: write }),
  };
}

describe("The books of uploads", () => {
  it("begin well and empty, and say so", () => {
    const { books, written } = setUp();
    expect(books.status()).toEqual({
      attempts: 0,
      failures: 0,
      consecutiveFailures: 0,
      healthy: true,
      lastDurationSeconds: 0,
      lastSuccessAtMs: undefined,
      lastFailureAtMs: undefined,
      lastErrorClass: undefined,
    });
    expect(written).toEqual(["consecutive_failures=0", "last_success=0"]);
  });

  it("are unwell from the third failure in a row to the next success, and keep when they last were", async () => {
    const { books, clock, written } = setUp();
    for (const failure of ["timeout", "tls"] as const) books.enter(250, failure);
    expect(books.status()).toMatchObject({
      attempts: 2,
      failures: 2,
      consecutiveFailures: 2,
      healthy: true,
      lastErrorClass: "tls",
    });
    books.enter(250, "other");
    const failedAtMs = clock.now();
    expect(books.status()).toMatchObject({
      consecutiveFailures: 3,
      healthy: false,
      lastDurationSeconds: 0.25,
      lastFailureAtMs: failedAtMs,
    });
    await clock.advance(60_000);
    written.length = 0;
    books.enter(1_500);
    expect(books.status()).toEqual({
      attempts: 4,
      failures: 3,
      consecutiveFailures: 0,
      healthy: true,
      lastDurationSeconds: 1.5,
      lastSuccessAtMs: clock.now(),
      lastFailureAtMs: failedAtMs,
      lastErrorClass: "other",
    });
    expect(written).toEqual([
      "attempts=1",
      "duration=1.5",
      "consecutive_failures=0",
      `last_success=${clock.now() / 1_000}`,
    ]);
    books.enter(10, "invalid");
    expect(written).toContain("failuresinvalid=1");
  });
});
