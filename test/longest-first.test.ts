import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { TestSpecification, Vitest } from "vitest/node";
import { LONG_FILES, LongestFirst } from "./longest-first.ts";

const ROOT = join(import.meta.dirname, "..");
const config = { sequence: { groupOrder: 0 }, isolate: false };
const fileOf = (path: string, name = "sqlite") => ({ moduleId: join(ROOT, path), project: { name, config } }) as TestSpecification;

/** In the order of the run, as `project path`. */
async function order(...files: readonly TestSpecification[]): Promise<readonly string[]> {
  const context = { config: { root: ROOT }, cache: { getFileTestResults: () => undefined, getFileStats: () => undefined } };
  const sorted = await new LongestFirst(context as unknown as Vitest).sort([...files]);
  return sorted.map(({ project, moduleId }) => `${project.name} ${moduleId.slice(ROOT.length + 1)}`);
}

describe("a run", () => {
  test("knows as long files only those that are there, each once", () => {
    const names = LONG_FILES.flat();
    expect(names.filter((name) => !existsSync(join(ROOT, `${name}.test.ts`)))).toEqual([]);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(30);
  });

  test("begins with the longest files, those that wait in turns with those that compute, and ends one project before the next", async () => {
    const [short, long] = ["apps/probe/src/errors.test.ts", "apps/collector/src/documents/every-call-access.test.ts"];
    expect(await order(
      fileOf(short), fileOf(long, "postgres"), fileOf("test/walk.test.ts"), fileOf(long), fileOf(short, "postgres"),
      fileOf("test/system/faults.test.ts"), fileOf("test/system/routed.test.ts"),
    )).toEqual([
      "sqlite test/system/routed.test.ts", `sqlite ${long}`, "sqlite test/system/faults.test.ts", `sqlite ${short}`,
      "sqlite test/walk.test.ts", `postgres ${long}`, `postgres ${short}`,
    ]);
  });
});
