/** How an accepted body counts: at once, or after the ingress log has it. */
import type { Clock } from "../../kernel/base/clock.ts";
import { orAborted } from "../../kernel/async/wait.ts";
import type { IngressLog } from "../ingress/ingress-log.ts";
import type { Effect } from "../ingress/prepared-effects.ts";
import type { Received } from "../ingress/journal.ts";

export interface Intake {
  /** What an acknowledged body survives: `disk` a crash, `memory` none. */
  readonly durability: "disk" | "memory";
  /**
   * Resolves when the body may be acknowledged. Rejects with what the effect or the ingress log
   * throws, or with the signal's reason.
   */
  accept(
    received: Omit<Received, "acceptedMs">,
    effect: Effect,
    signal: AbortSignal,
  ): Promise<void>;
  /** Resolves when bodies may come; undefined: they may come at once. */
  readonly open: Promise<void> | undefined;
}

export function createIntake(clock: Pick<Clock, "now">, log: IngressLog | undefined): Intake {
  if (log === undefined)
    return {
      durability: "memory",
      open: undefined,
      accept: async (_received, effect, signal) => void (await effect(signal)),
    };
  return {
    durability: "disk",
    open: log.replayed,
    accept: (received, effect, signal) =>
      orAborted(log.append({ ...received, acceptedMs: clock.now() }, effect), signal),
  };
}
