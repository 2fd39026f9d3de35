import { writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { daemonSchema } from "../../src/daemon/configuration.ts";
import { DocumentService } from "../../src/gen/steward/dedup/v1/documents_pb.ts";
import { variableOf } from "../../src/kernel/config/key.ts";
import { folderConfig, smallArchive, writeFiles } from "../contract/corpus.ts";
import {
  type Daemon,
  removeTemporaryFolders,
  runSteward,
  startDaemon,
  temporaryFolder,
} from "../contract/daemon.ts";
import { grpcUnary } from "../contract/rpc.ts";
import { type Canary, canary, filesOf, found } from "./canaries.ts";

afterAll(removeTemporaryFolders);

/** Every key whose value is a secret: one that is added is tested without a change here. */
const secrets = daemonSchema.filter((key) => key.secret === true).map((key) => key.path);

/** Keys that map names to secrets, as far as there are any yet. */
const headerMaps = daemonSchema.map((key) => key.path).filter((path) => path.endsWith(".headers"));

/** One request with everything an answer says, over `node:http` since `fetch` sends no cookies. */
async function exchange(
  daemon: Daemon,
  method: string,
  path: string,
  headers: Readonly<Record<string, string>>,
  body = "",
): Promise<{ status: number; text: string }> {
  return await new Promise((resolve, reject) => {
    const sent = request(
      daemon.url + path,
      { method, headers: { "content-length": String(Buffer.byteLength(body)), ...headers } },
      (answer) => {
        let text = `${answer.rawHeaders.join("\n")}\n`;
        answer
          .setEncoding("utf8")
          .on("data", (chunk: string) => (text += chunk))
          .on("end", () =>
            resolve({
              status: answer.statusCode ?? 0,
              text: `${text}${JSON.stringify(answer.trailers)}`,
            }),
          )
          .on("error", reject);
      },
    );
    sent.on("error", reject).end(body);
  });
}

/** What a client may send where nobody looks for it. */
function hiddenHeaders(canaries: readonly Canary[]): Record<string, string> {
  const of = (where: string): string => canaries.find((each) => each.where === where)?.value ?? "";
  return {
    cookie: `session=${of("cookie")}; other=1`,
    "x-vault-token": of("x-vault-token"),
    "proxy-authorization": `Bearer ${of("proxy-authorization")}`,
    "x-api-key": of("x-api-key"),
  };
}

/**
 * Every kind of request: right, wrong, malformed, unknown, over every protocol. Answers, headers
 * and errors as one text each.
 */
async function exerciseAll(
  daemon: Daemon,
  token: string,
  canaries: readonly Canary[],
): Promise<Record<string, string>> {
  const outputs: Record<string, string> = {};
  const wrong = canaries.find((each) => each.where === "authorization")?.value ?? "";
  const basic = (password: string): string =>
    `Basic ${Buffer.from(`somebody:${password}`).toString("base64")}`;
  const credentials = [
    `Bearer ${token}`,
    basic(token),
    `Bearer ${wrong}`,
    basic(wrong),
    basic(`${token}${wrong}`),
    `Digest username="${wrong}"`,
    wrong,
  ];
  const json = { "content-type": "application/json" };
  const asked: [string, string, Record<string, string>?, string?][] = [
    ["GET", "/healthz"],
    ["GET", "/readyz"],
    ["GET", "/readyz?verbose=1"],
    ["GET", "/"],
    ["GET", "/api/v1/health"],
    ["GET", "/api/v1/ready"],
    ["GET", "/api/v1/documents?limit=2"],
    ["GET", "/api/v1/documents?limit=never"],
    ["GET", "/api/v1/documents/none"],
    ["GET", "/api/v1/duplicates"],
    ["GET", "/api/v1/jobs"],
    ["GET", "/api/v1/sync/status"],
    ["GET", "/api/v1/metrics"],
    ["GET", "/openapi.json"],
    ["GET", "/nowhere"],
    ["DELETE", "/api/v1/documents"],
    ["POST", "/api/v1/sync", json, '{"force":tru'],
    ["POST", "/api/v1/sync", json, '{"unknown":1}'],
    ["PUT", "/api/v1/duplicates/x/status", json, '{"status":"odd"}'],
    [
      "POST",
      "/steward.dedup.v1.DocumentService/ListDocuments",
      { ...json, "connect-protocol-version": "1" },
      "{}",
    ],
    [
      "POST",
      "/steward.dedup.v1.DocumentService/ListDocuments",
      { ...json, "connect-protocol-version": "1" },
      '{"limit":"x"}',
    ],
    ["POST", "/steward.dedup.v1.DocumentService/None", json, "{}"],
    ["POST", "/api/v1/sync", { ...json, origin: "http://elsewhere.example" }, "{}"],
    ["GET", "/v1/sys/health"],
    ["GET", "/v1/auth/token/lookup-self"],
  ];
  for (const [at, authorization] of credentials.entries()) {
    for (const [method, path, headers, body] of asked) {
      const { status, text } = await exchange(
        daemon,
        method,
        path,
        { ...hiddenHeaders(canaries), authorization, ...headers },
        body,
      );
      outputs[`${method} ${path} with credential ${at}: ${status}`] = text;
    }
    const answer = await grpcUnary(
      daemon.host,
      DocumentService.method.listDocuments,
      {},
      { authorization, cookie: hiddenHeaders(canaries)["cookie"] ?? "" },
    ).then(
      () => "ok",
      (error: Error) => `${error.stack}${JSON.stringify(error)}`,
    );
    outputs[`gRPC with credential ${at}`] = answer;
  }
  return outputs;
}

/** Runs a job to its end, so that its rows, messages and files are there to be searched. */
async function work(daemon: Daemon, token: string): Promise<void> {
  const started = await exchange(
    daemon,
    "POST",
    "/api/v1/sync",
    { authorization: `Bearer ${token}`, "content-type": "application/json" },
    '{"force":true}',
  );
  expect(started.status).toBe(202);
  const id = /"jobId":"([^"]+)"/.exec(started.text)?.[1] ?? "";
  await exchange(daemon, "GET", `/api/v1/jobs/${id}/progress`, {
    authorization: `Bearer ${token}`,
  });
}

/**
 * The commands that speak about a configuration. One that does not exist yet says so, which is an
 * output too.
 */
async function commandOutputs(
  file: string,
  env: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const commands = [
    ["-validate"],
    ["-validate", "-json"],
    ["-print-effective-config"],
    ["-print-effective-config", "-print-effective-config-provenance"],
    ["-healthcheck"],
  ];
  return Object.fromEntries(
    await Promise.all(
      commands.map(async (args) => {
        const { code, stdout, stderr } = await runSteward([...args, "-config", file], { env });
        return [`${args.join(" ")}: ${code}`, stdout + stderr] as const;
      }),
    ),
  );
}

describe("a secret of the configuration", () => {
  it("is at least auth.token", () => {
    expect(secrets).toContain("auth.token");
  });

  it.each([
    { by: "value in the environment", format: "json" },
    { by: "_FILE", format: "text" },
    { by: "value in the file", format: "text" },
  ])(
    "given by $by shows in no answer, header, log line, command or file of the state",
    async ({ by, format }) => {
      const folder = temporaryFolder();
      writeFiles(folder, smallArchive);
      const state = temporaryFolder();
      const inRequests = [
        "authorization",
        "cookie",
        "x-vault-token",
        "proxy-authorization",
        "x-api-key",
      ].map(canary);
      const configured = secrets.map(canary);
      const canaries = [...configured, ...inRequests];
      const env: Record<string, string> = {};
      const inFile = by === "value in the file" ? configured : [];
      // The section of the archives is there already.
      const ofDocuments = inFile.filter(({ where }) => where.startsWith("dedup."));
      const nested = yamlOf(
        ofDocuments.map(({ where, value }) => ({ where: where.slice("dedup.".length), value })),
      ).replaceAll(/^(?=.)/gm, "  ");
      let config = folderConfig(
        state,
        folder,
        `${nested}logging:\n  level: debug\n  format: ${format}\n`,
      );
      for (const { where, value } of configured) {
        if (by === "value in the environment") env[variableOf(where)] = value;
        else if (by === "_FILE") {
          const file = join(temporaryFolder(), "secret");
          writeFileSync(file, `${value}\n`);
          env[`${variableOf(where)}_FILE`] = file;
        }
      }
      const headers = headerMaps.map((path) => canary(`${path}.authorization`));
      canaries.push(...headers);
      config += yamlOf([...inFile.filter((each) => !ofDocuments.includes(each)), ...headers]);
      const token = configured.find(({ where }) => where === "auth.token")?.value ?? "";
      const daemon = await startDaemon({ config, env });
      await work(daemon, token);
      const answers = await exerciseAll(daemon, token, canaries);
      expect(
        Object.keys(answers).filter((name) => name.endsWith(" with credential 0: 200")).length,
      ).toBeGreaterThan(8);
      expect(await daemon.stop()).toEqual({ code: 0, signal: null });
      const file = join(temporaryFolder(), "steward.yaml");
      writeFileSync(file, config);
      const files = filesOf(state);
      expect(Object.keys(files).length).toBeGreaterThan(3);
      expect(
        found(canaries, {
          ...answers,
          ...(await commandOutputs(file, env)),
          "standard output": daemon.stdout.join("\n"),
          "standard error": daemon.stderr.join("\n"),
          ...files,
        }),
      ).toEqual([]);
    },
  );
});

/**
 * Nested keys as one map, each section in YAML's flow form: a section of a file may stand there
 * only once.
 */
function yamlOf(values: readonly Canary[]): string {
  const root: Record<string, unknown> = {};
  for (const { where, value } of values) {
    const words = where.split(".");
    let section = root;
    for (const word of words.slice(0, -1))
      section = (section[word] ??= {}) as Record<string, unknown>;
    section[words.at(-1) ?? ""] = value;
  }
  return Object.entries(root)
    .map(([name, section]) => `${name}: ${JSON.stringify(section)}\n`)
    .join("");
}

/** What the check says to a wrong configuration. */
async function refusals(
  secret: Canary,
  wrong: { readonly file?: string; readonly env?: Readonly<Record<string, string>> },
): Promise<Record<string, string>> {
  const path = join(temporaryFolder(), "steward.yaml");
  writeFileSync(
    path,
    `gateway:\n  listen: 127.0.0.1:0\nstate:\n  directory: ${temporaryFolder()}\n${wrong.file ?? ""}`,
  );
  const { stdout, stderr } = await runSteward(["-validate", "-config", path], {
    env: wrong.env ?? {},
  });
  return { [secret.where]: stdout + stderr };
}

describe("a configuration that is wrong", () => {
  it("is refused without showing the secret", async () => {
    const wrongs: Readonly<
      Record<string, (value: string) => { file?: string; env?: Record<string, string> }>
    > = {
      "a list where the secret belongs": (value) => ({ file: `auth:\n  token: [${value}]\n` }),
      "a map where the secret belongs": (value) => ({
        file: `auth:\n  token:\n    value: ${value}\n`,
      }),
      "a misspelt key": (value) => ({ file: `auth:\n  tokne: ${value}\n` }),
      "a misspelt variable": (value) => ({ env: { STEWARD_AUTH__TOKNE: value } }),
      "a secret twice in the file": (value) => ({
        file: `auth:\n  token: ${value}\n  token: ${value}\n`,
      }),
      "a quote that stays open": (value) => ({ file: `auth:\n  token: "${value}\n` }),
      "a secret by value and by file": (value) => ({
        env: { STEWARD_AUTH__TOKEN: value, STEWARD_AUTH__TOKEN_FILE: "/nonexistent/file" },
      }),
      "two words": (value) => ({ file: `auth:\n  token: "${value}" ${value}\n` }),
      ...Object.fromEntries(
        "*&!@%{[-'#?,:".split("").map((sign) => [
          `a secret that begins with ${sign}`,
          (value: string) => ({
            file: `auth:\n  token: ${sign}${value}\n  token: ${value}: x\n`,
          }),
        ]),
      ),
    };
    const secretOf = new Map(Object.keys(wrongs).map((name) => [name, canary(name)]));
    const outputs = Object.assign(
      {},
      ...(await Promise.all(
        [...secretOf].map(([name, secret]) => refusals(secret, wrongs[name]?.(secret.value) ?? {})),
      )),
    ) as Record<string, string>;
    expect(
      Object.entries(outputs).filter(([, said]) => !/ERROR|WARNING|config invalid/.test(said)),
    ).toEqual([]);
    expect(found([...secretOf.values()], outputs)).toEqual([]);
  });
});

describe("the search for canaries", () => {
  it("finds one however it is written", () => {
    const secret = canary("secret");
    const outputs = {
      plain: `x${secret.value}y`,
      basic: Buffer.from(`anyone:${secret.value}`).toString("base64"),
      shifted: Buffer.from(`ab${secret.value}`).toString("base64"),
      hex: Buffer.from(secret.value).toString("hex"),
      wide: Buffer.from(`x${secret.value}`, "utf16le"),
    };
    expect(found([secret], outputs)).toEqual(
      Object.keys(outputs).map((name) =>
        expect.stringMatching(new RegExp(`^secret in ${name}: .{20}`)),
      ),
    );
    expect(found([secret], { none: canary("other").value })).toEqual([]);
  });
});
