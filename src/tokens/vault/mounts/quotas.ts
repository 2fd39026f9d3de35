/** Remaining API calls of each installation, as of its last mint: for metrics and the overview. */
import type { Clock } from "../../../kernel/base/clock.ts";
import type { Quota } from "../../logical/types.ts";

/** Quotas are by the hour: an older answer says nothing. */
const KEPT_MS = 3_600_000;
/** The oldest make way. */
const MAX_QUOTAS = 200;

export interface MountQuota extends Quota {
  readonly mount: string;
  /** Milliseconds since 1970. */
  readonly atMs: number;
}

export class Quotas {
  readonly #clock: Pick<Clock, "now">;
  /** In the order of the answers. */
  readonly #known = new Map<string, MountQuota>();

  constructor(clock: Pick<Clock, "now">) {
    this.#clock = clock;
  }

  note(mount: string, quota: Quota): void {
    const key = `${mount}\0${quota.installationId}`;
    this.#known.delete(key);
    this.#known.set(key, { ...quota, mount, atMs: this.#clock.now() });
    for (const oldest of this.#known.keys()) {
      if (this.#known.size <= MAX_QUOTAS) break;
      this.#known.delete(oldest);
    }
  }

  /** Those of the last hour, by mount and installation. */
  all(): readonly MountQuota[] {
    const oldestMs = this.#clock.now() - KEPT_MS;
    return [...this.#known.values()]
      .filter(({ atMs }) => atMs >= oldestMs)
      .toSorted(
        (left, right) =>
          Number(left.mount > right.mount) - Number(left.mount < right.mount) ||
          Number(left.installationId) - Number(right.installationId),
      );
  }
}
