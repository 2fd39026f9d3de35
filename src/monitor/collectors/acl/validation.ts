/** Validates the policy through the control plane. A failed validation does not fail the run. */
import { defineOperation } from "../../capability/operation.ts";
import {
  aclValidationErrors,
  aclValidationOk,
  aclValidationTestFailures,
  aclValidationWarnings,
} from "../../catalogue/acl.ts";
import { aclValidationIssueRecord } from "../../catalogue/records.ts";
import type { PolicyFindings } from "../../providers/model.ts";
import type { CollectorDeps, Tick } from "../collector.ts";

export const validatePolicyOperation = defineOperation("validateAndTestPolicyFile");

/** Reports findings as metrics and a log record. Rejects only with the signal's reason. */
export async function validatePolicy(
  text: string,
  { provider, scope }: Pick<CollectorDeps, "provider" | "scope">,
  tick: Tick,
): Promise<void> {
  const findings = await askFindings(text, provider, tick);
  if (findings === undefined) return;
  tick.sweep.gauge(aclValidationOk, Number(findings.ok), {});
  const kinds = [
    ["error", aclValidationErrors, findings.errors],
    ["warning", aclValidationWarnings, findings.warnings],
    ["test_failure", aclValidationTestFailures, findings.testFailures],
  ] as const;
  for (const [kind, row, found] of kinds) {
    tick.sweep.gauge(row, found.length, {});
    // Finding texts name people and the record's body is not declared free text, so only the count
    // is logged.
    if (found.length > 0)
      scope.log(
        aclValidationIssueRecord,
        `the policy's validation found issues of kind ${kind}: ${found.length}`,
        { "vpn.acl.validation.kind": kind },
      );
  }
}

async function askFindings(
  text: string,
  provider: CollectorDeps["provider"],
  tick: Tick,
): Promise<PolicyFindings | undefined> {
  try {
    return await tick.call(validatePolicyOperation, () =>
      provider.validatePolicy(text, tick.signal),
    );
  } catch {
    // `call` has recorded the failure for the capability matrix.
    tick.signal.throwIfAborted();
    return undefined;
  }
}
