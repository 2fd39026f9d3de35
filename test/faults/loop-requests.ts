/**
 * Requests made to keep a server's event loop busy: each is within the size limits, and costs as
 * much as it can.
 */
import { gzipSync } from "node:zlib";

const MIB = 1024 * 1024;
/**
 * Limits of bodies as shipped: the documents' API and rpc, the Vault API, and its paths without a
 * token.
 */
const REST_BYTES = 4 * MIB;
const VAULT_BYTES = 32 * MIB;
const OPEN_BYTES = 64 * 1024;

/** One request over HTTP/1.1. `token`: sent with the root token. */
export interface NastyRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly token: boolean;
  readonly body: Uint8Array;
}

/** A request by name; made when it is needed, since together they take hundreds of megabytes. */
export type NastyTable = Readonly<Record<string, () => NastyRequest>>;

const JSON_TYPE = { "content-type": "application/json" };
const FORM_TYPE = { "content-type": "application/x-www-form-urlencoded" };
const PROTO_TYPE = { "content-type": "application/proto" };

/** `piece(0)piece(1)…` up to a length, between a beginning and an end. */
function filled(
  bytes: number,
  before: string,
  piece: (at: number) => string,
  after: string,
  most: number = Number.POSITIVE_INFINITY,
): Uint8Array {
  const parts = [before];
  let left = bytes - Buffer.byteLength(before) - Buffer.byteLength(after);
  for (let at = 0; at < most; at++) {
    const part = piece(at);
    left -= Buffer.byteLength(part);
    if (left < 0) break;
    parts.push(part);
  }
  parts.push(after);
  return Buffer.from(parts.join(""));
}

/** Values and members that every limit of their number allows. */
const WITHIN = 9_900;

/** JSON bodies of up to that many bytes, by what is costly about them. */
function jsonBodies(bytes: number): Readonly<Record<string, () => Uint8Array>> {
  const long = (text: string, before = '{"x":"', after = '"}'): Uint8Array =>
    Buffer.from(before + text.repeat(Math.floor((bytes - 64) / Buffer.byteLength(text))) + after);
  return {
    "300,000 unknown names": () => filled(bytes, '{"k":1', (at) => `,"n${at}":1`, "}", 300_000),
    "99,000 unknown names": () => filled(bytes, '{"k":1', (at) => `,"n${at}":1`, "}", 99_000),
    "unknown names near known ones": () =>
      filled(bytes, '{"k":1', (at) => `,"tokem${at.toString(36).padStart(52, "0")}":1`, "}"),
    "99,000 long names": () =>
      filled(bytes, '{"k":1', (at) => `,"${String(at).padStart(300, "n")}":1`, "}", 99_000),
    "one name 99,000 times": () => filled(bytes, '{"k":1', () => ',"a":1', "}", 99_000),
    "one long string": () => long("a"),
    "one long string of two-byte characters": () => long("é"),
    "one long string of four-byte characters": () => long("😀"),
    "one long string of escapes": () => long(String.raw`\u00e9`),
    "one long string of escaped quotes": () => long(String.raw`\"`),
    "one long name": () => long("a", '{"', '":1}'),
    "one long name of escapes": () => long(String.raw`\u00e9`, '{"', '":1}'),
    "one long number": () => long("1", '{"x":', "}"),
    "one long fraction": () => long("1", '{"x":0.', "}"),
    "one long exponent": () => long("0", '{"x":1e', "1}"),
    "99,000 numbers that a double would round": () =>
      filled(bytes, '{"x":[1', () => ",1.10", "]}", 99_000),
    "99,000 long numbers": () =>
      filled(bytes, '{"x":[1', () => `,${"7".repeat(300)}`, "]}", 99_000),
    "99,000 strings": () => filled(bytes, '{"x":[1', (at) => `,"text ${at}"`, "]}", 99_000),
    "a list of numbers": () => filled(bytes, '{"x":[1', () => ",1", "]}"),
    "a list of lists": () => filled(bytes, '{"x":[1', () => ",[]", "]}"),
    "a list of objects": () => filled(bytes, '{"x":[1', () => ",{}", "]}"),
    "99,000 objects": () => filled(bytes, '{"x":[1', () => ",{}", "]}", 99_000),
    "nested lists": () =>
      filled(bytes, '{"x":[1', () => `,${"[".repeat(28)}${"]".repeat(28)}`, "]}"),
    "lists without an end": () => Buffer.from("[".repeat(bytes)),
    "white space": () => long(" ", '{"x":1', "}"),
    "only white space": () => Buffer.from(" ".repeat(bytes)),
    "a string without an end": () => long("a", '{"x":"', ""),
    "a string with a mistake at its end": () => long("a", '{"x":"', '\u0001"}'),
    "bytes that are no UTF-8 at the end": () => Buffer.concat([long("é"), Buffer.from([0xff])]),
    "commas and spaces": () => long(",   ", '{"x":[', "]}"),
    "9,900 unknown names": () => filled(bytes, '{"k":1', (at) => `,"n${at}":1`, "}", WITHIN),
    "9,900 unknown names near known ones": () =>
      filled(
        bytes,
        '{"k":1',
        (at) => `,"tokem${at.toString(36).padStart(52, "0")}":1`,
        "}",
        WITHIN,
      ),
    "9,900 names of 250 bytes": () =>
      filled(bytes, '{"k":1', (at) => `,"${String(at).padStart(250, "n")}":1`, "}", WITHIN),
    "9,900 numbers of 250 digits": () =>
      filled(bytes, '{"x":[1', () => `,${"7".repeat(250)}`, "]}", WITHIN),
    "9,900 objects": () => filled(bytes, '{"x":[1', () => ",{}", "]}", WITHIN),
    "9,900 strings as long as fit": () =>
      filled(bytes, '{"x":[1', () => `,"${"é".repeat(bytes / 2 / 10_000 - 4)}"`, "]}", WITHIN),
    "9,900 names as long as fit": () =>
      filled(
        bytes,
        '{"k":1',
        (at) => `,"${String(at).padStart(Math.floor(bytes / 10_000) - 6, "n")}":1`,
        "}",
        WITHIN,
      ),
    "300 lists, 30 deep": () =>
      filled(bytes, '{"x":[1', () => `,${"[".repeat(30)}${"]".repeat(30)}`, "]}", 300),
    "ten objects of 9,800 names": () =>
      filled(
        bytes,
        '{"x":[1',
        () =>
          `,${Buffer.from(filled(bytes, '{"k":1', (at) => `,"n${at}":1`, "}", 9_799)).toString()}`,
        "]}",
        10,
      ),
    backslashes: () => long("\\", '{"x":"', ""),
    quotes: () => long('"', "", ""),
  };
}

/** Varint of protobuf. */
function varint(value: number): number[] {
  const bytes: number[] = [];
  let left = value;
  for (; left > 0x7f; left = Math.floor(left / 128)) bytes.push((left % 128) | 0x80);
  return [...bytes, left];
}

/** One unit over and over. */
export function repeated(unit: readonly number[], bytes: number = REST_BYTES - 64): Uint8Array {
  return Buffer.alloc(Math.floor(bytes / unit.length) * unit.length, Uint8Array.from(unit));
}

/** Fields of `steward.tokens.v1.MintTokenRequest`. */
const mintFields: Readonly<Record<string, () => Uint8Array>> = {
  "9,900 unknown numbers": () => repeated([0xa0, 0x06, 1], 3 * WITHIN),
  "9,900 unknown texts": () =>
    repeated([0xa2, 0x06, ...varint(400), ...Buffer.alloc(400, 97)], 404 * WITHIN),
  "9,900 numbers over one another": () => repeated([0x10, 1], 2 * WITHIN),
  "9,900 texts in a list": () =>
    repeated([0x22, ...varint(400), ...Buffer.alloc(400, 97)], 403 * WITHIN),
  "9,900 numbers in a list": () => repeated([0x28, 1], 2 * WITHIN),
  "9,900 packed numbers": () =>
    Buffer.concat([Uint8Array.from([0x2a, ...varint(WITHIN)]), Buffer.alloc(WITHIN, 1)]),
  "3,000 entries of maps": () => mapEntries(3_000),
  "unknown numbers": () => repeated([0xa0, 0x06, 1]),
  "unknown texts": () => repeated([0xa2, 0x06, 0]),
  "nested groups": () => repeated([0xa3, 0x06]),
  "groups that end": () => repeated([0xa3, 0x06, 0xa4, 0x06]),
  "one number over and over": () => repeated([0x10, 1]),
  "short texts in lists": () => repeated([0x22, 0]),
  "packed numbers": () =>
    Buffer.concat([
      Uint8Array.from([0x2a, ...varint(REST_BYTES - 80)]),
      Buffer.alloc(REST_BYTES - 80, 1),
    ]),
  "empty entries of maps": () => repeated([0x32, 0]),
  "numbers in lists": () => repeated([0x28, 1]),
  "entries of maps": () => mapEntries(400_000),
};

function mapEntries(count: number): Uint8Array {
  return Buffer.concat(
    Array.from({ length: count }, (_, at) =>
      Buffer.from([0x32, 8, 0x0a, 4, ...Buffer.from(at.toString(36).padStart(4, "0")), 0x12, 0]),
    ),
  );
}

/** The whole table. */
export function nastyRequests(): NastyTable {
  const table: Record<string, () => NastyRequest> = {};
  const add = (
    name: string,
    make: () => Partial<NastyRequest> & Pick<NastyRequest, "path" | "body">,
  ): void => {
    table[name] = () => ({ method: "POST", headers: JSON_TYPE, token: false, ...make() });
  };
  for (const [name, body] of Object.entries(jsonBodies(REST_BYTES))) {
    add(`REST, ${name}`, () => ({ path: "/api/v1/sync", body: body() }));
    add(`Connect in JSON, ${name}`, () => ({
      path: "/steward.dedup.v1.SyncService/StartSync",
      body: body(),
    }));
  }
  for (const [name, body] of Object.entries(jsonBodies(VAULT_BYTES))) {
    add(`Vault, unwrap with a token, ${name}`, () => ({
      path: "/v1/sys/wrapping/unwrap",
      token: true,
      body: body(),
    }));
    add(`Vault, wrap, ${name}`, () => ({
      path: "/v1/sys/wrapping/wrap",
      token: true,
      body: body(),
    }));
  }
  for (const [name, body] of Object.entries(jsonBodies(OPEN_BYTES - 64))) {
    add(`Vault, unwrap without a token, ${name}`, () => ({
      path: "/v1/sys/wrapping/unwrap",
      body: body(),
    }));
    add(`Vault, login, ${name}`, () => ({ path: "/v1/auth/approle/login", body: body() }));
  }
  const vault = (
    name: string,
    path: string,
    body: () => Uint8Array,
    more: Partial<NastyRequest> = {},
  ): void =>
    add(`Vault, ${name}`, () => ({ path: `/v1/${path}`, token: true, body: body(), ...more }));
  /** Required by permission sets and mints, ignored by the other paths. */
  const ORG = { org_name: "example-org" };
  const list = (field: string, item: (at: number) => string, items = 99_000): Uint8Array =>
    Buffer.from(
      JSON.stringify({ ...ORG, [field]: Array.from({ length: items }, (_, at) => item(at)) }),
    );
  const commas = (field: string, item: string, items?: number): Uint8Array =>
    Buffer.from(
      JSON.stringify({
        ...ORG,
        [field]: item.repeat(items ?? Math.floor((VAULT_BYTES - 64) / item.length)),
      }),
    );
  const pairs = (field: string, count = 49_000): Uint8Array =>
    Buffer.from(
      JSON.stringify({
        ...ORG,
        [field]: Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, "read"])),
      }),
    );
  /** `WITHIN` of the long texts fill a body; as many of the fitting ones are a list's 1 MiB. */
  const long = (at: number): string => `v${at}-${"x".repeat(3_000)}`;
  const fitting = (at: number): string => `V${at}-${"X".repeat(95)}`;
  vault("capabilities of 9,900 paths", "sys/capabilities-self", () =>
    list("paths", (at) => `secret/${at}`, WITHIN),
  );
  vault("capabilities of 9,900 long paths", "sys/capabilities-self", () =>
    list("paths", (at) => `secret/${at}/${"x".repeat(1_200)}`, WITHIN),
  );
  vault("capabilities of 9,900 fitting paths", "sys/capabilities-self", () =>
    list("paths", fitting, WITHIN),
  );
  vault("9,900 policies", "auth/token/create", () => list("policies", (at) => `p${at}`, WITHIN));
  vault("9,900 long policies", "auth/token/create", () => list("policies", long, WITHIN));
  vault("9,900 fitting policies", "auth/token/create", () => list("policies", fitting, WITHIN));
  vault("9,900 policies between commas", "auth/token/create", () =>
    commas("policies", "a,", WITHIN),
  );
  vault("9,900 pairs of metadata", "auth/token/create", () => pairs("meta", WITHIN));
  vault("9,900 pairs of metadata between commas", "auth/token/create", () =>
    Buffer.from(
      JSON.stringify({ meta: Array.from({ length: WITHIN }, (_, at) => `k${at}=v`).join(",") }),
    ),
  );
  vault("9,900 policies as JSON in a text", "auth/token/create", () =>
    Buffer.from(
      JSON.stringify({
        policies: JSON.stringify(Array.from({ length: WITHIN }, (_, at) => `p${at}`)),
      }),
    ),
  );
  vault("9,900 networks", "auth/token/roles/r", () =>
    list("token_bound_cidrs", (at) => `10.${at % 256}.${(at >> 8) % 256}.0/24`, WITHIN),
  );
  vault("9,900 allowed policies of a role", "auth/token/roles/r", () =>
    list("allowed_policies", long, WITHIN),
  );
  vault("9,900 fitting policies of a role", "auth/token/roles/r", () =>
    list("allowed_policies", fitting, WITHIN),
  );
  vault("9,900 origins", "sys/config/cors", () =>
    list("allowed_origins", (at) => `https://o${at}.example`, WITHIN),
  );
  vault("9,900 permissions", "github/permissionset/p", () => pairs("permissions", WITHIN));
  vault("9,900 repositories", "github/permissionset/p", () =>
    list("repositories", (at) => `r${at}`, WITHIN),
  );
  vault("9,900 long repositories", "github/permissionset/p", () =>
    list("repositories", long, WITHIN),
  );
  vault("9,900 fitting repositories", "github/permissionset/p", () =>
    list("repositories", fitting, WITHIN),
  );
  vault("a mint of 9,900 fitting repositories", "github/token", () =>
    list("repositories", fitting, WITHIN),
  );
  vault("9,900 repository ids", "github/permissionset/p", () =>
    Buffer.from(
      JSON.stringify({ ...ORG, repository_ids: Array.from({ length: WITHIN }, (_, at) => at + 1) }),
    ),
  );
  vault("9,900 repository ids between commas", "github/permissionset/p", () =>
    Buffer.from(
      JSON.stringify({
        ...ORG,
        repository_ids: Array.from({ length: WITHIN }, (_, at) => at + 1).join(","),
      }),
    ),
  );
  vault("a mint of 9,900 long repositories", "github/token", () =>
    list("repositories", long, WITHIN),
  );
  vault("9,900 values to wrap", "sys/wrapping/wrap", () => pairs("x", WITHIN));
  vault("9,900 texts in a cubbyhole of 64 KiB", "cubbyhole/a", () =>
    filled(60_000, '{"k":1', (at) => `,"n${at}":"v"`, "}", WITHIN),
  );
  vault(
    "a form of 9,900 pairs",
    "cubbyhole/a",
    () => filled(MIB - 64, "k=1", (at) => `&n${at}=v`, "", WITHIN),
    { headers: FORM_TYPE },
  );
  vault(
    "a form of 1 MiB of escapes",
    "cubbyhole/a",
    () => Buffer.from(`a=${"%41".repeat(Math.floor(MIB / 3) - 2)}`),
    { headers: FORM_TYPE },
  );
  vault("a form of 1 MiB of ampersands", "cubbyhole/a", () => Buffer.from("&".repeat(MIB - 1)), {
    headers: FORM_TYPE,
  });
  vault("capabilities of 99,000 paths", "sys/capabilities-self", () =>
    list("paths", (at) => `secret/${at}`),
  );
  vault("capabilities of paths between commas", "sys/capabilities-self", () =>
    commas("paths", "a,"),
  );
  vault("99,000 policies", "auth/token/create", () => list("policies", (at) => `policy-${at}`));
  vault("policies between commas", "auth/token/create", () => commas("policies", "a,"));
  vault("49,000 pairs of metadata", "auth/token/create", () => pairs("meta"));
  vault("metadata between commas", "auth/token/create", () => commas("meta", "a=b,"));
  vault("policies as JSON in a text", "auth/token/create", () =>
    Buffer.from(
      JSON.stringify({
        policies: JSON.stringify(Array.from({ length: 99_000 }, (_, at) => `p${at}`)),
      }),
    ),
  );
  vault("policies as broken JSON in a text", "auth/token/create", () => commas("policies", "[1,"));
  vault("a long duration", "auth/token/create", () => commas("ttl", "1h"));
  vault("a long number in a text", "auth/token/create", () => commas("num_uses", "1"));
  vault("99,000 networks", "auth/token/roles/r", () =>
    list("token_bound_cidrs", (at) => `10.${at % 256}.${(at >> 8) % 256}.0/24`),
  );
  vault("99,000 origins", "sys/config/cors", () =>
    list("allowed_origins", (at) => `https://o${at}.example`),
  );
  vault("99,000 permissions", "github/permissionset/p", () => pairs("permissions"));
  vault("permissions between commas", "github/permissionset/p", () =>
    commas("permissions", "a=read,"),
  );
  vault("99,000 repositories", "github/permissionset/p", () =>
    list("repositories", (at) => `r${at}`),
  );
  vault("99,000 repository ids that are none", "github/permissionset/p", () =>
    list("repository_ids", (at) => `r${at}`),
  );
  vault("a policy of open blocks", "sys/policies/acl/p", () =>
    commas("policy", 'path "a" { ', 23_800),
  );
  vault("a policy of comments", "sys/policies/acl/p", () =>
    Buffer.from(JSON.stringify({ policy: "/**/".repeat(65_000) })),
  );
  vault("a policy of blanks", "sys/policies/acl/p", () =>
    Buffer.from(JSON.stringify({ policy: " #\n//\n".repeat(43_000) })),
  );
  vault("a policy of rules", "sys/policies/acl/p", () =>
    Buffer.from(
      JSON.stringify({
        policy: Array.from({ length: 6_500 }, (_, at) => `path "a${at}/+/b" { policy="read" }`)
          .join("\n")
          .slice(0, 262_000),
      }),
    ),
  );
  vault("a policy of one rule with many parameters", "sys/policies/acl/p", () =>
    Buffer.from(
      JSON.stringify({
        policy: `path "a" { capabilities=["read"] required_parameters=[${Array.from(
          { length: 25_000 },
          (_, at) => `"p${at}"`,
        )
          .join(",")
          .slice(0, 250_000)
          .replace(/,[^,]*$/, "")}] }`,
      }),
    ),
  );
  vault("a policy of names that run into one another", "sys/policies/acl/p", () =>
    Buffer.from(JSON.stringify({ policy: "a-".repeat(131_000) })),
  );
  vault("a policy of numbers", "sys/policies/acl/p", () =>
    Buffer.from(
      JSON.stringify({
        policy: `path "a" { allowed_parameters = { a = [${"1,".repeat(130_000)}] } }`,
      }),
    ),
  );
  vault("a policy in base64", "sys/policies/acl/p", () => commas("policy", "QUFB"));
  vault("a policy of line breaks", "sys/policies/acl/p", () => commas("policy", "\n", 262_000));
  vault("a text to hash", "sys/audit-hash/file", () => commas("input", "a"));
  vault("a text in a cubbyhole", "cubbyhole/a", () => commas("value", "a"));
  vault("60,000 characters in a cubbyhole", "cubbyhole/a", () => commas("value", "a", 60_000));
  vault("99,000 texts in a cubbyhole", "cubbyhole/a", () =>
    filled(VAULT_BYTES, '{"k":1', (at) => `,"n${at}":"v"`, "}", 99_000),
  );
  vault(
    "a form of 99,000 pairs",
    "cubbyhole/a",
    () => filled(VAULT_BYTES, "k=1", (at) => `&n${at}=v`, "", 99_000),
    { headers: FORM_TYPE },
  );
  vault(
    "a form of one name 99,000 times",
    "cubbyhole/a",
    () => filled(VAULT_BYTES, "k=1", () => "&n=v", "", 99_000),
    { headers: FORM_TYPE },
  );
  vault(
    "a form with one long value",
    "cubbyhole/a",
    () => Buffer.from(`a=${"b".repeat(VAULT_BYTES - 2)}`),
    { headers: FORM_TYPE },
  );
  vault(
    "a form of escapes",
    "cubbyhole/a",
    () => Buffer.from(`a=${"%41".repeat(Math.floor(VAULT_BYTES / 3) - 2)}`),
    { headers: FORM_TYPE },
  );
  vault("a form of ampersands", "cubbyhole/a", () => Buffer.from("&".repeat(VAULT_BYTES)), {
    headers: FORM_TYPE,
  });
  vault(
    "a form of pluses without a token",
    "sys/wrapping/unwrap",
    () => Buffer.from(`token=${"+".repeat(OPEN_BYTES - 64)}`),
    { headers: FORM_TYPE, token: false },
  );
  vault(
    "wrapping of what is almost half a megabyte",
    "sys/wrapping/wrap",
    () => Buffer.from(JSON.stringify({ a: "b".repeat(250_000) })),
    { headers: { ...JSON_TYPE, "x-vault-wrap-ttl": "60" } },
  );
  const mint = (body: Uint8Array): Uint8Array =>
    Buffer.concat([delimited(1, "github"), delimited(3, "example-org"), body]);
  for (const [name, body] of Object.entries(mintFields)) {
    add(`Connect in protobuf, ${name}`, () => ({
      path: "/steward.tokens.v1.EngineService/MintToken",
      headers: PROTO_TYPE,
      token: true,
      body: mint(body()),
    }));
    add(`gRPC-Web in protobuf, ${name}`, () => ({
      path: "/steward.tokens.v1.EngineService/MintToken",
      headers: { "content-type": "application/grpc-web+proto" },
      token: true,
      body: framed(mint(body())),
    }));
  }
  const engine = (name: string, body: () => Uint8Array): void =>
    add(`Connect in protobuf, ${name}`, () => ({
      path: "/steward.tokens.v1.EngineService/MintToken",
      headers: PROTO_TYPE,
      body: body(),
    }));
  engine("a mount of slashes", () => delimited(1, `a${"/".repeat(REST_BYTES - 16)}a`));
  const logical = (name: string, field: number, text: string): void =>
    add(`Connect in protobuf, ${name}`, () => ({
      path: "/steward.tokens.v1.LogicalService/Handle",
      headers: PROTO_TYPE,
      body: Buffer.concat([Uint8Array.from([0x08, 1]), delimited(field, text)]),
    }));
  logical("a path of slashes", 2, `a${"/".repeat(REST_BYTES - 16)}a`);
  logical("a duration of digits", 4, "1".repeat(REST_BYTES - 16));
  logical("a namespace of slashes", 5, `a${"/".repeat(REST_BYTES - 16)}a`);
  const header = (name: string, path: string, headers: Readonly<Record<string, string>>): void =>
    add(`Headers, ${name}`, () => ({ method: "GET", path, headers, body: Buffer.alloc(0) }));
  const many = (text: string): string => text.repeat(Math.floor(15_000 / text.length));
  header("blanks in Accept-Encoding", "/api/status.json", {
    "accept-encoding": `gzip${many(" ")}x`,
  });
  header("semicolons in Accept-Encoding", "/api/status.json", { "accept-encoding": many("; ") });
  header("blanks in Authorization", "/api/v1/documents", { authorization: `Basic a${many(" ")}b` });
  header("slashes in X-Vault-Namespace", "/v1/sys/health", {
    "x-vault-namespace": `a${many("/")}a`,
  });
  header("a long Host", "/api/v1/health", { host: many("a.") });
  header("a long Origin", "/api/v1/health", { origin: `http://${many("a.")}` });
  header("digits in the query", `/api/v1/duplicates?minSimilarity=${many("1")}x`, {});
  header("many parameters in the query", `/api/v1/duplicates?${many("status=a&")}`, {});
  header("percent signs in the path", `/v1/${many("%41")}`, {});
  header("slashes in the path", `/v1/a${many("/")}a`, {});
  header(
    "digits in the page's number",
    `/api/v1/documents?limit=${many("1")}&offset=${many(".")}`.slice(0, 15_500),
    {},
  );
  add("Connect in protobuf, packed with gzip", () => ({
    path: "/steward.tokens.v1.EngineService/MintToken",
    headers: { ...PROTO_TYPE, "content-encoding": "gzip" },
    token: true,
    body: gzipSync(repeated([0x22, 0])),
  }));
  add("gRPC-Web, empty messages", () => ({
    path: "/steward.tokens.v1.EngineService/MintToken",
    headers: { "content-type": "application/grpc-web+proto" },
    token: true,
    body: repeated([0, 0, 0, 0, 0]),
  }));
  add("Connect, a logical request with much data", () => ({
    path: "/steward.tokens.v1.LogicalService/Handle",
    token: true,
    body: Buffer.from(
      JSON.stringify({
        operation: "OPERATION_CREATE",
        path: "sys/wrapping/wrap",
        data: Buffer.from(
          filled(3 * MIB - 64, '{"x":[1', (at) => `,"n${at}"`, "]}", 99_000),
        ).toString("base64"),
      }),
    ),
  }));
  return table;
}

/** A text as a field of a message. */
function delimited(field: number, text: string): Uint8Array {
  return Buffer.concat([
    Uint8Array.from([field * 8 + 2, ...varint(Buffer.byteLength(text))]),
    Buffer.from(text),
  ]);
}

function framed(message: Uint8Array): Uint8Array {
  const head = Buffer.alloc(5);
  const body = message.subarray(0, REST_BYTES);
  head.writeUInt32BE(body.length, 1);
  return Buffer.concat([head, body]);
}
