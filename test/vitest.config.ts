import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  resolve: { conditions: ["@lanthorn/source"] },
  ssr: { resolve: { conditions: ["@lanthorn/source"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "apps/*/src/**/*.test.ts", "test/**/*.test.ts"],
    /** Native addons (pcap) load in one thread only. */
    pool: "forks",
    testTimeout: 30_000,
  },
});
