/**
 * A decision given at any moment of an analysis ends as if it had been given before the analysis or
 * after it: nothing is lost, and no group is removed for what was true when the analysis began.
 */
import { expect, it } from "vitest";
import { historyOf, statusOf } from "../../../src/dedup/groups/decision.ts";
import { restorePair } from "../../../src/dedup/groups/pair-decisions.ts";
import { acceptGroup, setPrimary, withdrawGroup } from "../../../src/dedup/groups/review.ts";
import { GroupStatus } from "../../../src/gen/steward/dedup/v1/groups_pb.ts";
import type { Bench } from "../groups/bench.ts";
import { edited, prose } from "../groups/bench.ts";
import { isLongRun } from "../../support/long-run.ts";
import { decide, one, small } from "./small-archive.ts";

/** Of all cases, the normal run shows one in so many, with each decision and each change. */
const SHARE = isLongRun ? 1 : 27;

/** A decision about the one group of the archive. */
type Decision = (bench: Bench, id: string) => Promise<unknown>;

const decisions: Readonly<Record<string, Decision>> = {
  pending: (bench, id) => decide(bench, id, GroupStatus.PENDING),
  "no duplicates": (bench, id) => decide(bench, id, GroupStatus.FALSE_POSITIVE),
  ignored: (bench, id) => decide(bench, id, GroupStatus.IGNORED),
  deleted: (bench, id) => decide(bench, id, GroupStatus.DELETED),
  accepted: ({ env, index, clock }, id) =>
    env.write((tx) => acceptGroup(tx, index, id, clock.now())),
  withdrawn: ({ env, index, clock }, id) =>
    env.write((tx) => withdrawGroup(tx, index, id, clock.now())),
  "another primary": ({ env, index, clock }, id) =>
    env.write((tx) =>
      setPrimary(tx, index, { id, docNo: 2, documentId: "document-2", nowMs: clock.now() }),
    ),
  "a pair restored": ({ env, index, clock }) =>
    env.write((tx) => restorePair(tx, index, { a: 1, b: 2, nowMs: clock.now() })),
};

/** Changes to the archive before the analysis, by name. */
const changes: Readonly<Record<string, (bench: Bench) => Promise<unknown>>> = {
  nothing: () => Promise.resolve(),
  "a text": (bench) => bench.put(2, prose(50)),
  "a new member": (bench) => bench.put(7, edited(one, 25, "seven")),
  "a document is gone": (bench) => bench.remove(3),
};

interface Case {
  readonly before: string;
  readonly change: string;
  readonly decision: string;
}

const cases: readonly Case[] = Object.keys(decisions)
  .flatMap((before) =>
    Object.keys(changes).flatMap((change) =>
      Object.keys(decisions).map((decision) => ({ before, change, decision })),
    ),
  )
  .filter((_, at) => at % SHARE === 0);

/** Some decisions are refused at some moments, e.g. about a group that is gone. */
async function attempt(bench: Bench, id: string, name: string): Promise<void> {
  await decisions[name]?.(bench, id).catch(() => undefined);
}

async function begin({ before, change }: Case): Promise<{ bench: Bench; id: string }> {
  const bench = await small();
  await bench.analyse();
  const id = bench.groups()[0]?.row.id ?? "";
  await attempt(bench, id, before);
  await bench.analyse();
  await changes[change]?.(bench);
  return { bench, id };
}

/** What readers see once another analysis has taken up what the one before left. */
async function seen(bench: Bench, id: string): Promise<unknown> {
  await bench.analyse();
  const found = bench.groups().map(({ row, decision }) => ({
    isKnown: row.id === id,
    members: row.members,
    status: statusOf(row, decision),
    history: historyOf(row, decision).map(({ status }) => status),
    primary: decision.primary,
    suggestedPrimary: row.suggestedPrimary,
    confidence: row.confidence,
    accepted: bench.index.find(row.id)?.accepted,
  }));
  await bench.close();
  return found;
}

/** The outcome when the decision comes before the analysis, and when it comes after. */
async function inTurn(given: Case): Promise<readonly [unknown, unknown]> {
  const first = await begin(given);
  await attempt(first.bench, first.id, given.decision);
  await first.bench.analyse({ force: true });
  const last = await begin(given);
  await last.bench.analyse({ force: true });
  await attempt(last.bench, last.id, given.decision);
  return [await seen(first.bench, first.id), await seen(last.bench, last.id)];
}

it.each(cases)(
  "$decision after $before, beside $change: as if given before the analysis or after it",
  async (given) => {
    const allowed = await inTurn(given);
    let at = 0;
    for (let isOver = false; !isOver; at++) {
      const { bench, id } = await begin(given);
      isOver = true;
      await bench.analyse({
        force: true,
        beforeCommit: async (count) => {
          if (count !== at) return;
          isOver = false;
          await attempt(bench, id, given.decision);
        },
      });
      if (isOver) await bench.close();
      else expect(allowed, `at commit ${at}`).toContainEqual(await seen(bench, id));
    }
    expect(at).toBeGreaterThan(1);
  },
);
