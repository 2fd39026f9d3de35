/** Wraps a kind of job so that each run has a span, and an analysis the time of its stages. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { JobContext, JobType } from "../../kernel/jobs/types.ts";
import type { DedupReport } from "./report.ts";

export interface ObserveDeps {
  readonly clock: Pick<Clock, "monotonic">;
  readonly report: Pick<DedupReport, "span" | "stage">;
}

/** The stages of an analysis by its phases. */
const STAGES: Readonly<Record<string, string>> = {
  load: "load",
  sign: "signatures",
  join: "candidates",
  cover: "scoring",
  group: "grouping",
  write: "writing",
  finish: "finish",
};

export function observedJob<I, R>(
  { clock, report }: ObserveDeps,
  type: JobType<I, R>,
): JobType<I, R> {
  return {
    ...type,
    run(job) {
      const attributes = { "app.job.id": job.id, "app.job.type": type.type };
      return report.span("dedupe.worker.task", attributes, async () => {
        if (type.type !== "analysis") return await type.run(job);
        const stages = timeStages({ clock, report });
        try {
          return await type.run(withPhases(job, stages.enter));
        } finally {
          stages.end();
        }
      });
    },
  };
}

interface Stage {
  readonly name: string;
  readonly sinceMs: number;
  /** Ends its span. */
  readonly leave: () => void;
}

function timeStages({ clock, report }: ObserveDeps): {
  readonly enter: (phase: string, total: number | undefined) => void;
  readonly end: () => void;
} {
  const spent = new Map<string, number>();
  let present: Stage | undefined;
  const leave = (): void => {
    if (present === undefined) return;
    const { name, sinceMs } = present;
    present.leave();
    spent.set(name, (spent.get(name) ?? 0) + clock.monotonic() - sinceMs);
    present = undefined;
  };
  return {
    enter(phase, total) {
      leave();
      const name = STAGES[phase] ?? phase;
      const left = Promise.withResolvers<void>();
      if (name === "candidates")
        void report.span(
          "dedupe.analysis.build_lsh_index",
          { "index.size": total ?? 0 },
          () => left.promise,
        );
      present = { name, sinceMs: clock.monotonic(), leave: left.resolve };
    },
    // A stage may be entered several times; it is observed once a run.
    end() {
      leave();
      for (const [name, ms] of spent) report.stage(name, ms);
    },
  };
}

function withPhases<I>(
  job: JobContext<I>,
  entered: (phase: string, total: number | undefined) => void,
): JobContext<I> {
  return {
    id: job.id,
    input: job.input,
    signal: job.signal,
    phase(name, total) {
      entered(name, total);
      return job.phase(name, total);
    },
    commit: (change, cursor) => job.commit(change, cursor),
    resume: () => job.resume(),
    keepWhenCancelled: (result) => job.keepWhenCancelled(result),
    note: (kind, item) => job.note(kind, item),
    notes: () => job.notes(),
  };
}
