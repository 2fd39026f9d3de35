/** What `/api/flows.json` and `/flows` of the demo say of the access policy. */
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import {
  removeTemporaryFolders,
  rest,
  startDaemon,
  temporaryFolder,
  type Daemon,
} from "./daemon.ts";

let daemon: Daemon;
const flows = async (query = ""): Promise<Record<string, any>> =>
  (await rest(daemon, "GET", `/api/flows.json${query}`)).json;

beforeAll(async () => {
  daemon = await startDaemon({
    args: ["-demo"],
    env: {
      STEWARD_GATEWAY__LISTEN: "127.0.0.1:0",
      STEWARD_STATE__DIRECTORY: temporaryFolder(),
      STEWARD_COLLECTORS__FLOWLOGS__INTERVAL: "5s",
      STEWARD_COLLECTORS__ACL__INTERVAL: "5s",
    },
  });
  await vi.waitFor(
    async () => {
      // Records of a window are read in slices, between which others are answered.
      const { rules, unexplained } = (await flows()).result;
      expect(Math.min(rules.length, unexplained.length)).toBeGreaterThan(0);
    },
    { timeout: 90_000, interval: 500 },
  );
});

afterAll(async () => {
  await daemon.stop();
  removeTemporaryFolders();
});

it("names the rules of the policy, those that permitted traffic, and traffic without a rule", async () => {
  const { policy, result, exercised } = await flows();
  expect(policy).toMatchObject({
    available: true,
    version: expect.stringMatching(/^[0-9a-f]{12}$/),
  });
  expect(policy.rules.map(({ index }: any) => index)).toEqual(
    policy.rules.map((_rule: unknown, at: number) => at),
  );
  expect(policy.rules[0]).toEqual({
    index: 0,
    kind: "acl",
    source: expect.stringMatching(/^src=group:\S+ dst=/),
  });
  for (const [at, rule] of exercised.entries()) {
    const { index, policy_version: version, counts } = rule;
    expect(rule).toMatchObject({ available: true, ...policy.rules[index] });
    expect(result.rules[at]).toEqual({ rule: index, policy_version: version, counts });
  }
  const labels = new Map<string, number>(
    result.verdicts.map(({ label, counts }: any) => [label, counts.flows]),
  );
  const permitted = (labels.get("permitted") ?? 0) + (labels.get("permitted_reverse") ?? 0);
  expect(permitted).toBe(exercised.reduce((sum: number, { counts }: any) => sum + counts.flows, 0));
  expect(labels.get("no_rule")).toBeGreaterThan(0);
  expect(result.unexplained[0]).toMatchObject({
    src: expect.any(String),
    transport: expect.stringMatching(/^\w+$/),
    counts: { flows: expect.any(Number) },
  });
});

it.each(["permitted", "no_rule"])("selects connections by the verdict %s", async (verdict) => {
  const { recent } = await flows(`?verdict=${verdict}&recent=1000`);
  expect(recent.length).toBeGreaterThan(0);
  for (const row of recent) {
    expect([row.verdict, row.rule >= 0]).toEqual([verdict, verdict === "permitted"]);
    expect(row.policy_version).toMatch(/^[0-9a-f]{12}$/);
    expect(row.traffic_type).not.toBe("physical");
  }
});

it("shows unexplained traffic and exercised rules on the page", async () => {
  const { text } = await rest(daemon, "GET", "/flows");
  expect(text).toContain("Unexplained");
  expect(text).toContain("Exercised rules");
  expect(text).toContain("src=group:");
  expect(text).toContain('href="?verdict=no_rule"');
});
