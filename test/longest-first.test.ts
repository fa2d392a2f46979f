import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { TestSpecification, Vitest } from "vitest/node";
import { LONG_FILES, LongestFirst } from "./longest-first.ts";
import { WITHOUT_DATABASE } from "./without-database.ts";

const ROOT = join(import.meta.dirname, "..");
const config = { sequence: { groupOrder: 0 }, isolate: false };
const fileOf = (path: string, name = "sqlite") => ({ moduleId: join(ROOT, path), project: { name, config } }) as TestSpecification;

/** In the order of the run, as `project path`. */
async function order(...files: readonly TestSpecification[]): Promise<readonly string[]> {
  const context = { config: { root: ROOT }, cache: { getFileTestResults: () => undefined, getFileStats: () => undefined } };
  const sorted = await new LongestFirst(context as unknown as Vitest).sort([...files]);
  return sorted.map(({ project, moduleId }) => `${project.name} ${moduleId.slice(ROOT.length + 1)}`);
}

/** Paths of all test files. */
function testFiles(): readonly string[] {
  const folders = ["apps", "packages"].flatMap((parent) => readdirSync(join(ROOT, parent)).map((name) => `${parent}/${name}/src`));
  return [...folders, "test/lab", "test/system", "test/regexes"].flatMap((folder) => readdirSync(join(ROOT, folder), { recursive: true })
    .map((name) => `${folder}/${String(name)}`).filter((path) => path.endsWith(".test.ts")));
}

/** A glob for each of the names that stand in braces. */
function spread(glob: string): readonly string[] {
  const names = /\{([^{}]*)\}/.exec(glob)?.[1];
  return names === undefined ? [glob] : names.split(",").map((name) => glob.replace(`{${names}}`, name));
}

/** `*` is any name, `**` any folders. */
function patternOf(glob: string): RegExp {
  return new RegExp(`^${glob.replaceAll(".", "\\.").replaceAll("**/", "(?:.+/)?").replaceAll(/(?<!\.)\*/g, "[^/]*")}$`);
}

describe("a run", () => {
  test("knows as long files, and as those without a database, only what is there", () => {
    const paths = testFiles();
    expect(paths.length).toBeGreaterThan(300);
    const names = LONG_FILES.flat();
    expect(names.filter((name) => !paths.some((path) => path.endsWith(`/${name}.test.ts`)))).toEqual([]);
    expect([new Set(names).size, names.length > 30]).toEqual([names.length, true]);
    const globs = WITHOUT_DATABASE.flatMap(spread);
    expect(globs.filter((glob) => !paths.some((path) => patternOf(glob).test(path)))).toEqual([]);
    expect(globs.length).toBeGreaterThan(20);
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
