import { generateKeyPairSync } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { issueLicense } from "../../apps/collector/src/services/license/issue.ts";
import { findFaults } from "./axe.ts";
import { ADMIN, useDeployment } from "./deployment.ts";
import { goTo, logIn, pressOn, settle } from "./pages.ts";

const YEAR_SECONDS = 31_536_000;
const deployment = useDeployment({
  async configure(folder) {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    writeFileSync(join(folder, "issuer.pem"), privateKey.export({ type: "pkcs8", format: "pem" }));
    writeFileSync(join(folder, "public.pem"), publicKey.export({ type: "spki", format: "pem" }));
    const file = join(folder, "collector.toml");
    writeFileSync(file, `[license]\nissuer_files = [${JSON.stringify(join(folder, "public.pem"))}]\n`);
    return { file };
  },
});

beforeAll(async () => {
  for (const ip of ["10.9.3.1", "10.9.3.2"]) await deployment.collector.rest.createDevice({ ip });
});

test("a license is uploaded, shown with how much of it is used, and removed by keyboard alone; what is none is refused in words", async () => {
  const now = Math.floor(Date.now() / 1000);
  const license = await issueLicense({ jti: "L-7", sub: "<b>Stores</b>\u202E", iat: now, exp: now + YEAR_SECONDS, devices: 1, probes: 5, features: ["reports"] }, join(deployment.folder, "issuer.pem"));
  const { page, context, faults } = await deployment.browser.open();
  await logIn(page, deployment.collector.url, ADMIN);
  await goTo(page, "y");
  await settle(page, /^License/);
  await page.getByText("No license is uploaded.").waitFor();
  await page.getByText("2 without a limit").waitFor();
  const { version } = await deployment.collector.rest.readHealth();
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
  expect(await deployment.collector.rest.readLicense()).toMatchObject({ status: "valid", license_id: "L-7", uploaded_by: "admin" });
  await pressOn(page.getByRole("button", { name: "Remove L-7" }));
  await pressOn(page.getByRole("button", { name: "Remove", exact: true }));
  await page.getByText("No license is uploaded.").waitFor();
  expect((await deployment.collector.rest.readLicense()).status).toBe("community");
  expect(faults).toEqual([]);
  await context.close();
});
