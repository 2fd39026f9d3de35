/** A real Chromium for the pages' tests, where this machine has one. */
import { accessSync, constants } from "node:fs";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, onTestFinished } from "vitest";

/** The shell first: it has no windows, and takes a quarter less CPU time. */
const PATHS = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];

/** Where it is; undefined when there is none, which is said once. */
export const chromiumPath: string | undefined = PATHS.find((path) => {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
});
if (chromiumPath === undefined)
  process.stderr.write(
    "skipped: the pages in a real browser (no chromium on this machine; `.ci/run` installs Debian's chromium-headless-shell where it can)\n",
  );

let browser: Promise<Browser> | undefined;

/**
 * For the top of each test file with pages: closes the browser after it. Files share a process, so
 * a hook of this module would run for the first alone.
 */
export function useChromium(): void {
  afterAll(async () => {
    const closing = browser;
    browser = undefined;
    await (await closing)?.close();
  });
}

/** A page with an ear on it. */
export interface Watched {
  readonly page: Page;
  /** Errors and warnings of the console, exceptions, refused loads: a page has none. */
  readonly complaints: string[];
  /** Every address that was asked for. */
  readonly requests: string[];
}

/** A new window of its own; closed when the test ends. */
export async function openPage(options: BrowserContextOptions = {}): Promise<Watched> {
  browser ??= chromium.launch({
    executablePath: chromiumPath ?? "",
    args: ["--no-sandbox", "--disable-dev-shm-usage"],
  });
  const context = await (
    await browser
  ).newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", ...options });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  page.setDefaultTimeout(60_000);
  const [complaints, requests]: [string[], string[]] = [[], []];
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning") complaints.push(message.text());
  });
  page.on("pageerror", (error) => void complaints.push(error.message));
  page.on("request", (request) => void requests.push(request.url()));
  return { page, complaints, requests };
}

/** Waits until the island has taken over. */
export async function ready(page: Page): Promise<void> {
  await page.locator("html.ready").waitFor({ state: "attached" });
}
