/** Scores the pairs of components: a line for each, in order. */
import { scoresAt } from "../../../workers/cover/score-columns.ts";
import { verify } from "../../../workers/tasks.ts";
import type { VerifyInput } from "../../../workers/tasks/verify.ts";
import type { Pool } from "../../kernel/pool/types.ts";
import { coverParametersOf } from "../analysis/parameters.ts";
import type { CoverParameters } from "../analysis/parameters.ts";
import { createSharedTexts } from "../analysis/shared-texts.ts";
import type { Component } from "./components.ts";

/** What both modes work with. */
export interface VerifyDeps {
  readonly parameters: CoverParameters;
  readonly pool: Pool;
  readonly signal: AbortSignal;
}

/** Pairs of one task. */
const TASK_PAIRS = 1_024;

let runs = 0;

/** The lines of a batch, and the line that ends each component. */
export async function* scorePairs(
  batch: readonly Component[],
  deps: VerifyDeps,
): AsyncGenerator<string> {
  for (const component of batch) {
    let pair = 0;
    for await (const { scores } of deps.pool.map(verify, tasks(component, deps), {
      signal: deps.signal,
    })) {
      const lines: string[] = [];
      for (let at = 0; at < scores.confidence.length; at += 1, pair += 1) {
        const own = scoresAt(scores, at);
        lines.push(
          JSON.stringify({
            component: component.name,
            a: component.ids[component.ends[2 * pair] ?? 0],
            b: component.ids[component.ends[2 * pair + 1] ?? 0],
            ...own,
            passes: !Number.isNaN(own.confidence),
          }),
          "\n",
        );
      }
      yield lines.join("");
    }
    yield `${JSON.stringify({ end: component.name, pairs: pair })}\n`;
  }
}

async function* tasks(
  { texts, ends, equal }: Component,
  { parameters }: VerifyDeps,
): AsyncGenerator<VerifyInput> {
  const shared = createSharedTexts((wanted) => wanted.map((text) => texts[text]));
  const runId = `pairs.${process.pid}.${(runs += 1)}`;
  for (let from = 0; from < equal.length; from += TASK_PAIRS) {
    const own = ends.subarray(2 * from, 2 * (from + TASK_PAIRS));
    const wanted = [...new Set(own)];
    const placeOf = new Map(wanted.map((text, place) => [text, place]));
    const places = own.map((text) => placeOf.get(text) ?? 0);
    yield {
      runId,
      a: places.filter((_, i) => i % 2 === 0),
      b: places.filter((_, i) => i % 2 === 1),
      texts: await shared.share(wanted),
      parameters: coverParametersOf(parameters),
    };
  }
}
