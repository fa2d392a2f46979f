/** The project's own sources, as tests of its shape read them: the text of each file and what it imports. */
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** One file. */
export interface Source {
  /** From the root of the project. */
  readonly path: string;
  readonly text: string;
  /** As they are written: names of packages, and relative paths. */
  readonly imports: readonly string[];
  /** A test, or made for tests. */
  readonly isTest: boolean;
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    if (["node_modules", "dist", ".cache", ".turbo"].includes(entry.name)) return [];
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return listFiles(path);
    return /\.(?:ts|tsx|css)$/.test(entry.name) ? [path] : [];
  });
}

const IMPORTS = [
  /(?:^|\n)\s*(?:import|export)\b[^"'`;]*?\bfrom\s*"([^"]+)"/g, /(?:^|\n)\s*import\s*"([^"]+)"/g, /\bimport\(\s*"([^"]+)"\s*\)/g,
];
/** `@import`, and the class of another file in a CSS module. */
const CSS_IMPORTS = [/@import\s+(?:url\()?\s*["']([^"']+)["']/g, /\bcomposes:[^;]*?\bfrom\s+["']([^"']+)["']/g];

function readSource(path: string): Source {
  const text = readFileSync(path, "utf8");
  const imports = (path.endsWith(".css") ? CSS_IMPORTS : IMPORTS).flatMap((pattern) => [...text.matchAll(pattern)].map(([, name]) => name ?? ""));
  const where = relative(ROOT, path);
  return { path: where, text, imports, isTest: /\.test\.tsx?$|\/testing\//.test(where) };
}

/** @returns Whether a source lies below a folder. */
export function isIn(folder: string): (source: Source) => boolean {
  return (source) => source.path.startsWith(`${folder}/`);
}

/** The package or app that a file belongs to. */
export function unitOf(source: Source): string {
  return source.path.split("/")[1] ?? "";
}

/** A folder of an app's sources, or of the collector's services; null for a file that lies beside them and wires them. */
export function roomOf(path: string): string | null {
  const room = /^apps\/[^/]+\/src\/(?:services\/)?[^/]+(?=\/)/.exec(path)?.[0];
  return room === undefined || room.endsWith("/testing") ? null : room;
}

/** @returns Short names of the packages of ours that it imports. */
export function ourImports(source: Source): string[] {
  return source.imports.filter((name) => name.startsWith("@lanthorn/")).map((name) => name.split("/")[1] ?? "");
}

/** @returns Libraries, and modules of Node. */
export function outsideImports(source: Source): string[] {
  return source.imports.filter((name) => !name.startsWith(".") && !name.startsWith("@lanthorn/"));
}

/** @returns Paths from the root of the project. */
export function relativeImports(source: Source): string[] {
  return source.imports.filter((name) => name.startsWith(".")).map((name) => relative(ROOT, resolve(ROOT, dirname(source.path), name)));
}

/** Everything below packages, apps and test. */
export const sources: readonly Source[] = ["packages", "apps", "test"].flatMap((folder) => listFiles(join(ROOT, folder))).map(readSource);

/** What is delivered: no tests. */
export const product: readonly Source[] = sources.filter((source) => !source.isTest && !source.path.startsWith("test/"));

/** @returns What a file declares and exports, by name: what has a docstring in one of its declarations, as a schema and its type, and what has none. */
export function readExports({ path, text }: Source): { readonly path: string; readonly documented: ReadonlySet<string>; readonly bare: readonly string[] } {
  const lines = text.split("\n");
  const declared = lines.flatMap((line, at) => {
    const name = /^export (?:async |abstract |declare )*(?:function\*?|const|let|interface|type|class|enum) (\w+)/.exec(line)?.[1];
    return name === undefined ? [] : [{ name, isDocumented: lines[at - 1]?.endsWith("*/") === true }];
  });
  const documented = new Set(declared.filter(({ isDocumented }) => isDocumented).map(({ name }) => name));
  return { path, documented, bare: [...new Set(declared.map(({ name }) => name))].filter((name) => !documented.has(name)) };
}
