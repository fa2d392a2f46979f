import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { unpackDebianPackages } from "../lab/debian-packages.ts";

/** A window of a browser, and what went wrong in it. */
export interface Window {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page must not cause: errors of scripts, and what its policy forbade. */
  readonly faults: readonly string[];
}

/** A real browser without a screen. */
export interface RealBrowser {
  open(options?: { readonly width?: number; readonly height?: number; readonly scheme?: "light" | "dark" }): Promise<Window>;
  close(): Promise<void>;
}

const WAIT_MS = 300_000;
const ARGS = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update"];

/** Starts Debian's headless Chromium: unpacked beside the lab's other programs where the machine has none. It resolves no name but loopback's. */
export async function startBrowser(): Promise<RealBrowser> {
  const debian = await unpackDebianPackages(["chromium-headless-shell", "fonts-dejavu-core", "fonts-inter"]);
  const { path, env } = debian.command("chromium-headless-shell");
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-browser-"));
  const fonts = join(folder, "fonts.conf");
  writeFileSync(fonts, fontsOf(debian.root, folder));
  const browser: Browser = await chromium.launch({
    // The command is a script that looks for the program below `/usr`.
    executablePath: join(path, "../../lib/chromium/chromium-headless-shell"),
    env: { ...process.env, ...env, FONTCONFIG_FILE: fonts },
    args: [...ARGS, "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1"],
  });
  return {
    async open({ width = 1280, height = 800, scheme = "light" } = {}) {
      const context = await browser.newContext({
        viewport: { width, height }, colorScheme: scheme, timezoneId: "Europe/Berlin", locale: "en-GB",
        // The collector's own CA, which no browser of a test knows.
        ignoreHTTPSErrors: true,
      });
      // For what hangs, as everywhere in the suite.
      context.setDefaultTimeout(WAIT_MS);
      const page = await context.newPage();
      const faults: string[] = [];
      page.on("pageerror", (error) => faults.push(error.message));
      page.on("console", (message) => {
        // A refused request is said as an error too; whether it may be refused is the test's business.
        if (message.type() === "error" && !message.text().startsWith("Failed to load resource")) faults.push(message.text());
      });
      return { page, context, faults };
    },
    async close() {
      await browser.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** A machine without a desktop has no font for `system-ui`. */
function fontsOf(root: string, cacheFolder: string): string {
  const alias = (family: string, prefer: string) => `<alias binding="strong"><family>${family}</family><prefer><family>${prefer}</family></prefer></alias>`;
  return `<?xml version="1.0"?><fontconfig><dir>${root}/usr/share/fonts</dir><dir>/usr/share/fonts</dir><cachedir>${cacheFolder}</cachedir>`
    + `${alias("system-ui", "Inter")}${alias("sans-serif", "Inter")}${alias("ui-monospace", "DejaVu Sans Mono")}${alias("monospace", "DejaVu Sans Mono")}</fontconfig>`;
}
