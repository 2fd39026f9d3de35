/** Tells which kinds of data are exported and which are hidden. */
import type { Scope } from "../../kernel/telemetry/types.ts";
import { piiFilterCategory } from "../catalogue/publishing.ts";
import type { PrivacyOptions } from "../options.ts";

/**
 * Keeps `svc.pii_filter.category` in the scope: 1 for each category that is exported, 0 for each
 * that is hidden. Ends with the disposal.
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
