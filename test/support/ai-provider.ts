/**
 * A simulated provider of language models. Speaks OpenAI's Responses and chat APIs and Anthropic's
 * Messages API, and counts what it was sent.
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What a request gets. */
export type ModelReply =
  | { readonly kind: "suggestion"; readonly value: unknown }
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "refusal" | "cut" | "hang" | "huge" | "redirect" }
  /** 200 with a response that ended without an answer; only the Responses API has them. */
  | { readonly kind: "ended"; readonly status: "failed" | "cancelled"; readonly code?: string }
  | {
      readonly kind: "status";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly code?: string;
    };

/** A request as it arrived. */
interface ModelCall {
  readonly api: "responses" | "chat" | "messages";
  readonly key: string | undefined;
  readonly model: string;
  readonly system: string;
  readonly user: string;
  readonly body: any;
}

export interface AiProviderSimulator {
  readonly url: string;
  readonly calls: ModelCall[];
  /** Most requests in flight at once, since it was last set. */
  mostInFlight: number;
  /** Decides on a reply for each request; may be replaced at any time. */
  reply: (call: ModelCall) => ModelReply | Promise<ModelReply>;
  stop(): Promise<void>;
}

export const USAGE = { prompt: 1_000, completion: 100, cached: 200 };

/** Suggests the same for every document. */
export function suggestion(over: object = {}): ModelReply {
  return {
    kind: "suggestion",
    value: {
      correspondent: "Northwind Water",
      documentType: "Invoice",
      tags: ["utilities"],
      confidence: { correspondent: 0.9, documentType: 0.8, tags: 0.7 },
      evidence: "header line",
      ...over,
    },
  };
}

export async function startAiProvider(): Promise<AiProviderSimulator> {
  const calls: ModelCall[] = [];
  let [inFlight, mostInFlight] = [0, 0];
  const simulator: { reply: AiProviderSimulator["reply"] } = { reply: () => suggestion() };
  const server = createServer((request, response) => {
    void (async () => {
      inFlight += 1;
      mostInFlight = Math.max(mostInFlight, inFlight);
      response.once("close", () => (inFlight -= 1));
      if (request.url?.endsWith("/models") === true)
        return sendJson(response, 200, { data: [{ id: "local-model", object: "model" }] });
      const call = await readCall(request);
      calls.push(call);
      answer(response, call, refusedEffort(call) ?? (await simulator.reply(call)));
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    calls,
    get mostInFlight() {
      return mostInFlight;
    },
    set mostInFlight(count) {
      mostInFlight = count;
    },
    get reply() {
      return simulator.reply;
    },
    set reply(reply) {
      simulator.reply = reply;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function readCall(request: IncomingMessage): Promise<ModelCall> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  const body = JSON.parse(Buffer.concat(pieces).toString());
  const api = request.url?.endsWith("/responses")
    ? "responses"
    : request.url?.endsWith("/messages")
      ? "messages"
      : "chat";
  const messages = body.input ?? body.messages;
  const [system, user] =
    api === "messages"
      ? [body.system[0].text, messages[0].content]
      : [messages[0].content, messages[1].content];
  const bearer = request.headers.authorization?.replace("Bearer ", "");
  const key = bearer ?? (request.headers["x-api-key"] as string | undefined);
  return { api, key, model: body.model, system, user, body };
}

/** As Anthropic does for models without that parameter. */
function refusedEffort({ api, model, body }: ModelCall): ModelReply | undefined {
  const isRefused =
    api === "messages" &&
    model.startsWith("claude-haiku-4-5") &&
    body.output_config?.effort !== undefined;
  return isRefused ? { kind: "status", status: 400 } : undefined;
}

function answer(response: ServerResponse, { api }: ModelCall, reply: ModelReply): void {
  switch (reply.kind) {
    case "suggestion":
      return sendJson(response, 200, bodies[api](JSON.stringify(reply.value)));
    case "text":
      return sendJson(response, 200, bodies[api](reply.text));
    case "refusal":
      return sendJson(response, 200, refusals[api]);
    case "cut":
      return sendJson(response, 200, cuts[api]);
    case "ended":
      return sendJson(response, 200, endedBody(reply));
    case "huge":
      return sendJson(response, 200, bodies[api]("x".repeat(6 * 1024 * 1024)));
    case "redirect":
      response.writeHead(307, { location: "/elsewhere/chat" });
      response.end();
      return;
    case "status":
      return sendJson(
        response,
        reply.status,
        { error: { message: "your prompt was: SECRET TEXT", code: reply.code } },
        reply.headers,
      );
    case "hang":
      // Never answered; the client gives up.
      return;
  }
}

const openAiUsage = {
  input_tokens: USAGE.prompt,
  output_tokens: USAGE.completion,
  input_tokens_details: { cached_tokens: USAGE.cached },
};
const chatUsage = { prompt_tokens: USAGE.prompt, completion_tokens: USAGE.completion };

const bodies: Readonly<Record<ModelCall["api"], (text: string) => object>> = {
  responses: (text) => ({
    id: "resp_1",
    object: "response",
    status: "completed",
    output: [{ type: "message", role: "assistant", content: [{ type: "output_text", text }] }],
    usage: openAiUsage,
  }),
  chat: (content) => ({
    id: "chat_1",
    choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content } }],
    usage: chatUsage,
  }),
  messages: (text) => ({
    id: "msg_1",
    type: "message",
    stop_reason: "end_turn",
    content: [{ type: "text", text }],
    usage: openAiUsage,
  }),
};

const refusals: Readonly<Record<ModelCall["api"], object>> = {
  responses: {
    status: "completed",
    output: [{ type: "message", content: [{ type: "refusal", refusal: "no" }] }],
    usage: openAiUsage,
  },
  chat: {
    choices: [{ finish_reason: "stop", message: { content: null, refusal: "no" } }],
    usage: chatUsage,
  },
  messages: { type: "message", stop_reason: "refusal", content: [], usage: openAiUsage },
};

const cuts: Readonly<Record<ModelCall["api"], object>> = {
  responses: {
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
    output: [],
    usage: openAiUsage,
  },
  chat: {
    choices: [{ finish_reason: "length", message: { content: "{" } }],
    usage: chatUsage,
  },
  messages: {
    type: "message",
    stop_reason: "max_tokens",
    content: [{ type: "text", text: "{" }],
    usage: openAiUsage,
  },
};

function endedBody({ status, code }: Extract<ModelReply, { readonly kind: "ended" }>): object {
  return {
    id: "resp_1",
    object: "response",
    status,
    error: code === undefined ? null : { code, message: "your prompt was: SECRET TEXT" },
    output: [],
    usage: null,
  };
}

function sendJson(
  response: ServerResponse,
  status: number,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.destroyed) return;
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
