/**
 * A reviewer's decisions and their undoing. Decisions are carried out one after the other; each can
 * be undone as long as the page is open.
 */
import type { GroupSummary } from "../../../src/gen/dedup-json.ts";
import { formatSome } from "../format.ts";
import { Changed, NotThere } from "../review/api.ts";
import type { ReviewActions } from "./review-client.ts";

/** What a decision is about, as it was before. */
export interface Decided {
  readonly id: string;
  readonly title: string;
  readonly status: GroupSummary["status"];
  readonly accepted: boolean;
}

/** The place of a group that decisions change. */
export type Standing = Pick<GroupSummary, "status" | "accepted">;

export const VERDICTS = {
  accept: { status: "pending", accepted: true },
  reject: { status: "false_positive", accepted: false },
  ignore: { status: "ignored", accepted: false },
  reopen: { status: "pending", accepted: false },
} as const satisfies Readonly<Record<string, Standing>>;

export type Verdict = keyof typeof VERDICTS;

/** A step back. */
export interface Undo {
  /** What was done, for the reader. */
  readonly text: string;
  /** The group that it was done to; undefined for several. */
  readonly id: string | undefined;
  run(): Promise<void>;
}

interface AcceptedCopies {
  readonly undo: Undo;
  /** A sentence for the reader about groups that may be left; undefined when all were accepted. */
  readonly problem: string | undefined;
}

/** Undos kept; the oldest go first. */
const MAX_UNDOS = 200;
/** Groups in one request. */
const GROUPS_AT_ONCE = 1_000;

const DONE: Readonly<Record<Verdict, string>> = {
  accept: "In the delete plan",
  reject: "Marked as not duplicates",
  ignore: "Ignored",
  reopen: "To be reviewed again",
};

export interface Decisions {
  /** Resolves to what undoes it; rejects with a sentence for the reader and changes nothing. */
  decide(group: Decided, verdict: Verdict): Promise<Undo>;
  /**
   * Agrees to the present texts of a group that is accepted already. Resolves to whether one had
   * changed.
   */
  acceptAgain(group: Decided): Promise<boolean>;
  setPrimary(group: Decided, documentId: string, former: string): Promise<Undo>;
  /**
   * Accepts all exact copies; undefined when there are none. Rejects only where none was accepted:
   * what was accepted before a failure can be undone.
   */
  acceptCopies(): Promise<AcceptedCopies | undefined>;
  /**
   * Undoes one decision, by default the last; undefined when there is none, or it is undone
   * already. Rejects with a sentence for the reader; one that can never succeed is then forgotten.
   */
  undo(which?: Undo): Promise<Undo | undefined>;
}

export function createDecisions(actions: ReviewActions): Decisions {
  const undos: Undo[] = [];
  const done = (undo: Undo): Undo => {
    undos.push(undo);
    if (undos.length > MAX_UNDOS) undos.shift();
    return undo;
  };
  return {
    async decide(group, verdict) {
      const wanted = VERDICTS[verdict];
      await move(actions, group.id, group, wanted);
      return done({
        text: `${DONE[verdict]}: ${group.title}`,
        id: group.id,
        run: () => move(actions, group.id, wanted, group),
      });
    },
    acceptAgain: async ({ id }) => (await actions.accept([id])).includes(id),
    async setPrimary(group, documentId, former) {
      await actions.setPrimary(group.id, documentId);
      return done({
        text: `Another document of the group stays: ${group.title}`,
        id: group.id,
        run: () => actions.setPrimary(group.id, former),
      });
    },
    async acceptCopies() {
      const ids: string[] = [];
      let reason: string | undefined;
      try {
        for (let more = true; more;) {
          const some = await actions.acceptCopies();
          ids.push(...some.groupIds);
          more = some.more && some.groupIds.length > 0;
        }
      } catch (thrown) {
        if (ids.length === 0) throw thrown;
        reason = thrown instanceof Error ? thrown.message : String(thrown);
      }
      if (ids.length === 0) return undefined;
      const groups = formatSome(ids.length, "group");
      const undo = done({
        text: `${groups} of exact copies in the delete plan`,
        id: undefined,
        async run() {
          for (let at = 0; at < ids.length; at += GROUPS_AT_ONCE)
            await actions.withdraw(ids.slice(at, at + GROUPS_AT_ONCE));
        },
      });
      const problem =
        reason === undefined
          ? undefined
          : `${groups} ${ids.length === 1 ? "was" : "were"} accepted before it failed. Choose “Accept exact copies” again for the rest. ${reason}`;
      return { undo, problem };
    },
    async undo(which = undos.at(-1)) {
      if (which === undefined || !undos.includes(which)) return undefined;
      // It would restore a state that the later decision has replaced.
      if (hasLater(undos, which))
        throw new Error("The group was decided about again: undo that first.");
      const forget = (): void => void undos.splice(undos.indexOf(which), 1);
      try {
        await which.run();
      } catch (thrown) {
        // It would fail each time, and stand before all older ones.
        if (thrown instanceof NotThere || thrown instanceof Changed) forget();
        throw thrown;
      }
      forget();
      return which;
    },
  };
}

/** Whether a later decision is about the same group. */
function hasLater(undos: readonly Undo[], undo: Undo): boolean {
  return undo.id !== undefined && undos.findLast(({ id }) => id === undo.id) !== undo;
}

/** Brings a group from one standing to another. An accepted group is pending to the API. */
async function move(
  actions: ReviewActions,
  id: string,
  from: Standing,
  to: Standing,
): Promise<void> {
  if (from.status !== to.status) await actions.setStatus(id, to.status);
  if (to.accepted && !(from.accepted && from.status === to.status)) {
    if (!(await actions.accept([id])).includes(id))
      throw new Changed("The group was not accepted: it has changed. Load the list again.");
  } else if (!to.accepted && from.accepted && from.status === to.status)
    await actions.withdraw([id]);
}
