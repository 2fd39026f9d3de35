/** Runs of `steward dedup --state`, one after another, against the same without stored signatures. */
import { cpSync, globSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { findDuplicates, type Findings } from "../../../src/commands/dedup/find.ts";
import { parametersOf } from "../../../src/commands/dedup/parameters.ts";
import { createKeptTexts } from "../../../src/dedup/kept-texts.ts";
import type { Run } from "../../../src/commands/dedup/run.ts";
import type { Stores } from "../../../src/commands/dedup/stores.ts";
import { withStores } from "../../../src/commands/dedup/with-stores.ts";
import { createLog } from "../../../src/kernel/base/log.ts";
import { removeTemporaryFolders, temporaryFolder } from "../../contract/daemon.ts";
import { createInlinePool } from "../../dedup/inline-pool.ts";

afterAll(removeTemporaryFolders);

const FILES = 7;
const WORDS = 40;
const pool = createInlinePool();
const log = createLog({ level: "error", format: "text", write: () => undefined, now: () => 0 });

type Step =
  | { readonly kind: "write"; readonly file: number; readonly text: number; readonly edit: number }
  | { readonly kind: "remove"; readonly file: number }
  | { readonly kind: "decide"; readonly group: number; readonly verdict: Verdict }
  | { readonly kind: "primary"; readonly group: number; readonly member: number };
type Verdict = "accepted" | "rejected" | "pending";

const below = (max: number): fc.Arbitrary<number> => fc.nat({ max: max - 1 });
const writing: fc.Arbitrary<Step> = fc.record({
  kind: fc.constant("write"),
  file: below(FILES),
  text: below(2),
  edit: below(6),
});
const steps: fc.Arbitrary<readonly Step[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: writing },
    fc.record({ kind: fc.constant("remove" as const), file: below(FILES) }),
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant("decide" as const),
        group: below(3),
        verdict: fc.constantFrom<Verdict>("accepted", "rejected", "pending"),
      }),
    },
    fc.record({ kind: fc.constant("primary" as const), group: below(3), member: below(FILES) }),
  ),
  { minLength: 3, maxLength: 12 },
);

/** One of two texts; an edit replaces a word or more of it. */
function textOf(text: number, edit: number): string {
  const words = Array.from({ length: WORDS }, (_, at) => `word${text}x${at * 7}`);
  for (let at = 0; at < edit; at += 1) words[(at * 11 + edit) % WORDS] = `edit${edit}x${at}`;
  return words.join(" ");
}

async function withRunIn<T>(
  pile: string,
  state: string,
  use: (run: Run, stores: Stores) => Promise<T>,
): Promise<T> {
  const options: Run["options"] = {
    paths: [pile],
    include: [],
    exclude: [],
    idField: undefined,
    textField: undefined,
    parameters: {},
    workers: undefined,
    state,
    quiet: true,
  };
  const run: Run = {
    options,
    parameters: parametersOf(options),
    pool,
    texts: createKeptTexts({ folder: state }),
    log,
    progress: { update: () => undefined, end: () => undefined },
    signal: new AbortController().signal,
  };
  return await withStores(run, (stores) => use(run, stores));
}

/** Everything a person could see of a run. */
function seen({ reviewed, kept }: Findings) {
  return {
    groups: [...reviewed, ...kept].map(({ group, status, accepted, chosen, gained, changed }) => ({
      members: group.members.map(({ ref, primary }) => `${ref}${primary ? " *" : ""}`),
      scores: [group.confidence, group.jaccard, group.fuzzy, group.discriminative],
      reasons: group.reasons,
      pairs: group.pairs,
      decided: { status, accepted, chosen, gained, changed: changed.size },
    })),
  };
}

async function take(step: Step, pile: string, state: string): Promise<void> {
  if (step.kind === "write")
    return writeFileSync(join(pile, `${step.file}.txt`), textOf(step.text, step.edit));
  if (step.kind === "remove") return rmSync(join(pile, `${step.file}.txt`), { force: true });
  await withRunIn(pile, state, async (run, stores) => {
    const { reviewed, decisions } = await findDuplicates(run, stores);
    const group = reviewed[step.group % Math.max(1, reviewed.length)];
    if (group === undefined || decisions === undefined) return;
    const member = group.group.members.at(
      step.kind === "primary" ? step.member % group.group.members.length : 0,
    );
    if (step.kind === "decide") await decisions.decide(group, step.verdict);
    else if (member !== undefined) await decisions.choosePrimary(group, member.number);
  });
}

it("a run with stored signatures and scores sees what a run without them sees", async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (script) => {
      const [pile, state] = [temporaryFolder(), temporaryFolder()];
      for (const file of [0, 1, 2]) writeFileSync(join(pile, `${file}.txt`), textOf(0, file));
      for (const step of script) {
        await take(step, pile, state);
        const copy = temporaryFolder();
        cpSync(state, copy, { recursive: true });
        for (const file of globSync("**/dedup-sketch*", { cwd: copy }))
          rmSync(join(copy, file), { recursive: true });
        const forced = await withRunIn(pile, copy, async (run, stores) =>
          seen(await findDuplicates(run, stores)),
        );
        const stored = await withRunIn(pile, state, async (run, stores) =>
          seen(await findDuplicates(run, stores)),
        );
        expect(stored).toEqual(forced);
      }
    }),
    { numRuns: 15 },
  );
});
