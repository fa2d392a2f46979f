import { defineConfig } from "vite";
import { importPages } from "./import-pages.ts";
import { precompress } from "./precompress.ts";
import { stripTexts } from "./strip-texts.ts";

export default defineConfig({
  // Relative, so that it works below any path of a proxy.
  base: "./",
  resolve: { conditions: ["@lanthorn/source", "module", "browser", "production"] },
  build: {
    outDir: "dist",
    emptyOutDir: true,
    target: "es2023",
    // A `data:` font or image would need a weaker policy.
    assetsInlineLimit: 0,
    // All of it is smaller than the requests for its parts would be.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1200,
    rolldownOptions: {
      // The page's policy forbids making programs of texts. zod tries it when its first schema is made, so it must know before any file runs.
      output: {
        banner: "globalThis.__zod_globalConfig??={jitless:true};",
        // Else each small part that two pages share is a file, and a request, of its own.
        codeSplitting: { groups: [
          { name: "libraries", test: /\/node_modules\// },
          { name: "shared", test: /\/packages\/|\/src\/(?:fields|keyboard|parts|preferences|session|shell|states|texts)\// },
        ] },
      },
      onLog(level, log, report) {
        // For servers that render React; there is none here.
        if (log.code !== "MODULE_LEVEL_DIRECTIVE") report(level, log);
      },
    },
  },
  plugins: [importPages(), stripTexts(), precompress()],
});
