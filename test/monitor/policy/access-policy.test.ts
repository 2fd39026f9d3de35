import { afterEach, describe, expect, it, vi } from "vitest";
import type { KnownDevice } from "../../../src/monitor/enrich/types.ts";
import { createFlowDecoder } from "../../../src/monitor/flows/record.ts";
import { AccessPolicy } from "../../../src/monitor/policy/access-policy.ts";

const devices: Readonly<Record<string, Partial<KnownDevice>>> = {
  "100.64.0.1": { user: "ada@corp.test", addresses: ["100.64.0.1", "fd7a:115c:a1e0::1"] },
  "100.64.0.2": { user: "bob@corp.test" },
  "100.64.0.3": { user: "ada@corp.test", tags: ["tag:db"] },
  "100.64.0.4": { user: "Ada@corp.test" },
  "100.64.0.5": { user: "eve@elsewhere.test", external: true },
};
const ADA = "100.64.0.1:50000";
const BOB = "100.64.0.2:50000";
const DB = "100.64.0.3";
const ADAS_OTHER = "100.64.0.4:22";
const GUEST = "100.64.0.5:50000";
const UNKNOWN = "100.64.9.9:50000";

const cache = {
  byAddress: (address: string): KnownDevice | undefined => {
    const found = devices[address];
    return (
      found && {
        nodeId: address,
        id: address,
        hostname: address,
        name: address,
        user: "",
        os: "linux",
        tags: [],
        addresses: [address],
        external: false,
        ...found,
      }
    );
  },
};

type Section = "virtualTraffic" | "subnetTraffic" | "exitTraffic" | "physicalTraffic";

/** Verdict, rule and direction of a TCP connection under a policy. */
function judged(
  rules: object,
  [src, dst]: readonly [string, string],
  {
    section = "virtualTraffic",
    proto = 6,
    devices: known = cache,
  }: { section?: Section; proto?: number; devices?: typeof cache } = {},
): readonly [string, number, boolean] {
  const policy = new AccessPolicy();
  policy.set(JSON.stringify(rules), rules as Record<string, unknown>);
  const record = createFlowDecoder().decode({ nodeId: "n", [section]: [{ proto, src, dst }] }, 0);
  if ("refused" in record) throw new Error(record.refused.join());
  const [connection] = record.connections;
  if (connection === undefined) throw new Error("no connection");
  const { verdict, rule, reversed } = policy.judge(connection, known);
  return [verdict, rule, reversed];
}

const acl = (src: string[], dst: string[], more: object = {}) => ({
  acls: [{ action: "accept", src, dst, ...more }],
});
const ofGroup = (...members: string[]) => ({
  ...acl(["group:a"], ["*:*"]),
  groups: { "group:a": members },
});
const YES = ["permitted", 0, false];
const NO = ["no_rule", -1, false];
const MAYBE = ["undetermined", -1, false];
const TO_DB = [ADA, `${DB}:5432`] as const;

describe("a connection", () => {
  it.each([
    ["everything", acl(["*"], ["*:*"]), YES],
    ["its user", acl(["ADA@corp.test"], ["tag:db:5432"]), YES],
    ["another user", acl(["bob@corp.test"], ["tag:db:5432"]), NO],
    ["another tag", acl(["*"], ["tag:web:*"]), NO],
    ["its port in a range", acl(["*"], ["tag:db:80,5000-6000"]), YES],
    ["another port", acl(["*"], ["tag:db:443"]), NO],
    ["its protocol", acl(["*"], ["tag:db:*"], { proto: "tcp" }), YES],
    ["another protocol", acl(["*"], ["tag:db:*"], { proto: "udp" }), NO],
    ["an unknown protocol", acl(["*"], ["tag:db:*"], { proto: "warp" }), MAYBE],
    ["a word of the language", acl(["*"], ["tag:db:*"], { proto: "constructor" }), MAYBE],
    ["its group", { ...acl(["group:a"], ["*:*"]), groups: { "group:a": ["ada@corp.test"] } }, YES],
    ["a group without it", { ...acl(["group:a"], ["*:*"]), groups: { "group:a": [] } }, NO],
    ["a group of others", ofGroup("bob@corp.test", "eve@elsewhere.test"), NO],
    ["a group with its user in capitals", ofGroup("bob@corp.test", "ADA@Corp.Test"), YES],
    ["a group with a name of Headscale", ofGroup("bob@corp.test", "bob@"), MAYBE],
    ["a group with a group in it", ofGroup("bob@corp.test", "group:b"), MAYBE],
    ["a group of the identity provider", acl(["group:a"], ["*:*"]), MAYBE],
    ["members", acl(["autogroup:member"], ["*:*"]), YES],
    ["tagged devices", acl(["*"], ["autogroup:tagged:*"]), YES],
    ["tagged sources", acl(["autogroup:tagged"], ["*:5432"]), NO],
    ["a role", acl(["autogroup:admin"], ["*:*"]), MAYBE],
    ["a role with a word of the language", acl(["autogroup:toString"], ["*:*"]), MAYBE],
    ["the owner of a tagged device", acl(["*"], ["ada@corp.test:5432"]), NO],
    ["its address", acl(["100.64.0.1"], [`${DB}:*`]), YES],
    ["another address of its device", acl(["fd7a:115c:a1e0::1"], [`${DB}:*`]), YES],
    ["a network", acl(["100.64.0.0/24"], ["100.64.0.0/16:*"]), YES],
    ["another network", acl(["100.64.1.0/24"], ["*:*"]), NO],
    ["a named host", { ...acl(["*"], ["base:*"]), hosts: { base: `${DB}/32` } }, YES],
    ["a name it does not define", acl(["*"], ["base:*"]), MAYBE],
    ["a posture", acl(["*"], ["*:*"], { srcPosture: ["posture:a"] }), MAYBE],
    ["a default posture", { ...acl(["*"], ["*:*"]), defaultSrcPosture: ["posture:a"] }, MAYBE],
    ["the former spelling", { ACLs: [{ Action: "accept", Users: ["*"], Ports: ["*:*"] }] }, YES],
    ["no rules", { acls: [] }, NO],
    ["no grants", { grants: [] }, NO],
    ["empty rules beside absent grants", { acls: [], grants: null }, NO],
    ["empty grants beside absent rules", { ACLs: null, Grants: [] }, NO],
    ["neither rules nor grants", { groups: { "group:a": [] } }, YES],
    ["an empty policy", {}, YES],
    ["rules and grants of null", { acls: null, grants: null }, YES],
    ["a grant", { grants: [{ src: ["*"], dst: ["tag:db"], ip: ["tcp:5432"] }] }, YES],
    ["a grant of other ports", { grants: [{ src: ["*"], dst: ["*"], ip: ["443", "udp:*"] }] }, NO],
    ["a grant of an application", { grants: [{ src: ["*"], dst: ["*"], app: {} }] }, NO],
    ["broken rules", { acls: [null, 7, { action: "accept", src: 1, dst: {} }] }, NO],
  ])("is compared with %s", (_rule, rules, expected) => {
    expect(judged(rules, TO_DB)).toEqual(expected);
  });

  it("has the index of its rule, grants after acls", () => {
    const rules = {
      acls: [{ action: "accept", src: ["bob@corp.test"], dst: ["*:*"] }],
      grants: [
        { src: ["nobody@corp.test"], dst: ["*"], ip: ["*"] },
        { src: ["ada@corp.test"], dst: ["*"], ip: ["*"] },
      ],
    };
    expect(judged(rules, TO_DB)).toEqual(["permitted", 2, false]);
  });

  it("is permitted by a rule that is shown when the policy has neither rules nor grants", () => {
    const policy = new AccessPolicy();
    policy.set("{}", {});
    expect(policy.rulesOf(policy.version)).toEqual([
      { index: 0, kind: "acl", source: "src=* dst=*:*" },
    ]);
  });

  it("is permitted in reverse when its answer is what the rule permits", () => {
    const rules = acl(["bob@corp.test"], ["tag:db:5432"]);
    expect(judged(rules, [`${DB}:5432`, BOB])).toEqual(["permitted", 0, true]);
  });

  it("is undetermined when the opposite direction may be permitted", () => {
    const rules = acl(["group:a"], ["ada@corp.test:50000"]);
    expect(judged(rules, [ADA, BOB])).toEqual(MAYBE);
    expect(judged(acl(["group:a"], ["ada@corp.test:1"]), [ADA, BOB])).toEqual(NO);
  });

  it("is compared with networks of IPv6 and of every length", () => {
    for (const network of ["0.0.0.0/0", "fd7a:115c:a1e0::/48", "100.64.0.0/10", "100.64.0.1/32"])
      expect(judged(acl([network], ["tag:db:5432"]), TO_DB)).toEqual(YES);
    expect(judged(acl(["fd7a:115c:a1e0::2"], ["tag:db:5432"]), TO_DB)).toEqual(NO);
    expect(judged(acl(["*"], ["200.1.0.0/16:443"]), [ADA, "200.1.2.3:443"])).toEqual(YES);
  });

  it.each([
    ["devices of one user", [ADA, ADAS_OTHER], YES],
    ["devices of two users", [BOB, ADAS_OTHER], NO],
    ["a device that is not known", [UNKNOWN, ADAS_OTHER], MAYBE],
    ["a tagged device", [ADA, `${DB}:22`], NO],
  ] as const)("between %s is compared with autogroup:self", (_ends, ends, expected) => {
    expect(judged(acl(["autogroup:member"], ["autogroup:self:22"]), ends)).toEqual(expected);
  });

  it("of a device that is not known may be a group's, but of an empty one", () => {
    expect(judged(ofGroup("ada@corp.test"), [UNKNOWN, `${DB}:1`])).toEqual(MAYBE);
    expect(judged(ofGroup(), [UNKNOWN, `${DB}:1`])).toEqual(NO);
    expect(judged(ofGroup("ada@corp.test"), [`${DB}:1`, BOB])).toEqual(NO);
  });

  it("of a device that is not known, or shared in, may be a member's", () => {
    const rules = acl(["autogroup:member"], ["*:*"]);
    expect(judged(rules, [UNKNOWN, `${DB}:1`])).toEqual(MAYBE);
    expect(judged(rules, [GUEST, `${DB}:1`])).toEqual(MAYBE);
  });

  it("behind a subnet router is selected by address only", () => {
    const subnet = { section: "subnetTraffic" } as const;
    const ends = [ADA, "10.1.2.3:22"] as const;
    expect(judged(acl(["*"], ["10.1.0.0/16:22"]), ends, subnet)).toEqual(YES);
    expect(judged(acl(["*"], ["autogroup:member:22"]), ends, subnet)).toEqual(NO);
  });

  it("to an exit node is compared with the internet", () => {
    const exit = { section: "exitTraffic" } as const;
    for (const dst of ["203.0.113.7:443", ""]) {
      const ends = [ADA, dst] as const;
      expect(judged(acl(["*"], ["autogroup:internet:*"]), ends, exit)[0]).toBe("permitted");
      expect(judged(acl(["*"], ["tag:db:*"]), ends, exit)).toEqual(NO);
    }
  });

  it("that is physical is not compared", () => {
    expect(judged(acl(["*"], ["*:*"]), TO_DB, { section: "physicalTraffic" })).toEqual([
      "",
      -1,
      false,
    ]);
  });

  it("without ports is compared by its ends; a protocol that no rule names is not known", () => {
    const rules = acl(["*"], ["tag:db:443"]);
    expect(judged(rules, TO_DB, { proto: 1 })).toEqual(YES);
    expect(judged(rules, TO_DB, { proto: 47 })).toEqual(MAYBE);
  });
});

describe("a large group", () => {
  const MEMBERS = 1_000;
  const RULES = 200;
  const grouped = (members: number, rules: number) => ({
    groups: { "group:a": Array.from({ length: members }, (_, at) => `${at}@corp.test`) },
    acls: Array.from({ length: rules }, (_, at) => ({
      action: "accept",
      src: ["group:a"],
      dst: [`tag:${at}:443`, "group:a:22"],
    })),
  });
  afterEach(() => void vi.restoreAllMocks());

  /** How often the users of both ends are read to judge their first connection. */
  function readsOf(rules: object): number {
    let reads = 0;
    const counted = (address: string): KnownDevice | undefined => {
      const found = cache.byAddress(address);
      return (
        found &&
        Object.defineProperty({ ...found }, "user", { get: () => ((reads += 1), found.user) })
      );
    };
    expect(judged(rules, [ADA, BOB], { devices: { byAddress: counted } })).toEqual(NO);
    return reads;
  }

  it("costs a connection no look at a user for each member or rule", () => {
    const few = readsOf(grouped(1, 1));
    expect(few).toBeGreaterThan(0);
    expect(readsOf(grouped(MEMBERS, RULES))).toBe(few);
  });

  it("is prepared once, whatever the number of rules that name it", () => {
    const lowered = vi.spyOn(String.prototype, "toLowerCase");
    const callsOf = (rules: number): number => {
      const policy = new AccessPolicy();
      const before = lowered.mock.calls.length;
      policy.set("text", grouped(MEMBERS, rules));
      return lowered.mock.calls.length - before;
    };
    const one = callsOf(1);
    expect(one).toBeGreaterThanOrEqual(MEMBERS);
    expect(callsOf(RULES)).toBeLessThan(one + MEMBERS * RULES * 0.1);
  });
});

describe("the policy", () => {
  const rules = acl(["*"], ["*:*"]);
  const set = (policy: AccessPolicy, number: number): string => {
    policy.set(`// ${number}`, rules);
    return policy.version;
  };

  it("remembers sixteen versions, the newest use last", () => {
    const policy = new AccessPolicy();
    const versions = Array.from({ length: 16 }, (_, at) => set(policy, at));
    set(policy, 0);
    set(policy, 16);
    expect(policy.rulesOf(versions[0] ?? "")).toHaveLength(1);
    expect(policy.rulesOf(versions[1] ?? "")).toBeUndefined();
    expect(policy.rulesOf(versions[2] ?? "")).toEqual([
      { index: 0, kind: "acl", source: "src=* dst=*:*" },
    ]);
  });

  it("stays with an error when the newest cannot be parsed, and goes when there is none", () => {
    const policy = new AccessPolicy();
    const version = set(policy, 1);
    policy.set("{", undefined);
    expect([policy.version, policy.error]).toEqual([version, "the newest policy cannot be parsed"]);
    policy.clear();
    expect([policy.version, policy.error]).toEqual(["", undefined]);
  });

  it("is not compared beyond a thousand rules", () => {
    const policy = new AccessPolicy();
    const [rule] = rules.acls;
    policy.set("many", { acls: Array.from({ length: 1_001 }, () => rule) });
    expect([policy.version, policy.error]).toEqual([
      "",
      expect.stringMatching(/more than 1000 rules/),
    ]);
  });
});
