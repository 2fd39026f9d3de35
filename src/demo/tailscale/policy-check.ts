/** The vendor's policy validation: syntax, the policy's own tests, unknown groups. */
import { parse, type ParseError } from "jsonc-parser";

/** The answer's body; empty when nothing was found. */
export interface Findings {
  readonly message?: string;
  readonly data?: readonly {
    readonly user: string;
    readonly errors?: readonly string[];
    readonly warnings?: readonly string[];
  }[];
}

interface Rule {
  readonly src: readonly string[];
  readonly dst: readonly string[];
}

interface PolicyTest {
  readonly src: string;
  readonly accept: readonly string[];
  readonly deny: readonly string[];
}

type Members = Readonly<Record<string, unknown>>;

/** HuJSON to a value; undefined when it is no object. */
export function parsePolicy(text: string): Members | undefined {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  return errors.length > 0 || value === null || typeof value !== "object"
    ? undefined
    : (value as Members);
}

/**
 * `text` is a hypothetical policy, or a list of tests for the policy in force. Undefined when it
 * does not parse.
 */
export function validatePolicy(text: string, inForce: string): Findings | undefined {
  const given = parsePolicy(text);
  if (given === undefined) return undefined;
  const policy = Array.isArray(given) ? (parsePolicy(inForce) ?? {}) : given;
  const failures = testsOf(Array.isArray(given) ? given : given["tests"]).flatMap((test) => {
    const errors = [
      ...test.accept.flatMap((to) => judged(policy, test.src, to, true)),
      ...test.deny.flatMap((to) => judged(policy, test.src, to, false)),
    ];
    return errors.length === 0 ? [] : [{ user: test.src, errors }];
  });
  if (failures.length > 0) return { message: "test(s) failed", data: failures };
  const unknown = unknownGroups(policy);
  return unknown.length === 0
    ? {}
    : {
        message: "warning(s) found",
        data: unknown.map((user) => ({
          user,
          warnings: [
            "group is not syncing from SCIM and will be ignored by rules in the policy file",
          ],
        })),
      };
}

function judged(policy: Members, from: string, to: string, wanted: boolean): string[] {
  const word = (accepted: boolean): string => (accepted ? "Accept" : "Drop");
  const got = rulesOf(policy).some(
    ({ src, dst }) =>
      src.some((each) => reaches(policy, each, from)) && dst.some((each) => opensTo(each, to)),
  );
  return got === wanted
    ? []
    : [`address ${JSON.stringify(to)}: want: ${word(wanted)}, got: ${word(got)}`];
}

function rulesOf(policy: Members): readonly Rule[] {
  const grants = objects(policy["grants"]).map((grant) => ({
    src: texts(grant["src"]),
    dst: texts(grant["dst"]).flatMap((target) =>
      texts(grant["ip"]).map((ip) => `${target}:${ip.replace(/^[a-z]+:/, "")}`),
    ),
  }));
  return [
    ...objects(policy["acls"])
      .filter(({ action }) => action === "accept")
      .map((rule) => ({ src: texts(rule["src"]), dst: texts(rule["dst"]) })),
    ...grants,
  ];
}

function reaches(policy: Members, source: string, from: string): boolean {
  if (source === "*" || source === from) return true;
  if (source === "autogroup:member") return from.includes("@");
  return source.startsWith("group:") && texts(groupsOf(policy)[source]).includes(from);
}

function opensTo(rule: string, to: string): boolean {
  const [ruleHost, rulePorts] = split(rule);
  const [host, port] = split(to);
  const ports = rulePorts.split(",").some((range) => {
    const [low = "", high = low] = range.split("-");
    return range === "*" || (Number(port) >= Number(low) && Number(port) <= Number(high));
  });
  return (ruleHost === "*" || ruleHost === host) && ports;
}

function split(target: string): readonly [host: string, ports: string] {
  const colon = target.lastIndexOf(":");
  return [target.slice(0, colon), target.slice(colon + 1)];
}

function unknownGroups(policy: Members): readonly string[] {
  const used = rulesOf(policy)
    .flatMap(({ src }) => src)
    .filter((source) => source.startsWith("group:"));
  return [...new Set(used)].filter((group) => !(group in groupsOf(policy)));
}

function groupsOf(policy: Members): Members {
  const groups = policy["groups"];
  return groups !== null && typeof groups === "object" ? (groups as Members) : {};
}

function testsOf(value: unknown): readonly PolicyTest[] {
  return objects(value).map((test) => ({
    src: typeof test["src"] === "string" ? test["src"] : "",
    accept: texts(test["accept"]),
    deny: texts(test["deny"]),
  }));
}

function objects(value: unknown): readonly Members[] {
  return Array.isArray(value)
    ? value.filter((each): each is Members => each !== null && typeof each === "object")
    : [];
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value)
    ? value.filter((each): each is string => typeof each === "string")
    : [];
}
