import { fileURLToPath } from "node:url";
import type { Plugin } from "vite";

/** What Vite calls for each `import()` of a file that needs others, as `__vitePreload(load, files, from)`. */
const HELPER = /vite\/preload-helper\.js$/;
const OWN = fileURLToPath(new URL("../page-files.ts", import.meta.url));

/** Puts our own in its place: Vite's lets the browser load the files, which forgets none that it did not get. */
export function importPages(): Plugin {
  let isPlaced = false;
  return {
    name: "import-pages",
    enforce: "pre",
    load: {
      filter: { id: HELPER },
      handler() {
        isPlaced = true;
        return `export { importPage as __vitePreload } from ${JSON.stringify(OWN)};`;
      },
    },
    generateBundle() {
      if (!isPlaced) this.error("Vite loads the files of pages in another way than this build knows");
    },
  };
}
