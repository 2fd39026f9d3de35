/** Checks whether archives can be reached, at most every ten seconds and never concurrently. */
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import type { Archive } from "../archives/archive.ts";
import { createDeadline } from "../../kernel/async/deadline.ts";
import { late, waitFor } from "../../kernel/async/wait.ts";

const CHECK_MS = 5_000;
const KEPT_MS = 10_000;

/** Class of failure by the rule of an archive's error; a class names no path. */
const classes: Readonly<Record<string, string>> = {
  ENOENT: "not found",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOTDIR: "not a folder",
  EISDIR: "not a file",
  ELOOP: "link loop",
  EIO: "input/output error",
  ESTALE: "stale file handle",
  transport: "connection failed",
  timeout: "timeout",
};

/** An archive that cannot be reached, with the class of the failure. */
export interface Unreachable {
  readonly archive: string;
  readonly failure: string;
}

/** Remembers how reachable archives are. */
export interface Reachability {
  /**
   * What is known, from memory; an archive that was checked more than ten seconds ago, or never, is
   * checked anew in the background.
   */
  known(archives: readonly Archive[]): readonly Unreachable[];
  /**
   * Class of failure of the first archive that cannot be reached; undefined when all can. Answers
   * within 5 s.
   */
  worst(archives: readonly Archive[]): Promise<string | undefined>;
}

interface Probe {
  /** Settled when the archive answered, however long that takes. */
  readonly answer: Promise<string | undefined>;
  readonly beganAtMs: number;
  done: boolean;
  /** Of the check before while it is not done. */
  outcome: string | undefined;
  endedAtMs: number;
}

/** Makes no check yet. */
export function createReachability(clock: Clock): Reachability {
  const probes = new Map<string, Probe>();
  const probeOf = (archive: Archive): Probe => {
    const last = probes.get(archive.name);
    // A check that hangs, say on a dead network mount, is not joined by a second one: each would
    // hold a thread.
    if (last !== undefined && (!last.done || clock.monotonic() - last.endedAtMs < KEPT_MS))
      return last;
    const probe: Probe = {
      answer: check(archive, clock),
      beganAtMs: clock.monotonic(),
      done: false,
      outcome: last?.outcome,
      endedAtMs: 0,
    };
    void probe.answer.then((outcome) => {
      probe.done = true;
      probe.outcome = outcome;
      probe.endedAtMs = clock.monotonic();
      return undefined;
    });
    probes.set(archive.name, probe);
    return probe;
  };
  return {
    known(archives) {
      return archives.flatMap((archive) => {
        const { done, outcome, beganAtMs } = probeOf(archive);
        // Until a check has ended, or takes too long, the one before it counts.
        const failure = !done && clock.monotonic() - beganAtMs >= CHECK_MS ? "timeout" : outcome;
        return failure === undefined ? [] : [{ archive: archive.name, failure }];
      });
    },
    async worst(archives) {
      const outcomes = await Promise.all(
        archives.map((archive) => outcomeOf(probeOf(archive), clock)),
      );
      return outcomes.find((outcome) => outcome !== undefined);
    },
  };
}

async function check(archive: Archive, clock: Clock): Promise<string | undefined> {
  using deadline = createDeadline(
    clock,
    CHECK_MS,
    undefined,
    () => new StewardError("deadline", `the archive did not answer within ${CHECK_MS} ms`),
  );
  try {
    await archive.check(deadline.signal);
    return undefined;
  } catch (error) {
    if (deadline.signal.aborted) return "timeout";
    const rule = error instanceof StewardError ? error.rule : undefined;
    return (rule === undefined ? undefined : classes[rule]) ?? "unreadable";
  }
}

async function outcomeOf(probe: Probe, clock: Clock): Promise<string | undefined> {
  if (probe.done) return probe.outcome;
  const outcome = await waitFor(probe.answer, { clock, timeoutMs: CHECK_MS });
  return outcome === late ? "timeout" : outcome;
}
