import { describe, expect, it } from "vitest";
import { policyParts } from "../../../../gateway/web/flows/policy.ts";
import type { FlowReport } from "../../../../src/gen/flows-json.ts";
import { renderHtml } from "../render-html.ts";

const counts = { flows: 3, tx_bytes: 1, rx_bytes: 1, tx_packets: 1, rx_packets: 1 };
const row = { src: "a", dst: "b", transport: "tcp", port: 22, counts };
const rule = { index: 0, available: false, counts };

function shown(
  policy: Partial<FlowReport["policy"]>,
  found: {
    readonly unexplained?: readonly unknown[];
    readonly verdicts?: readonly unknown[];
    readonly exercised?: readonly unknown[];
  } = {},
): string {
  const { unexplained = [], verdicts = [], exercised = [] } = found;
  const report = {
    policy: { available: false, rules: [], ...policy },
    result: { unexplained, verdicts },
    exercised,
  } as unknown as FlowReport;
  return renderHtml(policyParts(report))
    .replaceAll(/<svg.*?<\/svg>/gs, "")
    .replaceAll(/<[^>]*>/g, " ")
    .replaceAll(/\s+/g, " ")
    .trim();
}

describe("what /flows says of the access policy", () => {
  it("is nothing without a policy", () => {
    expect(shown({})).toBe("");
  });

  it("is only the reason while traffic is not compared with it", () => {
    expect(shown({ error: "it has too many rules" })).toBe(
      "Traffic is not compared with the access policy. it has too many rules",
    );
  });

  it("is also what was found before", () => {
    const before = { unexplained: [row], exercised: [rule] };
    const text = shown({ error: "it has too many rules" }, before);
    expect(text).toMatch(/^Traffic is not compared .* Unexplained .*\/tcp.* Exercised rules .*/);
  });

  it("is that no connection was without a rule, or how many may have been", () => {
    const none = shown({ available: true });
    expect(none).toContain("Unexplained");
    expect(none).toContain("None.");
    expect(none).toContain("No rule permitted traffic.");
    const verdicts = [
      { label: "permitted", counts },
      { label: "undetermined", counts },
    ];
    expect(shown({ available: true }, { verdicts })).toContain(
      "None, but 3 connections may be: rules depend on what Steward does not know.",
    );
  });

  it("is that an older version is compared while the newest cannot be read", () => {
    const text = shown({ available: true, error: "the newest policy cannot be parsed" });
    expect(text).toContain("The access policy is not current. the newest policy cannot be parsed");
  });
});
