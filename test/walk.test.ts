import { readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const WALK = "## From frame to delivery";
const SCAN = "A scan order likewise:";

interface Step {
  readonly name: string;
  readonly path: string;
}

const section = readFileSync(join(ROOT, "README.md"), "utf8").split(`${WALK}\n`)[1]?.split("\n## ")[0] ?? "";
const [frame = "", scan = ""] = section.split(SCAN);

describe.each([["a frame's", frame], ["a scan order's", scan]])("the README's walk of %s way", (_, text) => {
  const stages = text.split("\n").filter((line) => line.startsWith("- ")).map(readStage);
  const steps = stages.flat();

  test("has at most 25 functions in 20 files", () => {
    expect(steps.length).toBeGreaterThan(10);
    expect(steps.length).toBeLessThanOrEqual(25);
    expect(new Set(steps.map(({ path }) => path)).size).toBeLessThanOrEqual(20);
  });

  test("names functions that are in their files", () => {
    expect(steps.filter((step) => !declares(step))).toEqual([]);
  });

  test("goes from each function to one that it, or one before it, calls", () => {
    const lost = stages.flatMap((stage) => stage.slice(1).filter((step, index) => !stage.slice(0, index + 1).some((from) => reaches(from, step))));
    expect(lost).toEqual([]);
  });

  test("never goes back up: no file uses one that comes before it", () => {
    const back = stages.flatMap((stage) => stage.flatMap(({ path }, index) =>
      stage.slice(0, index).filter((above) => above.path !== path && valueImports(path).includes(above.path)).map((above) => `${path} uses ${above.path}`)));
    expect(back).toEqual([]);
  });
});

/** A line's functions, each with the file behind it: "`a`, `b` ([file](path)) → `c` ([file](path))". */
function readStage(line: string): readonly Step[] {
  return [...line.matchAll(/((?:`\w+`(?:, )?)+) \(\[[^\]]+\]\(([^)]+)\)\)/g)].flatMap(([, names = "", path = ""]) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => ({ name, path })));
}

/** Whether the file has a function of the name: declared, or as a method or property of what it gives out. */
function declares({ name, path }: Step): boolean {
  return new RegExp(`function\\*? ${name}\\b|const ${name} = |^\\s+(?:async )?\\*?${name}[(]|^\\s+${name}: |[{,] ${name}[,: ]`, "m").test(read(path));
}

/** Whether one function's file calls the other, or has it handed in as what the other's file gives out. */
function reaches(from: Step, to: Step): boolean {
  return new RegExp(`\\b${to.name}[(]|\\.${to.name}\\b`).test(read(from.path)) || imports(from.path).includes(to.path);
}

function imports(path: string): readonly string[] {
  return [...read(path).matchAll(/\bfrom "(\.[^"]+)"|\bimport\("(\.[^"]+)"\)/g)]
    .map(([, one, other]) => relative(ROOT, resolve(ROOT, dirname(path), one ?? other ?? "")));
}

/** Types are shapes, and call nobody. */
function valueImports(path: string): readonly string[] {
  return [...read(path).matchAll(/^import (?!type\b)[^;]*?\bfrom "(\.[^"]+)"/gm)]
    .map(([, one = ""]) => relative(ROOT, resolve(ROOT, dirname(path), one)));
}

function read(path: string): string {
  return readFileSync(join(ROOT, path), "utf8");
}
