/** SystemService: whether tokens can be minted, without a token. */
import { SystemService } from "../../gen/steward/tokens/v1/system_pb.ts";
import { bindService, type BoundService } from "../../kernel/service.ts";
import type { StatusDeps } from "../vault/system/status.ts";

/** The handlers. */
export function systemHandlers({ seal, clock, version, cluster }: StatusDeps): BoundService {
  return bindService(SystemService, {
    getHealth() {
      const { initialized, sealed } = seal.status();
      return { initialized, sealed, standby: false, serverTimeUtc: BigInt(Math.floor(clock.now() / 1000)), version, clusterName: sealed ? "" : cluster().name, clusterId: sealed ? "" : cluster().id, replicationPerformanceMode: "disabled", replicationDrMode: "disabled" };
    },
    getSealStatus() {
      const { initialized, sealed, type } = seal.status();
      return { type, initialized, sealed, t: 1, n: 1, progress: 0, version, storageType: "lmdb", clusterName: sealed ? "" : cluster().name, clusterId: sealed ? "" : cluster().id };
    },
  });
}
