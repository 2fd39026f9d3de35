/**
 * The mixed load of the soak: every kind of client that a daemon has, at a pace that leaves most of
 * a core idle.
 */
import {
  toBinary,
  create,
  type DescMessage,
  type DescMethod,
  type DescMethodUnary,
  type MessageInitShape,
} from "@bufbuild/protobuf";
import { utimesSync, writeFileSync } from "node:fs";
import { Agent } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { join } from "node:path";
import { Health } from "../../src/gen/grpc/health/v1/health_pb.ts";
import { DuplicateService } from "../../src/gen/steward/dedup/v1/duplicates_pb.ts";
import { JobService } from "../../src/gen/steward/dedup/v1/jobs_pb.ts";
import { SystemService } from "../../src/gen/steward/dedup/v1/system_pb.ts";
import { StatusService } from "../../src/gen/steward/monitor/v1/status_service_pb.ts";
import { SystemService as TokenSystemService } from "../../src/gen/steward/tokens/v1/system_pb.ts";
import type { Activity } from "./activities.ts";
import {
  call,
  exchange,
  expectStatus,
  frame,
  lingering,
  readEvents,
  withSession,
  type Answer,
} from "./clients.ts";

/** The daemon, and what opens it. */
export interface Target {
  readonly url: string;
  readonly pullUrl: string;
  /** `auth.token` and the root token of the Vault API. */
  readonly token: string;
  readonly root: string;
  /** The folder that it searches for duplicates, with files that may be rewritten. */
  readonly folder: string;
  readonly files: readonly string[];
}

const PAGES = [
  "/",
  "/api/status.json",
  "/api/config.json",
  "/api/cardinality.json",
  "/readyz?verbose=1",
  "/healthz",
];
const READS = [
  "/api/v1/documents?limit=20",
  "/api/v1/duplicates?limit=20&sortBy=confidence",
  "/api/v1/jobs?limit=50",
  "/api/v1/sync/status",
  "/api/v1/analysis/status",
  "/api/v1/documents?search=invoice&limit=5",
  "/api/v1/ready",
  "/api/v1/duplicates?minConfidence=0.9",
];
/** Rewritten before each sync, so that it has something to do. */
const FILES_CHANGED = 5;
const LINGER_MS = 15_000;
const STAY_MS = 30_000;

/** Everything that happens while the daemon soaks. */
export function load(target: Target): readonly Activity[] {
  return [
    ...documents(target),
    ...monitor(target),
    ...tokens(target),
    ...protocols(target),
    ...strangers(target),
  ];
}

function documents(target: Target): Activity[] {
  const { url, token, folder, files } = target;
  const headers = { authorization: `Bearer ${token}` };
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  let turn = 0;
  const next = <T>(list: readonly T[]): T => list[turn++ % list.length] as T;
  return [
    {
      name: "reads",
      everyMs: 100,
      run: async (signal) =>
        void (await expectStatus(200, url, "GET", next(READS), {
          headers,
          signal,
          agent: turn % 10 === 0 ? false : agent,
        })),
    },
    {
      name: "group decisions",
      everyMs: 3_000,
      run: async (signal) => {
        const groups = JSON.parse(
          (
            await expectStatus(200, url, "GET", "/api/v1/duplicates?limit=50", {
              headers,
              signal,
              agent,
            })
          ).text,
        ) as { data: { id: string }[] };
        if (groups.data.length === 0) return;
        const { id } = next(groups.data);
        // An analysis may take the group away meanwhile.
        const answer = await call(url, "GET", `/api/v1/duplicates/${id}`, {
          headers,
          signal,
          agent,
        });
        const put = await call(url, "PUT", `/api/v1/duplicates/${id}/status`, {
          headers,
          signal,
          agent,
          body: { status: next(["ignored", "pending", "false_positive"]) },
        });
        for (const each of [answer, put])
          if (each.status !== 200 && each.status !== 404)
            throw new Error(`${each.status} ${each.text.slice(0, 200)}`);
      },
    },
    {
      name: "syncs and analyses",
      everyMs: 20_000,
      run: async (signal) => {
        for (let count = 0; count < FILES_CHANGED; count += 1)
          rewrite(join(folder, next(files)), turn);
        const started = await call(url, "POST", "/api/v1/sync", {
          headers,
          signal,
          body: { force: turn % 3 === 0 },
        });
        if (started.status !== 202)
          throw new Error(`sync: ${started.status} ${started.text.slice(0, 200)}`);
        const path = `/api/v1/jobs/${jobOf(started)}/progress`;
        // One watcher stays to the end, the other leaves after its first event.
        await Promise.all([
          readEvents(url, path, Infinity, { headers, signal }),
          readEvents(url, path, 1, { headers, signal }),
        ]);
        const analysis = await call(url, "POST", "/api/v1/analysis", { headers, signal, body: {} });
        if (analysis.status === 202)
          await readEvents(url, `/api/v1/jobs/${jobOf(analysis)}/progress`, Infinity, {
            headers,
            signal,
          });
        else if (analysis.status !== 409)
          throw new Error(`analysis: ${analysis.status} ${analysis.text.slice(0, 200)}`);
      },
    },
  ];
}

function jobOf(answer: Answer): string {
  return (JSON.parse(answer.text) as { data: { jobId: string } }).data.jobId;
}

/** Another text of the same size, with another time. */
function rewrite(file: string, turn: number): void {
  const words = Array.from({ length: 150 }, (_, at) => `word${(at * 7 + turn) % 900}`);
  writeFileSync(file, `Minutes of meeting ${String(turn).padStart(8, "0")}\n${words.join(" ")}\n`);
  utimesSync(file, Date.now() / 1_000, Date.now() / 1_000);
}

function monitor({ url, pullUrl, token }: Target): Activity[] {
  const headers = { authorization: `Bearer ${token}` };
  let turn = 0;
  return [
    {
      name: "pages",
      everyMs: 1_500,
      run: async (signal) => {
        turn += 1;
        const page = await expectStatus(200, url, "GET", PAGES[turn % PAGES.length] ?? "/", {
          headers: { ...headers, ...(turn % 2 === 0 ? { "accept-encoding": "gzip" } : {}) },
          signal,
        });
        for (const [, asset = ""] of page.text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g))
          await expectStatus(200, url, "GET", asset, { headers, signal });
      },
    },
    {
      name: "scrapes",
      everyMs: 5_000,
      run: async (signal) => {
        const accept =
          turn % 2 === 0
            ? { accept: "application/openmetrics-text; version=1.0.0" }
            : { "accept-encoding": "gzip" };
        await expectStatus(200, pullUrl, "GET", "/metrics", { headers: { ...accept }, signal });
      },
    },
  ];
}

function tokens({ url, root }: Target): Activity[] {
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  const vault = async (
    status: number,
    method: string,
    path: string,
    signal: AbortSignal,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<any> => {
    const answer = await expectStatus(status, url, method, `/v1/${path}`, {
      headers: { "x-vault-token": root, ...headers },
      body,
      signal,
      agent,
    });
    return answer.text === "" ? undefined : JSON.parse(answer.text);
  };
  const waiting: string[] = [];
  let turn = 0;
  return [
    {
      name: "mints and revocations",
      everyMs: 500,
      run: async (signal) => {
        const minted = await vault(200, "POST", "github/token", signal, {
          installation_id: 1001,
          permissions: "contents=read",
        });
        waiting.push(minted.lease_id as string);
        await vault(200, "PUT", "sys/leases/lookup", signal, { lease_id: minted.lease_id });
        // Some live on for a while.
        while (waiting.length > 20)
          await vault(204, "PUT", "sys/leases/revoke", signal, { lease_id: waiting.shift() });
      },
    },
    {
      name: "vault tokens",
      everyMs: 500,
      run: async (signal) => {
        turn += 1;
        const { auth } = await vault(200, "POST", "auth/token/create", signal, {
          policies: ["default"],
          ttl: "60s",
          meta: { turn: String(turn) },
        });
        const own = { "x-vault-token": auth.client_token as string };
        await vault(200, "GET", "auth/token/lookup-self", signal, undefined, own);
        await vault(204, "POST", "cubbyhole/note", signal, { turn }, own);
        // The others expire.
        if (turn % 2 === 0)
          await vault(204, "POST", "auth/token/revoke-self", signal, undefined, own);
      },
    },
    {
      name: "logins",
      everyMs: 2_000,
      run: async (signal) => {
        const { data } = await vault(200, "POST", "auth/approle/role/app/secret-id", signal, {});
        const role = await vault(200, "GET", "auth/approle/role/app/role-id", signal);
        await vault(200, "POST", "auth/approle/login", signal, {
          role_id: role.data.role_id,
          secret_id: data.secret_id,
        });
      },
    },
    {
      name: "wrapping",
      everyMs: 3_000,
      run: async (signal) => {
        const { wrap_info: wrap } = await vault(
          200,
          "POST",
          "auth/token/create",
          signal,
          { policies: ["default"], ttl: "30s" },
          { "x-vault-wrap-ttl": "60s" },
        );
        await vault(200, "POST", "sys/wrapping/unwrap", signal, { token: wrap.token });
      },
    },
  ];
}

function grpcHeaders(method: DescMethod, { token, root }: Target): Record<string, string> {
  return {
    ":method": "POST",
    ":path": `/${method.parent.typeName}/${method.name}`,
    "content-type": "application/grpc",
    te: "trailers",
    authorization: `Bearer ${token}`,
    "x-vault-token": root,
    traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
  };
}

function messageOf<I extends DescMessage>(schema: I, init: MessageInitShape<I>): Buffer {
  return frame(toBinary(schema, create(schema, init)));
}

function protocols(target: Target): Activity[] {
  const { url, token } = target;
  const headers = { authorization: `Bearer ${token}` };
  const unary: readonly DescMethodUnary[] = [
    SystemService.method.getHealth,
    DuplicateService.method.listGroups,
    JobService.method.listJobs,
    StatusService.method.getStatus,
    TokenSystemService.method.getSealStatus,
  ];
  let turn = 0;
  return [
    {
      name: "connect",
      everyMs: 700,
      run: async (signal) => {
        const method = unary[turn % 3] as DescMethodUnary;
        await expectStatus(200, url, "POST", `/${method.parent.typeName}/${method.name}`, {
          headers: { ...headers, "connect-protocol-version": "1" },
          body: {},
          signal,
        });
      },
    },
    {
      name: "gRPC over fresh connections",
      everyMs: 700,
      run: async () => {
        turn += 1;
        await withSession(url, turn, async (session) => {
          for (const method of unary) {
            const { grpcStatus } = await exchange(
              session,
              grpcHeaders(method, target),
              messageOf(method.input, {}),
            );
            if (grpcStatus !== "0") throw new Error(`${method.name}: grpc-status ${grpcStatus}`);
          }
        });
      },
    },
    {
      name: "watches",
      everyMs: 3_000,
      run: async () => {
        await withSession(url, turn, async (session) => {
          const watch = async (method: DescMethod): Promise<void> => {
            const { status } = await exchange(
              session,
              grpcHeaders(method, target),
              messageOf(method.input, {}),
              1,
            );
            if (status !== 200) throw new Error(`${method.name}: ${status}`);
          };
          await Promise.all([
            watch(Health.method.watch),
            watch(Health.method.watch),
            watch(StatusService.method.watchStatus),
          ]);
        });
      },
    },
    {
      name: "watches that stay",
      everyMs: 1_000,
      run: async (signal) => {
        await withSession(url, turn, async (session) => {
          // They end with the session.
          for (const method of [Health.method.watch, StatusService.method.watchStatus])
            void exchange(session, grpcHeaders(method, target), messageOf(method.input, {})).catch(
              () => undefined,
            );
          await sleep(STAY_MS, undefined, { signal });
        });
      },
    },
  ];
}

/**
 * Clients without a credential, wrong ones, and slow ones. They succeed when the daemon answers as
 * it should.
 */
function strangers({ url, token }: Target): Activity[] {
  let turn = 0;
  const wrong: readonly [
    method: string,
    path: string,
    status: readonly number[],
    headers: Record<string, string>,
    body?: unknown,
  ][] = [
    ["GET", "/api/v1/documents", [401], {}],
    ["GET", "/api/v1/none", [404], { authorization: `Bearer ${token}` }],
    ["GET", "/v1/github/config", [403, 429], { "x-vault-token": "hvs.wrong" }],
    ["POST", "/v1/auth/approle/login", [400, 429], {}, { role_id: "no", secret_id: "no" }],
    ["POST", "/api/v1/sync", [400], { authorization: `Bearer ${token}` }, { unknown: 1 }],
    [
      "POST",
      "/steward.dedup.v1.JobService/GetJob",
      [404],
      { authorization: `Bearer ${token}` },
      { jobId: "none" },
    ],
  ];
  return [
    {
      name: "wrong requests",
      everyMs: 2_000,
      run: async (signal) => {
        const [method, path, statuses, headers, body] = wrong[
          turn++ % wrong.length
        ] as (typeof wrong)[number];
        const { status, text } = await call(url, method, path, { headers, body, signal });
        if (!statuses.includes(status))
          throw new Error(`${method} ${path}: ${status} ${text.slice(0, 200)}`);
      },
    },
    {
      name: "slow clients",
      everyMs: 5_000,
      run: async (signal) => {
        const head = "GET /api/v1/health HTTP/1.1\r\nHost: localhost\r\n";
        const body =
          "POST /v1/auth/approle/login HTTP/1.1\r\nHost: localhost\r\ncontent-type: application/json\r\ncontent-length: 60000\r\n\r\n{";
        const unread =
          `GET /api/status.json HTTP/1.1\r\nHost: localhost\r\nauthorization: Bearer ${token}\r\n\r\n`.repeat(
            20,
          );
        await Promise.all(
          [head, head, head, body, body, unread].map((text) =>
            lingering(url, text, LINGER_MS, signal),
          ),
        );
      },
    },
  ];
}
