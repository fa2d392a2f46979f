import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";
import type { Plugin } from "vite";
import { PAGE_PATHS } from "../paths.ts";

/** Less fits into one packet anyway. */
const MIN_BYTES = 1400;
const COMPRESSED = /\.(?:js|css|svg|json)$/;

/** Writes each text of the build a second and third time, as brotli and gzip, and `pages.json`: the paths that show the page. */
export function precompress(): Plugin {
  let folder = "";
  return {
    name: "precompress",
    apply: "build",
    configResolved(config) {
      folder = join(config.root, config.build.outDir);
    },
    closeBundle() {
      for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
        if (entry.isFile() && COMPRESSED.test(entry.name)) compress(join(entry.parentPath, entry.name));
      }
      writeFileSync(join(folder, "pages.json"), JSON.stringify(PAGE_PATHS));
    },
  };
}

function compress(file: string): void {
  const plain = readFileSync(file);
  if (plain.length < MIN_BYTES) return;
  writeFileSync(`${file}.br`, brotliCompressSync(plain, {
    params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY, [constants.BROTLI_PARAM_SIZE_HINT]: plain.length },
  }));
  writeFileSync(`${file}.gz`, gzipSync(plain, { level: 9 }));
}
