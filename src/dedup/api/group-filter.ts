/** Which groups a request of the API asks for. */
import { GroupStatus } from "../../gen/steward/dedup/v1/groups_pb.ts";
import type { GroupFilter } from "../groups/index.ts";

const NOT_DELETED: ReadonlySet<GroupStatus> = new Set([
  GroupStatus.PENDING,
  GroupStatus.FALSE_POSITIVE,
  GroupStatus.IGNORED,
]);

/** What all lists of groups can be filtered by; without a status deleted groups are left out. */
export function groupFilterOf(request: {
  readonly minConfidence?: number | undefined;
  readonly maxConfidence?: number | undefined;
  readonly status: readonly GroupStatus[];
}): GroupFilter {
  const { minConfidence, maxConfidence, status } = request;
  return {
    minConfidence,
    maxConfidence,
    statuses: status.length === 0 ? NOT_DELETED : new Set(status),
  };
}
