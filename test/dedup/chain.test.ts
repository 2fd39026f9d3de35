import { create } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { createChain, type Chain, type ChainDeps } from "../../src/dedup/chain.ts";
import { DocumentRowSchema } from "../../src/gen/steward/state/v1/dedup_pb.ts";
import { createLog } from "../../src/kernel/base/log.ts";
import type { Job, JobStatus } from "../../src/kernel/jobs/types.ts";

const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });

interface Side {
  readonly chain: Chain;
  readonly started: string[];
  waiting: number[];
  /** Ends the analysis that runs; resolves when the chain has acted on that. */
  end(status: JobStatus): Promise<void>;
}

/** A chain over a list of waiting documents, and analyses that end by hand. */
function createSide(): Side {
  let running: PromiseWithResolvers<JobStatus> | undefined;
  const started: string[] = [];
  const jobs = {
    active: () => (running === undefined ? undefined : ({ id: "analysis" } as Job)),
    start: ({ type }: { readonly type: string }) => {
      running = Promise.withResolvers();
      started.push(type);
      return Promise.resolve({} as Job);
    },
    async *watch() {
      const status = await running?.promise;
      yield { event: "complete", job: { status } as Job };
    },
  } as ChainDeps["jobs"];
  const side: Side = {
    started,
    waiting: [],
    chain: createChain({
      jobs,
      sync: { type: "sync" } as ChainDeps["sync"],
      analysis: { type: "analysis", exclusive: "analysis" } as ChainDeps["analysis"],
      documents: {
        row: () => create(DocumentRowSchema),
        text: () => undefined,
        index: {
          get pending() {
            return side.waiting.length;
          },
          select: () => ({ docNos: side.waiting, total: side.waiting.length }),
        },
      },
      log,
    }),
    async end(status: JobStatus) {
      running?.resolve(status);
      running = undefined;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  return side;
}

describe("a sync that ends while an analysis runs", () => {
  it("starts one more when something changed", async () => {
    for (const status of ["completed", "failed", "cancelled"] as const) {
      const side = createSide();
      side.chain.analyse(1);
      side.chain.analyse(0);
      side.chain.analyse(2);
      expect(side.started).toHaveLength(1);
      await side.end(status);
      expect(side.started).toHaveLength(2);
      await side.end(status);
      expect(side.started).toHaveLength(2);
    }
  });

  it.each([
    ["one more", "documents wait that the one that ran left", [1], 2],
    ["none", "nothing waits any more", [], 1],
  ])("starts %s without a change when %s", async (_more, _when, left, expected) => {
    const side = createSide();
    side.waiting = [1];
    side.chain.analyse(0);
    side.chain.analyse(0);
    side.waiting = left;
    await side.end("completed");
    expect(side.started).toHaveLength(expected);
  });

  it("leaves what waits to the next sync when the one that ran was cancelled or failed", async () => {
    for (const status of ["failed", "cancelled"] as const) {
      const side = createSide();
      side.waiting = [1];
      side.chain.analyse(0);
      side.chain.analyse(0);
      await side.end(status);
      expect(side.started).toHaveLength(1);
      side.chain.analyse(0);
      expect(side.started).toHaveLength(2);
    }
  });
});
