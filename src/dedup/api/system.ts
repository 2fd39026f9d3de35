/** Liveness and readiness over the API. */
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { SystemService } from "../../gen/steward/dedup/v1/system_pb.ts";
import type { Clock } from "../../kernel/base/clock.ts";
import { StewardError } from "../../kernel/base/errors.ts";
import { bindService } from "../../kernel/service.ts";
import type { BoundService } from "../../kernel/service.ts";
import type { Env } from "../../kernel/state/types.ts";
import type { Archive } from "../archives/archive.ts";
import type { Reachability } from "./reachability.ts";

export interface SystemDeps {
  readonly clock: Clock;
  /** The environments without which the document service cannot work. */
  readonly envs: readonly Env[];
  readonly archives: () => readonly Archive[];
  readonly reachability: Reachability;
  /** The process runs on embedded simulators. */
  readonly demo: boolean;
  /** Why the service works with none of them. */
  readonly refusal?: string;
}

/** One check as the API shows it: what is fine has no error. */
interface ShownCheck {
  readonly status: "ok" | "error";
  readonly error?: string;
}

/** GetHealth and GetReadiness. */
export function systemHandlers(deps: SystemDeps): BoundService {
  const { reachability } = deps;
  return bindService(SystemService, {
    getHealth: () => ({
      data: { status: "ok", timestamp: timestampFromMs(deps.clock.now()), demo: deps.demo },
    }),
    async getReadiness() {
      const checks = {
        database: shown(deps.refusal ?? storeFailure(deps.envs)),
        paperless: shown(await reachability.worst(deps.archives())),
      };
      if (checks.database.status === "ok" && checks.paperless.status === "ok")
        return { data: { status: "ready", checks } };
      const parts = Object.entries(checks)
        .filter(([, check]) => check.status === "error")
        .map(([name, check]) => `${name}: ${check.error ?? "error"}`);
      throw new StewardError("not_ready", `not ready: ${parts.join(", ")}`, { facts: checks });
    },
  });
}

function shown(error: string | undefined): ShownCheck {
  return error === undefined ? { status: "ok" } : { status: "error", error };
}

function storeFailure(envs: readonly Env[]): string | undefined {
  try {
    for (const env of envs) {
      const { healthy, reason } = env.status();
      if (!healthy) return reason ?? "unhealthy";
      env.read(() => undefined);
    }
    return undefined;
  } catch {
    return "unreadable";
  }
}
