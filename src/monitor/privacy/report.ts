/** Exports which data categories are hidden. */
import type { Scope } from "../../kernel/telemetry/types.ts";
import { piiFilterCategory } from "../catalogue/publishing.ts";
import type { PrivacyOptions } from "../options.ts";

/**
 * Sets `svc.pii_filter.category` until disposed: 1 for an exported category, 0 for a hidden one.
 */
export function reportPrivacy(
  scope: Pick<Scope, "observe" | "gauge">,
  options: PrivacyOptions,
): Disposable {
  const categories = Object.entries(options);
  return scope.observe(() => {
    for (const [category, shown] of categories)
      scope.gauge(piiFilterCategory, Number(shown), { category });
  });
}
