/**
 * Stand-in while the tokens store cannot be used: 503 on every path below `/v1`, health included.
 */
import { Access } from "../gen/steward/options/v1/options_pb.ts";
import { EngineService } from "../gen/steward/tokens/v1/engine_service_pb.ts";
import { LogicalService } from "../gen/steward/tokens/v1/logical_pb.ts";
import { OverviewService } from "../gen/steward/tokens/v1/overview_service_pb.ts";
import { SystemService } from "../gen/steward/tokens/v1/system_pb.ts";
import type { StewardError } from "../kernel/base/errors.ts";
import { refuseService } from "../kernel/refusing-service.ts";
import type { Service } from "../kernel/service.ts";

/** Same route as the running service; bodies are not read. */
const ROUTE = {
  verb: "*",
  template: "/v1/{rest=**}",
  access: Access.SELF,
  dialect: "vault",
} as const;

/** Reads, writes, audits and creates nothing; in particular no root token. */
export function refuseTokens(refusal: StewardError): Service {
  return refuseService(
    "tokens",
    {
      descriptors: [LogicalService, EngineService, SystemService, OverviewService],
      routes: [ROUTE],
    },
    refusal,
  );
}
