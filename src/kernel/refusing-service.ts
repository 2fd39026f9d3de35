/**
 * Stands in for a service that failed to start: the same rpc services and routes, each of which
 * throws the same error.
 */
import type { DescMessage, DescService } from "@bufbuild/protobuf";
import type { StewardError } from "./base/errors.ts";
import type { BoundService, PlainRoute, Service, StreamHandler, UnaryHandler } from "./service.ts";

export interface RefusedParts {
  readonly descriptors: readonly DescService[];
  readonly routes: readonly Omit<PlainRoute, "handle">[];
}

export function refuseService(
  name: string,
  { descriptors, routes }: RefusedParts,
  refusal: StewardError,
): Service {
  return {
    name,
    rpc: descriptors.map((desc) => refuseRpc(desc, refusal)),
    plain: routes.map((route) => ({ ...route, handle: () => Promise.reject(refusal) })),
  };
}

function refuseRpc(desc: DescService, refusal: StewardError): BoundService {
  const unary: UnaryHandler<DescMessage, DescMessage> = () => Promise.reject(refusal);
  // eslint-disable-next-line require-yield
  const stream: StreamHandler<DescMessage, DescMessage> = async function* refuse() {
    throw refusal;
  };
  return {
    desc,
    handler: ({ methodKind }) => (methodKind === "server_streaming" ? stream : unary),
  };
}
