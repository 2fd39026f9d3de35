/** Writes the JSON of an export in slices: 50,000 connections at once would hold the thread for a second. */
import { create } from "@bufbuild/protobuf";
import {
  ExportFlowsResponseSchema,
  FlowService,
} from "../../gen/steward/monitor/v1/flow_service_pb.ts";
import { FlowExportSchema, FlowSchema } from "../../gen/steward/monitor/v1/flows_pb.ts";
import { Turns } from "../../kernel/async/turns.ts";
import { assert } from "../../kernel/base/errors.ts";
import type { WrittenJson } from "../../kernel/service.ts";
import { writeRestJson } from "../../kernel/wire/rest-json.ts";
import { writeMessage } from "../../kernel/wire/write.ts";
import { rowOf } from "./flow-document.ts";
import { flowExport, type FlowExportAnswer } from "./flow-export.ts";

/** The rows come last, and rows of a list stand four spaces deep. */
const NO_ROWS = '"rows": []';
const DEPTH = "    ";
/** Characters of a piece. */
const PIECE = 256 * 1024;

/** The same as the gateway would write. Rejects with the signal's reason. */
export async function exportJson(
  answer: FlowExportAnswer,
  signal: AbortSignal,
): Promise<WrittenJson> {
  const { rows } = answer.page;
  const turns = new Turns();
  const envelope = create(FlowExportSchema, flowExport(answer));
  const whole = writeRestJson(
    FlowService.method.exportFlows,
    create(ExportFlowsResponseSchema, { export: envelope }),
  );
  const at = whole.lastIndexOf(NO_ROWS);
  assert(at > 0, "an export has rows");
  if (rows.length === 0) return { encoding: undefined, pieces: [shared(whole)] };
  const pieces: Uint8Array<SharedArrayBuffer>[] = [];
  let text = `${whole.slice(0, at)}"rows": [`;
  for (const [index, row] of rows.entries()) {
    if (turns.over) await turns.give(signal);
    const json = writeMessage(FlowSchema, create(FlowSchema, rowOf(row)), { indent: 2 });
    text += `${index === 0 ? "" : ","}\n${DEPTH}${json.replaceAll("\n", `\n${DEPTH}`)}`;
    if (text.length < PIECE) continue;
    pieces.push(shared(text));
    text = "";
  }
  pieces.push(shared(`${text}\n  ]${whole.slice(at + NO_ROWS.length)}`));
  return { encoding: undefined, pieces };
}

function shared(text: string): Uint8Array<SharedArrayBuffer> {
  const bytes = new Uint8Array(new SharedArrayBuffer(Buffer.byteLength(text)));
  Buffer.from(bytes.buffer).write(text);
  return bytes;
}
