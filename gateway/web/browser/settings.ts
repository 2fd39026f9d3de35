/**
 * The island of `/settings/dedup`: keeps what is typed until it is saved, asks what it would
 * recalculate, and follows the analysis that the reader starts.
 */
import type {
  AiProviderTest,
  ConnectionTest,
  DedupConfigPreview,
  Setting,
} from "../../../src/gen/dedup-json.ts";
import { formatSome } from "../format.ts";
import { read, valueOf } from "../review/load.ts";
import type { Outcome } from "../settings/connections.ts";
import { loadSettings, type SettingsFacts } from "../settings/load.ts";
import { settingsPage, type AnalysisCounts, type SettingsMarks } from "../settings/page.ts";
import { PREFIXES, type FormName } from "../settings/words.ts";
import { RefusedFields } from "./document-api.ts";
import { createJobFollower } from "./job-follower.ts";
import { createLoadedPage } from "./loaded-page.ts";
import { reviewClient } from "./review-client.ts";
import { settingsClient, type AnalysisChange } from "./settings-client.ts";
import { startTheme } from "./theme.ts";
import { toast } from "./toasts.ts";

const TYPING_MS = 250;
/** Bytes of a file that is taken over; the server takes no more. */
const MAX_FILE_BYTES = 64 * 1024 * 1024;

const values = new Map<string, string>();
const problems = new Map<string, string>();
const archiveTests = new Map<string, Outcome<ConnectionTest>>();
const providerTests = new Map<string, Outcome<AiProviderTest>>();
const ai = document.querySelector("#app [data-form=ai]") !== null;
let preview: DedupConfigPreview | undefined;
let done: AnalysisCounts | undefined;
/** The form that is being saved. */
let saving: FormName | undefined;
let saves: Promise<void> = Promise.resolve();
let asked = 0;
let timer: ReturnType<typeof setTimeout> | undefined;

const page = createLoadedPage<SettingsFacts>({
  load: () => loadSettings(settingsClient, { ai }),
  view: (facts) => settingsPage(facts, { ai }, marks()),
  loaded(facts) {
    const analysis = valueOf(facts.analysis);
    if (analysis?.isAnalyzing === true && analysis.currentJobId !== null)
      jobs.follow(analysis.currentJobId);
  },
});
const jobs = createJobFollower({
  draw: () => page.draw(),
  ended(jobId, event) {
    done = undefined;
    if (event?.status === "failed")
      toast(`The analysis failed: ${event.errorMessage ?? "the log says why"}`);
    if (event?.status === "cancelled") toast("The analysis was cancelled.");
    run(async () => {
      if (event?.status === "completed")
        done = valueOf(await read(() => settingsClient.result(jobId)));
      await page.load();
    });
  },
});

function marks(): SettingsMarks {
  const draft = { values, problems, isLive: true };
  return { draft, preview, progress: jobs.progress, done, archiveTests, providerTests };
}

function settingOf(name: string): Setting | undefined {
  return valueOf(page.facts?.settings)?.find((each) => each.name === name);
}

function formOf(name: string): FormName {
  return name.startsWith(PREFIXES.ai) ? "ai" : "analysis";
}

/** Unsaved values by setting. */
function changesOf(form: FormName): ReadonlyMap<string, string> {
  return new Map([...values].filter(([name]) => formOf(name) === form));
}

/** Settings of the analysis with the types of the API; what is no number is left to the server to refuse. */
function analysisChange(changes: ReadonlyMap<string, string>): AnalysisChange {
  return Object.fromEntries(
    [...changes].map(([name, text]) => {
      const isSwitch = settingOf(name)?.expects === "true or false";
      const value = isSwitch ? text === "true" : text.trim() === "" ? text : Number(text);
      return [name.slice(PREFIXES.analysis.length), Number.isNaN(value) ? text : value];
    }),
  );
}

function change(name: string, text: string): void {
  // The value before a save that runs is a change, too, once that save is done.
  if (text === settingOf(name)?.value && saving !== formOf(name)) values.delete(name);
  else values.set(name, text);
  problems.delete(name);
  if (formOf(name) === "analysis") askPreview();
  page.draw();
}

/** Once typing has paused; answers to older questions are dropped. */
function askPreview(): void {
  clearTimeout(timer);
  preview = undefined;
  const mine = ++asked;
  for (const name of problems.keys()) if (formOf(name) === "analysis") problems.delete(name);
  if (changesOf("analysis").size === 0) return;
  timer = setTimeout(() => {
    const done = settingsClient.preview(analysisChange(changesOf("analysis"))).then(
      (answer) => {
        if (mine === asked) preview = answer;
        return undefined;
      },
      (thrown: unknown) => {
        if (mine === asked) showProblems("analysis", thrown);
      },
    );
    void done.then(() => page.draw());
  }, TYPING_MS);
}

/** Beside their fields where the refusal names them, else as a notice. */
function showProblems(form: FormName, thrown: unknown): void {
  const refused = thrown instanceof RefusedFields ? [...thrown.fields] : [];
  const prefix = PREFIXES[form];
  const known = refused.flatMap(([path, message]) => {
    const field = path.split(".").at(-1) ?? "";
    // The request's path stands at the beginning, where a reader expects no name at all.
    const sentence = message.replace(`${path} `, "").replace(`${field} `, "");
    return settingOf(`${prefix}${field}`) === undefined ? [] : [[`${prefix}${field}`, sentence]];
  }) as [string, string][];
  for (const [name, message] of known) problems.set(name, message);
  if (known.length === 0) toast(thrown instanceof Error ? thrown.message : String(thrown));
}

/** After the save before it, with what was typed since. */
function save(form: FormName): Promise<void> {
  saves = saves.then(async () => {
    const sent = changesOf(form);
    if (sent.size === 0) return;
    saving = form;
    const focused = document.activeElement;
    const isSaved = await send(form, sent);
    if (isSaved) await page.load();
    saving = undefined;
    forget(form, isSaved ? sent : new Map());
    if (isSaved && form === "analysis") askPreview();
    page.draw();
    // Who went on to another field meanwhile stays there.
    if (!isSaved && document.activeElement === focused) focusInvalid(form);
  });
  return saves;
}

/** The first field whose value was refused may be out of sight. */
function focusInvalid(form: FormName): void {
  document.querySelector<HTMLElement>(`form[data-form="${form}"] [aria-invalid="true"]`)?.focus();
}

/** Whether the server took it. Never rejects. */
async function send(form: FormName, sent: ReadonlyMap<string, string>): Promise<boolean> {
  try {
    if (form === "analysis") {
      const { meta } = await settingsClient.saveAnalysis(analysisChange(sent));
      const count = meta?.recalculatedGroups ?? 0;
      toast(
        count > 0
          ? `Saved. The scores of ${formatSome(count, "group")} are recalculated.`
          : "Saved.",
      );
    } else {
      await settingsClient.saveTexts(Object.fromEntries(sent));
      // What a test found was so of the settings before.
      providerTests.clear();
      toast("Saved. It holds from the next run on.");
    }
    return true;
  } catch (thrown) {
    showProblems(form, thrown);
    return false;
  }
}

/** Drops what is saved, and what is the value of the server; what was typed since stays. */
function forget(form: FormName, saved: ReadonlyMap<string, string>): void {
  for (const [name, text] of changesOf(form)) {
    if (text !== saved.get(name) && text !== settingOf(name)?.value) continue;
    values.delete(name);
    problems.delete(name);
  }
}

function discard(form: FormName): void {
  for (const name of changesOf(form).keys()) {
    values.delete(name);
    problems.delete(name);
  }
  if (form === "analysis") askPreview();
  // A field that was typed into keeps its text unless it is told.
  for (const field of document.querySelectorAll<HTMLInputElement>("[data-setting]")) {
    const known = settingOf(field.dataset["setting"] ?? "");
    if (known === undefined || formOf(known.name) !== form) continue;
    if (field.type === "checkbox") field.checked = known.value === "true";
    else field.value = known.value;
  }
  page.draw();
}

/** One test of a name at a time. */
async function test<T>(
  tests: Map<string, Outcome<T>>,
  name: string,
  ask: () => Promise<T>,
): Promise<void> {
  if (tests.has(name) && tests.get(name) === undefined) return;
  tests.set(name, undefined);
  page.draw();
  tests.set(name, await read(ask));
  page.draw();
}

async function analyse(): Promise<void> {
  jobs.follow(await reviewClient.start("analysis"));
}

async function takeOver(input: HTMLInputElement): Promise<void> {
  const [file] = input.files ?? [];
  if (file === undefined) return;
  try {
    if (file.size > MAX_FILE_BYTES) throw new Error("The file is too large to be settings.");
    const body = JSON.parse(await file.text()) as unknown;
    const { data } = await settingsClient.importFile(body);
    toast(`Taken over: ${formatSome(data.appConfigKeys, "setting")}.`);
    discard("analysis");
    discard("ai");
    await page.load();
  } finally {
    input.value = "";
  }
}

/** Rejections become notices. */
function run(action: () => Promise<void>): void {
  action().catch((thrown: unknown) =>
    toast(
      thrown instanceof SyntaxError
        ? "The file holds no JSON."
        : thrown instanceof Error
          ? thrown.message
          : String(thrown),
    ),
  );
}

const BUTTONS: Readonly<Record<string, (button: HTMLElement) => void>> = {
  discard: ({ dataset }) => discard(dataset["form"] as FormName),
  test({ dataset }) {
    const name = dataset["id"] ?? "";
    run(() => test(archiveTests, name, () => settingsClient.test(name)));
  },
  "test-provider": ({ dataset }) =>
    run(() => test(providerTests, dataset["id"] ?? "", () => settingsClient.testProvider())),
  analyse: () => run(analyse),
  cancel: ({ dataset }) => run(() => reviewClient.cancel(dataset["id"] ?? "")),
  reload: () => run(() => page.load()),
};

document.addEventListener("click", ({ target }) => {
  const button = target instanceof Element ? target.closest<HTMLElement>("[data-act]") : null;
  if (button !== null) BUTTONS[button.dataset["act"] ?? ""]?.(button);
});
document.addEventListener("input", ({ target }) => {
  if (!(target instanceof HTMLInputElement || target instanceof HTMLSelectElement)) return;
  const name = target.dataset["setting"];
  if (name === undefined) return;
  const isSwitch = target instanceof HTMLInputElement && target.type === "checkbox";
  change(name, isSwitch ? String(target.checked) : target.value);
});
document.addEventListener("change", ({ target }) => {
  if (target instanceof HTMLInputElement && target.dataset["import"] !== undefined)
    run(() => takeOver(target));
});
document.addEventListener("submit", (event) => {
  if (!(event.target instanceof HTMLFormElement)) return;
  event.preventDefault();
  const form = event.target.dataset["form"] as FormName;
  run(() => save(form));
});
// What was typed is not lost by a slip.
addEventListener("beforeunload", (event) => {
  if (values.size > 0) event.preventDefault();
});
startTheme();
run(() => page.load());
