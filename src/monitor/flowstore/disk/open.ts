/** Opens the file of a network's flows, in a folder that no other process uses. */
import { create } from "@bufbuild/protobuf";
import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  FlowAdoptionSchema,
  FlowOwnerRowSchema,
  type FlowAdoption,
} from "../../../gen/steward/state/v1/flows_pb.ts";
import { StewardError } from "../../../kernel/base/errors.ts";
import type { Env, StateFactory } from "../../../kernel/state/types.ts";
import { BlockStore } from "./block-store.ts";
import { flowStoreName, legacyFileName } from "./names.ts";
import { flowStoreSpec, owner } from "./tables.ts";

const OWNER = 0;

export interface OpenFlows {
  readonly env: Env;
  readonly blocks: BlockStore;
  /** Where its flows came from; undefined when they were recorded here. */
  readonly adopted: FlowAdoption | undefined;
}

export interface OpenFlowsOptions {
  readonly factory: StateFactory;
  readonly nowMs: number;
  readonly maxRows: number;
}

/**
 * Creates the file where there is none. Throws `conflict` for the file of another network, and what
 * `StateFactory.open` throws; the file is then closed and unchanged.
 */
export async function openFlows(
  { factory, nowMs, maxRows }: OpenFlowsOptions,
  network: string,
  signal: AbortSignal,
): Promise<OpenFlows> {
  const env = await factory.open(flowStoreSpec(flowStoreName(network), maxRows), signal);
  try {
    const known = env.read((view) => view.get(owner, OWNER));
    if (known === undefined)
      await env.write((tx) =>
        tx.put(owner, OWNER, create(FlowOwnerRowSchema, { network, createdMs: nowMs })),
      );
    else if (known.network !== network) throw otherOwner(env.status().path, known.network, network);
    const blocks = await BlockStore.open(env, signal);
    return { env, blocks, adopted: known?.adopted };
  } catch (error) {
    await env.close();
    throw error;
  }
}

/** Records where the flows of an open file came from. */
export async function stampAdoption(
  env: Env,
  adopted: Pick<FlowAdoption, "file" | "bytes" | "rows" | "finished">,
): Promise<void> {
  await env.write((tx) => {
    const known = tx.get(owner, OWNER) ?? create(FlowOwnerRowSchema);
    const stamped = { ...known, adopted: create(FlowAdoptionSchema, adopted) };
    tx.put(owner, OWNER, create(FlowOwnerRowSchema, stamped));
  });
}

/** Throws `conflict` for a file of the predecessor that was not adopted. */
export function assertAdopted(directory: string, network: string): void {
  const legacy = join(directory, legacyFileName(network));
  if (existsSync(legacy))
    throw new StewardError("conflict", `${legacy} has not been adopted`, {
      remedy: `stop Steward and run it with -adopt-flow-db ${network}, or move the file away`,
    });
}

function otherOwner(path: string, found: string, wanted: string): StewardError {
  return new StewardError(
    "conflict",
    `${path} holds the flows of the network ${JSON.stringify(found)}, not of ${JSON.stringify(wanted)}`,
    { remedy: "move the file away, or put the right one in its place" },
  );
}
