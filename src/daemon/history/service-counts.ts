/** Counts of now of the document and tokens services. */
import { archiveFacts, tokenFacts } from "../pages/landing-page.ts";
import type { HostedDedup } from "../services/dedup.ts";
import type { HostedTokens } from "../services/tokens.ts";
import type { Counts } from "./count-history.ts";

/** Never rejects: what is off, sealed or does not answer is undefined. */
export async function serviceCounts(
  dedup: Pick<HostedDedup, "current"> | undefined,
  tokens: Pick<HostedTokens, "current"> | undefined,
): Promise<Counts> {
  const documents = dedup?.current();
  const vault = tokens?.current();
  const archive = documents && (await archiveFacts(documents, new AbortController().signal));
  return {
    documents: archive?.documents,
    groups: archive?.groups,
    leases: vault && tokenFacts(vault).leases,
  };
}
