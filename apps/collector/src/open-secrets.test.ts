import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { hasOpenSecrets } from "./open-secrets.ts";

test("secrets in a file that others may read are noticed", () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-secrets-"));
  const file = join(folder, "collector.toml");
  const check = (text: string, mode: number) => {
    writeFileSync(file, text);
    chmodSync(file, mode);
    return hasOpenSecrets(file);
  };
  for (const text of ['[gateway]\nsecret = "x"', 'sealing_key="x"', '[database]\nurl = "postgres://lanthorn:word@db/lanthorn"']) {
    expect([check(text, 0o644), check(text, 0o640), check(text, 0o600)]).toEqual([true, false, false]);
  }
  expect(check('# secret = "x"\n[database]\nurl = "postgres://lanthorn@db/lanthorn"', 0o644)).toBe(false);
  expect(hasOpenSecrets(join(folder, "none"))).toBe(false);
  rmSync(folder, { recursive: true });
});
