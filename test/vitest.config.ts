import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";
import { SummaryReporter } from "./summary-reporter.ts";

export default defineConfig({
  root: fileURLToPath(new URL("..", import.meta.url)),
  resolve: { conditions: ["@lanthorn/source"] },
  ssr: { resolve: { conditions: ["@lanthorn/source"] } },
  test: {
    include: ["packages/*/src/**/*.test.ts", "apps/*/src/**/*.test.ts", "test/**/*.test.ts"],
    /** Native addons (pcap) load in one thread only. */
    pool: "forks",
    /** More than the cores of a small machine: the system tests mostly wait for what takes its time, as a host's two minutes of silence. */
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 120_000,
    reporters: ["default", new SummaryReporter()],
  },
});
