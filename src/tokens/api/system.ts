/** SystemService: reports without authentication whether tokens can be minted. */
import { SystemService } from "../../gen/steward/tokens/v1/system_pb.ts";
import { bindService, type BoundService } from "../../kernel/service.ts";
import { carriesLiveToken } from "../vault/core/admission.ts";
import type { Core } from "../vault/core/types.ts";
import type { StatusDeps } from "../vault/system/status.ts";

export function systemHandlers(
  { seal, clock, version, cluster }: StatusDeps,
  core: Pick<Core, "isLive">,
): BoundService {
  const service = bindService(SystemService, {
    getHealth() {
      const { initialized, sealed } = seal.status();
      return {
        initialized,
        sealed,
        standby: false,
        serverTimeUtc: BigInt(Math.floor(clock.now() / 1000)),
        version,
        clusterName: sealed ? "" : cluster().name,
        clusterId: sealed ? "" : cluster().id,
        replicationPerformanceMode: "disabled",
        replicationDrMode: "disabled",
      };
    },
    getSealStatus() {
      const { initialized, sealed, type, threshold, shares, progress, nonce } = seal.status();
      return {
        type,
        initialized,
        sealed,
        t: threshold,
        n: shares,
        progress,
        nonce,
        version,
        storageType: "lmdb",
        clusterName: sealed ? "" : cluster().name,
        clusterId: sealed ? "" : cluster().id,
      };
    },
  });
  return { ...service, hasCredential: (headers) => carriesLiveToken(core, headers) };
}
