import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { SummaryReporter } from "./summary-reporter.ts";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const root = file("..");

export default defineConfig({
  root,
  resolve: { conditions: ["@lanthorn/source"] },
  ssr: { resolve: { conditions: ["@lanthorn/source"] } },
  test: {
    projects: [
      {
        extends: true,
        root,
        test: {
          name: "sqlite",
          include: ["packages/*/src/**/*.test.ts", "apps/*/src/**/*.test.ts", "test/**/*.test.ts"],
          exclude: [...configDefaults.exclude, "**/*-in-postgres.test.ts"],
        },
      },
      {
        /** What the collector does, once more, on the other database. */
        extends: true,
        root,
        test: {
          name: "postgres",
          include: ["apps/collector/src/**/*.test.ts"],
          exclude: [...configDefaults.exclude, "**/*-in-sqlite.test.ts"],
          globalSetup: [file("../apps/collector/src/testing/postgres-server.ts")],
          setupFiles: [file("../apps/collector/src/testing/postgres-setup.ts")],
        },
      },
    ],
    /** Native addons (pcap) load in one thread only. */
    pool: "forks",
    /** More than the cores of a small machine: the system tests mostly wait for what takes its time, as a host's two minutes of silence. */
    maxWorkers: 3,
    testTimeout: 30_000,
    hookTimeout: 120_000,
    reporters: ["default", new SummaryReporter()],
  },
});
