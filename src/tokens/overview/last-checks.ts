/** What the doctors of the mounts found last; each asks its platform at most once a minute. */
import type { Clock } from "../../kernel/base/clock.ts";
import type { Ids } from "../../kernel/base/ids.ts";
import { toStewardError } from "../../kernel/base/errors.ts";
import { withDeadline } from "../../kernel/async/deadline.ts";
import { waitFor } from "../../kernel/async/wait.ts";
import type { Check } from "../engine/doctor.ts";
import type { Mount } from "../vault/mounts/mounts.ts";

const FRESH_MS = 60_000;
/** Longest examination, and how long a reader waits for one. */
const LIMIT_MS = 15_000;
const WAIT_MS = 2_000;

export interface MountChecks {
  readonly atMs: number;
  readonly checks: readonly Check[];
}

interface Known {
  last: MountChecks | undefined;
  /** By the monotonic clock, since the wall clock may be set back. */
  freshUntilMs: number;
  running: Promise<void> | undefined;
}

export class LastChecks {
  readonly #clock: Clock;
  readonly #ids: Ids;
  /** By the uuid of the mount; mounts that are gone are forgotten. */
  readonly #known = new Map<string, Known>();

  constructor({ clock, ids }: { readonly clock: Clock; readonly ids: Ids }) {
    this.#clock = clock;
    this.#ids = ids;
  }

  /** Undefined until the first examination has ended. Never rejects. */
  async of(mount: Mount, signal: AbortSignal): Promise<MountChecks | undefined> {
    const known = this.#known.get(mount.uuid) ?? {
      last: undefined,
      freshUntilMs: 0,
      running: undefined,
    };
    this.#known.set(mount.uuid, known);
    const clock = this.#clock;
    if (known.last !== undefined && clock.monotonic() < known.freshUntilMs) return known.last;
    known.running ??= this.#examine(mount).then((checks) => {
      known.last = { atMs: clock.now(), checks };
      known.freshUntilMs = clock.monotonic() + FRESH_MS;
      known.running = undefined;
    });
    await waitFor(known.running, { clock, timeoutMs: WAIT_MS, signal }).catch(() => undefined);
    return known.last;
  }

  /** Forgets all mounts but these. */
  keep(mounts: readonly Mount[]): void {
    const kept = new Set(mounts.map(({ uuid }) => uuid));
    for (const uuid of this.#known.keys()) if (!kept.has(uuid)) this.#known.delete(uuid);
  }

  async #examine(mount: Mount): Promise<readonly Check[]> {
    try {
      const clock = this.#clock;
      const reason = (): Error => new Error("the examination took too long");
      const answer = await withDeadline({ clock, timeoutMs: LIMIT_MS, reason }, (signal) =>
        mount.backend.handle({
          id: this.#ids.uuid(),
          operation: "read",
          path: "doctor",
          data: {},
          mountPoint: mount.point,
          signal,
        }),
      );
      const data = answer?.data as { readonly checks?: readonly Check[] } | undefined;
      return data?.checks ?? [];
    } catch (error) {
      const detail = toStewardError(error).message;
      return [{ name: "config", ok: false, detail, remedy: "read the mount's doctor" }];
    }
  }
}
