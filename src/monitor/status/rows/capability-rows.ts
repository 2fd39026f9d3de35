/** The capability matrix in the status. */
import { create } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  CapabilityOperationSchema,
  CapabilitySchema,
  InactiveReason,
  OperationState,
  ScopeStatus,
  type Capability,
} from "../../../gen/steward/monitor/v1/collection_pb.ts";
import type { CapabilityRow } from "../../capability/matrix.ts";
import type { ApiState } from "../../capability/operation.ts";

const states: Readonly<Record<ApiState, OperationState>> = {
  unknown: OperationState.UNKNOWN,
  disabled: OperationState.DISABLED,
  supported: OperationState.SUPPORTED,
  transient_failure: OperationState.TRANSIENT_FAILURE,
  request_rejected: OperationState.REQUEST_REJECTED,
  scope_denied: OperationState.SCOPE_DENIED,
  credential_rejected: OperationState.CREDENTIAL_REJECTED,
};
const scopeStatuses: Readonly<Record<CapabilityRow["scopeStatus"], ScopeStatus>> = {
  unknown: ScopeStatus.UNKNOWN,
  not_applicable: ScopeStatus.NOT_APPLICABLE,
  satisfied: ScopeStatus.SATISFIED,
  insufficient: ScopeStatus.INSUFFICIENT,
};
const reasons: Readonly<Record<NonNullable<CapabilityRow["reason"]>, InactiveReason>> = {
  provider_unsupported: InactiveReason.PROVIDER_UNSUPPORTED,
  config_disabled: InactiveReason.CONFIG_DISABLED,
  not_registered: InactiveReason.NOT_REGISTERED,
};

/** Missing scopes are listed only if the credential's scopes are insufficient. */
export function capabilityOf(row: CapabilityRow): Capability {
  const {
    collector,
    subrequest = "",
    capability,
    configEnabled,
    providerSupported,
    active,
    reason,
    actionable,
    source = "",
    lastProbeMs,
  } = row;
  return create(CapabilitySchema, {
    collector,
    subrequest,
    capability,
    configEnabled,
    providerSupported,
    active,
    actionable,
    source,
    requiredScopes: [...row.requiredScopes],
    missingScopes: row.scopeStatus === "insufficient" ? [...row.missingScopes] : [],
    reason: reason === undefined ? InactiveReason.UNSPECIFIED : reasons[reason],
    scopeStatus: scopeStatuses[row.scopeStatus],
    state: states[row.state],
    ...(lastProbeMs === undefined ? {} : { lastProbe: timestampFromMs(lastProbeMs) }),
    operations: row.operations.map(({ operation, state, lastProbeMs: atMs }) =>
      create(CapabilityOperationSchema, {
        operation,
        state: states[state],
        lastProbe: timestampFromMs(atMs),
      }),
    ),
  });
}
