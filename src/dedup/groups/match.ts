/** The groups that an analysis found beside those that are known, shown or lost. */
import type { Env } from "../../kernel/state/types.ts";
import type { FoundGroup } from "./graph.ts";
import { identitySteps, type Identities, type KnownGroup } from "./identity.ts";
import type { GroupIndex } from "./index.ts";
import { readLost } from "./lost.ts";
import { readKnown } from "./plan.ts";
import { runInSlices, type SliceOptions } from "./steps.ts";

interface MatchDeps {
  readonly env: Env;
  readonly index: Pick<GroupIndex, "find" | "listed">;
  /** Whether there is such a document. */
  readonly exists: (docNo: number) => boolean;
  /** Ids of groups whose pairs the analysis did not look for, since they were rejected. */
  readonly rejected: ReadonlySet<string>;
}

interface Match extends Identities {
  /** Ids of lost groups to forget once readers see the found ones: `forgetLost`. */
  readonly noLongerLost: readonly string[];
}

/**
 * Looks for each found group among those that readers see, and then among the lost ones. A group
 * whose rejection was taken back meanwhile was not looked for: it stays for the next analysis.
 */
export async function matchGroups(
  deps: MatchDeps,
  found: readonly FoundGroup[],
  slices: SliceOptions,
): Promise<Match> {
  const known = await readKnown(deps.env, deps.index, slices);
  const lost = await readLost(deps.env, deps, slices);
  const membersOf = (some: readonly FoundGroup[]) => some.map(({ members }) => members);
  const shown = await runInSlices(identitySteps(known, membersOf(found)), slices);
  const isUnsearched = ({ id }: KnownGroup): boolean => deps.rejected.has(id);
  const left = found.filter((_, at) => shown.continues[at] === undefined);
  const again = await runInSlices(identitySteps(lost.groups, membersOf(left)), slices);
  const lostOf = new Map(left.map((group, at) => [group, again.continues[at]]));
  return {
    kept: [...shown.kept, ...shown.removed.filter(isUnsearched)],
    removed: shown.removed.filter((group) => !isUnsearched(group)),
    continues: found.map((group, at) => shown.continues[at] ?? lostOf.get(group)),
    noLongerLost: [...lost.past, ...again.continues.flatMap((group) => group?.id ?? [])],
  };
}
