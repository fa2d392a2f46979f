import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { PAGE_SCRIPT, PAGE_STYLE } from "./page.ts";

interface Asset {
  readonly type: string;
  readonly plain: Uint8Array<ArrayBuffer>;
  readonly gzipped: Uint8Array<ArrayBuffer>;
}

/** The scripts and styles of the documentation page, by file name. */
export interface Assets {
  /** Null for a name that is none of the page's. */
  read(name: string): Promise<Asset | null>;
}

const SCRIPT = "text/javascript; charset=utf-8";
const STYLE = "text/css; charset=utf-8";
const TYPES: Readonly<Record<string, string>> = {
  "swagger-ui-bundle.js": SCRIPT, "swagger-ui.css": STYLE, "page.js": SCRIPT, "page.css": STYLE,
};
const OWN: Readonly<Record<string, string>> = { "page.js": PAGE_SCRIPT, "page.css": PAGE_STYLE };

/** Swagger UI's own files out of its package, and ours; each read and compressed once, when it is first asked for. */
export function createAssets(): Assets {
  const require = createRequire(import.meta.url);
  const folder = dirname(require.resolve("swagger-ui-dist/package.json"));
  const kept = new Map<string, Promise<Asset>>();
  return {
    async read(name) {
      const type = Object.hasOwn(TYPES, name) ? TYPES[name] : undefined;
      if (type === undefined) return null;
      const asset = kept.get(name) ?? prepare(type, OWN[name] ?? join(folder, name), name in OWN);
      kept.set(name, asset);
      try {
        return await asset;
      } catch (error) {
        kept.delete(name);
        throw error;
      }
    },
  };
}

async function prepare(type: string, source: string, isText: boolean): Promise<Asset> {
  const plain = isText ? new TextEncoder().encode(source) : new Uint8Array(await readFile(source));
  return { type, plain, gzipped: new Uint8Array(await promisify(gzip)(plain)) };
}
