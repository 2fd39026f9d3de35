/** What the access policy says of the traffic: what no rule permits, and which rules are used. */
import type { FlowPolicy, FlowReport } from "../../../src/gen/flows-json.ts";
import { formatBytes, formatCount, formatSome } from "../format.ts";
import { html, type View } from "../html.ts";
import { part } from "../pieces/section.ts";
import { banner } from "../review/words.ts";
import { bytesOf } from "./rankings.ts";

/** Nothing where there is no policy; the reason where traffic is no longer compared with it. */
export function policyParts({ policy, result, exercised }: FlowReport): readonly View[] {
  const isShown = (rows: readonly unknown[]): boolean => policy.available || rows.length > 0;
  return [
    ...notice(policy),
    ...(isShown(result.unexplained)
      ? [
          part(
            "Unexplained",
            unexplained(result),
            "Traffic that no rule of the access policy permits.",
          ),
        ]
      : []),
    ...(isShown(exercised)
      ? [
          part(
            "Exercised rules",
            rules(exercised),
            "Rules of the access policy that permitted traffic in this window.",
          ),
        ]
      : []),
  ];
}

function notice({ available, error }: FlowPolicy): readonly View[] {
  if (error === undefined) return [];
  const title = available
    ? "The access policy is not current."
    : "Traffic is not compared with the access policy.";
  return [banner("notice", html`<span><strong>${title}</strong> ${error}</span>`)];
}

function unexplained({ unexplained: rows, verdicts }: FlowReport["result"]): View {
  if (rows.length === 0) {
    const undecided = verdicts.find(({ label }) => label === "undetermined")?.counts.flows ?? 0;
    return html`<p class="note">None${undecided === 0 ? "" : `, but ${formatSome(undecided, "connection")} may be: rules depend on what Steward does not know`}.</p>`;
  }
  return html`<div class="scroll"><table aria-label="unexplained traffic"><thead><tr>${["From", "To", "Port"].map((title) => html`<th scope="col">${title}</th>`)}<th scope="col" class="figure">Bytes</th><th scope="col" class="figure">Connections</th></tr></thead>
    <tbody>${rows.map(({ src, dst, transport, port, counts }) => html`<tr><td data-label="From">${src}</td><td data-label="To">${dst}</td><td data-label="Port">${port === undefined ? transport : `${port}/${transport}`}</td><td class="figure" data-label="Bytes">${formatBytes(bytesOf(counts))}</td><td class="figure" data-label="Connections">${formatCount(counts.flows)}</td></tr>`)}</tbody></table></div>`;
}

function rules(exercised: FlowReport["exercised"]): View {
  if (exercised.length === 0) return html`<p class="note">No rule permitted traffic.</p>`;
  return html`<div class="scroll"><table aria-label="exercised rules"><thead><tr><th scope="col">Rule</th><th scope="col">Text</th><th scope="col" class="figure">Bytes</th><th scope="col" class="figure">Connections</th></tr></thead>
    <tbody>${exercised.map(({ index, kind, source, available, counts }) => html`<tr><td data-label="Rule">${kind ?? "rule"} ${index}</td><td data-label="Text">${available ? html`<code class="long">${source ?? ""}</code>` : html`<span class="muted">of an earlier policy</span>`}</td><td class="figure" data-label="Bytes">${formatBytes(bytesOf(counts))}</td><td class="figure" data-label="Connections">${formatCount(counts.flows)}</td></tr>`)}</tbody></table></div>`;
}
