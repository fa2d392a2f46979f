import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tagOf } from "../gateway/precondition.ts";

/** A file as it is sent, in each coding that it was built in. */
export interface PageFile {
  readonly type: string;
  readonly plain: Uint8Array<ArrayBuffer>;
  readonly br: Uint8Array<ArrayBuffer> | null;
  readonly gzip: Uint8Array<ArrayBuffer> | null;
}

/** The dashboard's build. */
export interface PageFiles {
  /** Paths that show the page, as `/devices/$deviceId`. */
  readonly paths: readonly string[];
  /** Files by their path below the page's folder, as `assets/main-4f2a.js`. */
  readonly assets: ReadonlyMap<string, PageFile>;
  /** The page for a path of this many parts behind the first, with its entity tag. */
  index(depth: number): { readonly text: string; readonly etag: string };
}

const TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8", css: "text/css; charset=utf-8", svg: "image/svg+xml",
};

/** Where the build lies, beside this app: seen from the sources, and from the compiled program. */
const APP = "/apps/collector/";
const FOLDER = new URL("../dashboard/dist/", import.meta.url.slice(0, import.meta.url.lastIndexOf(APP) + APP.length));

/**
 * Reads the dashboard's build, once; it is about a megabyte.
 * @returns Null where it was not built.
 */
export async function readPageFiles(folder = fileURLToPath(FOLDER)): Promise<PageFiles | null> {
  const html = await readFile(join(folder, "index.html"), "utf8").catch(() => null);
  if (html === null) return null;
  const paths = JSON.parse(await readFile(join(folder, "pages.json"), "utf8")) as readonly string[];
  const names = (await readdir(folder, { recursive: true })).filter((name) => Object.hasOwn(TYPES, extensionOf(name)));
  const assets = new Map(await Promise.all(names.map(async (name) => [name, await readPageFile(folder, name)] as const)));
  return {
    paths, assets,
    index(depth) {
      const text = html.replace('<base href="./"', `<base href="${depth === 0 ? "./" : "../".repeat(depth)}"`);
      return { text, etag: tagOf(text) };
    },
  };
}

async function readPageFile(folder: string, name: string): Promise<PageFile> {
  const read = async (end: string) => new Uint8Array(await readFile(join(folder, `${name}${end}`)));
  const [plain, br, gzip] = await Promise.all([read(""), read(".br").catch(() => null), read(".gz").catch(() => null)]);
  return { type: TYPES[extensionOf(name)] ?? "", plain, br, gzip };
}

function extensionOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}
