/**
 * A provider of language models over real HTTP on loopback, in the wire format of OpenAI's Responses
 * API. It powers the demo: what it suggests comes from the titles of the demo's documents, so that
 * the same document always gets the same answer.
 */
import type { Secret } from "../../kernel/base/secret.ts";
import { json, headerOf, type Call, type Reply } from "../control-plane/reply.ts";
import {
  startControlPlane,
  type ControlPlane,
  type ControlPlaneDeps,
} from "../control-plane/server.ts";
import { createRoutes } from "../routes.ts";
import { suggest } from "./suggest.ts";

type Operation = "responses" | "models" | "unknown";

export interface ModelOptions extends ControlPlaneDeps {
  /** The key that requests must send. */
  readonly key: Secret;
}

const ROUTES = createRoutes<Operation>([
  ["POST", "/v1/responses", "responses"],
  ["GET", "/v1/models", "models"],
]);
/** As tokenisers count, nearly. */
const CHARACTERS_PER_TOKEN = 4;
const LATENCY_MS = 40;

/** A running model. */
interface Model extends ControlPlane<Operation> {
  /**
   * The next `times` responses (default 1) are a 200 that says that the response failed, with this
   * code, e.g. `server_error`.
   */
  failNext(code: string, times?: number): void;
}

/** Listens on loopback when it resolves. Throws what the listener throws. */
export async function startModel({ key, ...deps }: ModelOptions): Promise<Model> {
  const plane = await startControlPlane<Operation>(
    {
      name: "demo model",
      routes: ROUTES,
      elsewhere: "unknown",
      headers: { server: "demo" },
      gzip: false,
      answer: (call) => (isKnown(call, key) ? perform(call) : refuse(401, "Incorrect API key")),
      refuse,
    },
    deps,
  );
  plane.latencyMs = LATENCY_MS;
  return Object.assign(plane, {
    failNext: (code: string, times = 1) =>
      plane.faults.next("responses", { kind: "change", change: failedWith(code) }, times),
  });
}

function isKnown(call: Call<Operation>, key: Secret): boolean {
  return key.equals((headerOf(call, "authorization") ?? "").replace(/^Bearer /, ""));
}

function perform(call: Call<Operation>): Reply {
  switch (call.operation) {
    case "models":
      return json({ object: "list", data: [{ id: "gpt-5.4-mini", object: "model" }] });
    case "responses":
      return respond(call.body);
    default:
      return refuse(404, "Not found");
  }
}

interface ModelRequest {
  readonly model: string;
  readonly input: readonly { readonly content: string }[];
}

function respond(body: string): Reply {
  const { model, input } = JSON.parse(body) as ModelRequest;
  const [system, user] = [input[0]?.content ?? "", input[1]?.content ?? ""];
  const answer = suggest(user, system.includes("- title:"));
  const text = answer === undefined ? undefined : JSON.stringify(answer);
  const content =
    text === undefined
      ? { type: "refusal", refusal: "I cannot classify this document." }
      : { type: "output_text", text };
  return json({
    id: "resp_demo",
    object: "response",
    status: "completed",
    model,
    output: [{ type: "message", role: "assistant", content: [content] }],
    usage: {
      input_tokens: Math.ceil((system.length + user.length) / CHARACTERS_PER_TOKEN),
      output_tokens: Math.ceil((text?.length ?? 0) / CHARACTERS_PER_TOKEN),
      input_tokens_details: { cached_tokens: Math.ceil(system.length / CHARACTERS_PER_TOKEN) },
    },
  });
}

/** Makes a response one with status `failed` and this error code. */
function failedWith(code: string): (response: unknown) => object {
  const error = { code, message: "The model failed to generate a response." };
  return (response) => ({
    ...(response as object),
    status: "failed",
    error,
    output: [],
    usage: null,
  });
}

function refuse(status: number, message: string): Reply {
  return json({ error: { message, type: "invalid_request_error" } }, status);
}
