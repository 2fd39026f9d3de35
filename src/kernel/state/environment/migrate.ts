/**
 * Migrates an older file to this version's schema, chunk by chunk. The file has the new schema
 * number from the first chunk on, so that an older Steward refuses a half-migrated file; a cursor
 * stored with each chunk lets the next start continue.
 */
import { assert, StewardError } from "../../base/errors.ts";
import type { Log } from "../../base/log.ts";
import { FORMAT, IDENTITY, MIGRATION } from "../rows/store-metadata.ts";
import type { Identity, MigrationRow } from "../rows/store-metadata.ts";
import type { LmdbFile } from "../file/lmdb-file.ts";
import type { EnvSpec, KeyPart, Migration } from "../types.ts";
import type { WriteQueue } from "../writes/write-queue.ts";
import { nextTurn } from "../../async/turns.ts";

export interface MigrateDeps {
  readonly file: LmdbFile;
  readonly queue: WriteQueue;
  readonly log: Log;
  /** The running version, stored with the schema for the error messages of older ones. */
  readonly version: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * The migrations from a file's schema to the current one, an unfinished one first. Throws
 * `unsupported` when one is missing.
 */
export function migrationsFor(
  path: string,
  spec: Pick<EnvSpec, "schema" | "migrations">,
  identity: Identity,
  unfinished: MigrationRow | undefined,
): readonly Migration[] {
  const first = unfinished?.from ?? identity.schema;
  return Array.from({ length: spec.schema - first }, (_, step) => {
    const from = first + step;
    const found = (spec.migrations ?? []).filter((migration) => migration.from === from);
    assert(found.length <= 1, `one migration leads from schema ${from}`);
    if (found[0] !== undefined) return found[0];
    throw new StewardError(
      "unsupported",
      `${path} has schema ${identity.schema}; this Steward reads schema ${spec.schema} and has no migration from ${from} to ${from + 1}`,
      {
        rule: "schema",
        remedy: `run ${identity.writer === undefined ? "the older Steward that wrote it" : `Steward ${identity.writer}, which wrote it`}, or move the file away`,
      },
    );
  });
}

/**
 * Runs the migrations in order. Between chunks it rejects with the signal's reason; the next start
 * continues.
 */
export async function migrate(
  deps: MigrateDeps,
  name: string,
  migrations: readonly Migration[],
  unfinished: MigrationRow | undefined,
): Promise<void> {
  for (const [at, migration] of migrations.entries()) {
    const to = migration.from + 1;
    deps.log.info("migrating a store to a newer schema", {
      from: migration.from,
      to,
      resumed: at === 0 && unfinished !== undefined,
    });
    let cursor = at === 0 ? unfinished?.cursor : undefined;
    let chunks = 0;
    do {
      deps.signal?.throwIfAborted();
      cursor = await runChunk(deps, name, migration, cursor);
      chunks += 1;
      await nextTurn();
    } while (cursor !== undefined);
    deps.log.info("migrated a store to a newer schema", { schema: to, chunks });
  }
}

async function runChunk(
  { queue, version }: MigrateDeps,
  name: string,
  migration: Migration,
  cursor: readonly KeyPart[] | undefined,
): Promise<readonly KeyPart[] | undefined> {
  return await queue.push((tx) => {
    const next = migration.step(tx, cursor);
    assert(
      next === undefined || JSON.stringify(next) !== JSON.stringify(cursor),
      `the migration from schema ${migration.from} moves on`,
    );
    const identity: Identity = {
      format: FORMAT,
      name,
      schema: migration.from + 1,
      writer: version,
    };
    tx.putMetadata(IDENTITY, identity);
    if (next === undefined) tx.removeMetadata(MIGRATION);
    else tx.putMetadata(MIGRATION, { from: migration.from, cursor: next } satisfies MigrationRow);
    return next;
  });
}
