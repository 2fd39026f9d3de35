import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { StewardError } from "../../../../src/kernel/base/errors.ts";
import { rewriteRows } from "../fixtures/rewrite-rows.ts";
import type { Migration } from "../../../../src/kernel/state/types.ts";
import { bookV1, bookV2, booksV1, booksV2, fillBooks, toV2, toV3 } from "../fixtures/ledger.ts";
import { openEnv, temporaryFolder } from "../fixtures/tables.ts";

const ROWS = 600;

async function oldFile(rows: number = ROWS): Promise<string> {
  const directory = temporaryFolder();
  const env = await openEnv(directory, { tables: [booksV1], schema: 1, version: "0.1.0" });
  await fillBooks(env, rows);
  await env.close();
  return directory;
}

/** Runs one step fewer than asked for, then fails; counts what it did. */
function failing(migration: Migration, steps: number): Migration & { ran: number } {
  const broken = {
    ...migration,
    ran: 0,
    step(...args: Parameters<Migration["step"]>) {
      if (broken.ran === steps) throw new StewardError("internal", "pulled the plug");
      broken.ran += 1;
      return migration.step(...args);
    },
  };
  return broken;
}

describe("an older store", () => {
  it("comes to the schema in chunks, with its new index, over two steps", async () => {
    const directory = await oldFile();
    const env = await openEnv(directory, {
      tables: [booksV2],
      schema: 3,
      migrations: [toV2, toV3],
    });
    env.read((snapshot) => {
      expect(snapshot.count(booksV2)).toBe(ROWS / 2);
      expect([...snapshot.range(booksV2)]).toEqual(
        Array.from({ length: ROWS / 2 }, (_, at) => [at * 2, bookV2(at * 2)]),
      );
      expect(snapshot.find(booksV2, "title", ["BOOK 42"])).toEqual([42]);
      expect(snapshot.find(booksV2, "year", [1900 + 42])).toEqual([42, 142, 242, 342, 442, 542]);
    });
    await env.close();
    const again = await openEnv(directory, { tables: [booksV2], schema: 3 });
    expect(again.status()).toMatchObject({ rows: { books: ROWS / 2 }, healthy: true });
  });

  it.each([0, 1, 2, 3, 4])(
    "goes on where it was when step %i of its migration failed",
    async (steps) => {
      const directory = await oldFile();
      const broken = failing(toV2, steps);
      await expect(
        openEnv(directory, { tables: [booksV2], schema: 2, migrations: [broken] }),
      ).rejects.toThrow("pulled the plug");
      const rest = failing(toV2, 100);
      const env = await openEnv(directory, { tables: [booksV2], schema: 2, migrations: [rest] });
      expect(broken.ran + rest.ran).toBe(5);
      expect(env.read((snapshot) => [...snapshot.range(booksV2)])).toEqual(
        Array.from({ length: ROWS }, (_, at) => [at, bookV2(at)]),
      );
    },
  );

  it("stays where it was when a step got over a refusal: neither its rows nor how far it came are stored", async () => {
    const directory = await oldFile();
    const careless: Migration = {
      ...toV2,
      step(tx, cursor) {
        const next = toV2.step(tx, cursor);
        try {
          tx.put(booksV2, 2 ** 53, bookV2(0));
        } catch {
          // as if nothing had happened
        }
        return next;
      },
    };
    await expect(
      openEnv(directory, { tables: [booksV2], schema: 2, migrations: [careless] }),
    ).rejects.toMatchObject({ code: "invalid" });
    const env = await openEnv(directory, { tables: [booksV1], schema: 1 });
    expect(env.read((snapshot) => [...snapshot.range(booksV1)])).toEqual(
      Array.from({ length: ROWS }, (_, at) => [at, bookV1(at)]),
    );
  });

  it("ends between two chunks with the signal's reason, and the next open goes on", async () => {
    const directory = await oldFile();
    const stop = new AbortController();
    const stopping: Migration = {
      ...toV2,
      step: (tx, cursor) => (
        stop.abort(new StewardError("cancelled", "stopped")),
        toV2.step(tx, cursor)
      ),
    };
    await expect(
      openEnv(directory, {
        tables: [booksV2],
        schema: 2,
        migrations: [stopping],
        signal: stop.signal,
      }),
    ).rejects.toThrow("stopped");
    const env = await openEnv(directory, { tables: [booksV2], schema: 2, migrations: [toV2] });
    expect(env.read((snapshot) => snapshot.get(booksV2, ROWS - 1))).toEqual(bookV2(ROWS - 1));
  });

  it("survives kills at random moments of its migration", async () => {
    const directory = await oldFile(3_000);
    const script = fileURLToPath(new URL("../fixtures/migrator.ts", import.meta.url));
    let ended = false;
    for (let round = 0; round < 12 && !ended; round += 1) {
      ended = await new Promise((resolve) => {
        const child = execFile(process.execPath, [script, directory], (error) =>
          resolve(error === null),
        );
        let chunks = 0;
        child.stdout?.on("data", () => (chunks += 1) > round % 4 && child.kill("SIGKILL"));
      });
    }
    const env = await openEnv(directory, { tables: [booksV2], schema: 2, migrations: [toV2] });
    expect(env.read((snapshot) => [...snapshot.range(booksV2)])).toEqual(
      Array.from({ length: 3_000 }, (_, at) => [at, bookV2(at)]),
    );
  });

  it("is refused when no migration leads on from it, and left as it is", async () => {
    const directory = await oldFile();
    const refusal = await openEnv(directory, {
      tables: [booksV2],
      schema: 3,
      migrations: [toV3],
    }).catch((error: unknown) => error);
    expect(refusal).toMatchObject({
      code: "unsupported",
      remedy: "run Steward 0.1.0, which wrote it, or move the file away",
    });
    expect((refusal as Error).message).toBe(
      `${join(directory, "test.mdb")} has schema 1; this Steward reads schema 3 and has no migration from 1 to 2`,
    );
    const env = await openEnv(directory, { tables: [booksV1], schema: 1 });
    expect(env.read((snapshot) => snapshot.get(booksV1, 7))).toEqual(bookV1(7));
  });

  it("writes rows too large to share a chunk one by one", async () => {
    const directory = temporaryFolder();
    const env = await openEnv(directory, { tables: [booksV1], schema: 1 });
    for (let at = 0; at < 4; at += 1)
      await env.write((tx) => tx.put(booksV1, at, { title: "x".repeat(400_000) }));
    await env.close();
    const counted = failing(
      rewriteRows(1, booksV1, booksV2, ({ title }) => ({ title, year: 1 })),
      100,
    );
    await openEnv(directory, { tables: [booksV2], schema: 2, migrations: [counted] });
    expect(counted.ran).toBe(4);
  });
});

describe("a newer store", () => {
  it("is refused naming the Steward that can read it, also half way through its migration", async () => {
    const directory = await oldFile();
    await expect(
      openEnv(directory, {
        tables: [booksV2],
        schema: 2,
        version: "0.4.0",
        migrations: [failing(toV2, 2)],
      }),
    ).rejects.toThrow("pulled the plug");
    const refusal = openEnv(directory, { tables: [booksV1], schema: 1, version: "0.1.0" });
    await expect(refusal).rejects.toMatchObject({
      code: "unsupported",
      rule: "schema",
      remedy: "run Steward 0.4.0 or newer, or restore a backup of schema 1",
      message: `${join(directory, "test.mdb")} has schema 2 (format 1); this Steward 0.1.0 reads schema 1 (format 1)`,
    });
  });
});
