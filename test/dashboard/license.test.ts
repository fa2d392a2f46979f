import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { issueLicense } from "../../apps/collector/src/services/license/issue.ts";
import { type Collector, startCollector } from "../system/deployment.ts";
import { findFaults } from "./axe.ts";
import { type RealBrowser, startBrowser } from "./browser.ts";
import { logIn, pressOn, settle } from "./pages.ts";

const ADMIN = { username: "admin", password: "only for this test" };
const YEAR_SECONDS = 31_536_000;

let folder: string;
let collector: Collector;
let browser: RealBrowser;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-license-page-"));
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  writeFileSync(join(folder, "issuer.pem"), privateKey.export({ type: "pkcs8", format: "pem" }));
  writeFileSync(join(folder, "public.pem"), publicKey.export({ type: "spki", format: "pem" }));
  const file = join(folder, "collector.toml");
  writeFileSync(file, `[license]\nissuer_files = [${JSON.stringify(join(folder, "public.pem"))}]\n`);
  collector = await startCollector({ dataDir: join(folder, "collector"), host: "127.0.0.1", file, env: { LANTHORN_ADMIN_PASSWORD: ADMIN.password } });
  for (const ip of ["10.9.3.1", "10.9.3.2"]) await collector.rest.createDevice({ ip });
  browser = await startBrowser();
});

afterAll(async () => {
  await browser?.close();
  await collector?.stop();
  rmSync(folder, { recursive: true, force: true });
});

test("a license is uploaded, shown with how much of it is used, and removed by keyboard alone; what is none is refused in words", async () => {
  const now = Math.floor(Date.now() / 1000);
  const license = await issueLicense({ jti: "L-7", sub: "<b>Stores</b>\u202E", iat: now, exp: now + YEAR_SECONDS, devices: 1, probes: 5, features: ["reports"] }, join(folder, "issuer.pem"));
  const { page, context, faults } = await browser.open();
  await logIn(page, collector.url, ADMIN);
  for (const key of ["g", "y"]) await page.keyboard.press(key);
  await settle(page, /^License/);
  await page.getByText("No license is uploaded.").waitFor();
  await page.getByText("2 without a limit").waitFor();
  const { version } = await collector.rest.readHealth();
  await page.getByRole("listitem").filter({ hasText: "Collector" }).getByText(version).waitFor();
  await page.keyboard.press("n");
  await page.keyboard.type("a.b.c");
  await pressOn(page.getByRole("button", { name: "Upload", exact: true }));
  await page.getByRole("alert").getByText("not signed by an issuer").waitFor();
  expect(await findFaults(page, "license dialog")).toEqual([]);
  await page.getByLabel("License", { exact: true }).fill(license);
  await pressOn(page.getByRole("button", { name: "Upload", exact: true }));
  await page.getByText("<b>Stores</b>⟨202E⟩").waitFor();
  await page.getByRole("listitem").filter({ hasText: "2 of 1" }).getByText("exceeded").waitFor();
  expect(await findFaults(page, "license")).toEqual([]);
  expect(await collector.rest.readLicense()).toMatchObject({ status: "valid", license_id: "L-7", uploaded_by: "admin" });
  await pressOn(page.getByRole("button", { name: "Remove L-7" }));
  await pressOn(page.getByRole("button", { name: "Remove", exact: true }));
  await page.getByText("No license is uploaded.").waitFor();
  expect((await collector.rest.readLicense()).status).toBe("community");
  expect(faults).toEqual([]);
  await context.close();
});
