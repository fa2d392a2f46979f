import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLog } from "@lanthorn/runtime";
import { expect, test } from "vitest";
import { createSharing, siteFiles } from "../testing/site-bundle.ts";
import { createSiteLists } from "./site-lists.ts";

test("lists with more rules than there is memory for leave those before as they were", async () => {
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-site-lists-"));
  const { home, install } = createSharing(folder);
  const said: unknown[] = [];
  const lists = createSiteLists({ directory: home, pointer: "versions", categories: ["malware"], maxRules: 2 }, { ...silentLog, error: (...all: readonly unknown[]) => void said.push(all) });
  const leave = (...names: readonly string[]) => install(siteFiles({ bad: [names.map((name) => `${name}\n`).join("")], ads: ["x.example\ny.example\nz.example\n"] }, {}, { bad: "malware" }));
  try {
    leave("a.example", "b.example");
    expect((await lists.read())?.set.size).toBe(2);
    leave("a.example", "b.example", "c.example");
    expect([lists.hasChanged(), await lists.read(), JSON.stringify(said)]).toEqual([true, undefined, expect.stringContaining("the 2 for which there is memory")]);
  } finally {
    await lists.close();
    rmSync(folder, { recursive: true });
  }
});
