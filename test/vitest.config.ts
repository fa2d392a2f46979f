import { fileURLToPath } from "node:url";
import { configDefaults, defineConfig } from "vitest/config";
import { LongestFirst } from "./longest-first.ts";
import { openMemoryFolder } from "./memory-folder.ts";
import { SummaryReporter } from "./summary-reporter.ts";
import { WITHOUT_DATABASE } from "./without-database.ts";

const file = (path: string) => fileURLToPath(new URL(path, import.meta.url));
const root = file("..");

// For `tmpdir()`, in this process and those that it starts.
process.env["TMPDIR"] ??= openMemoryFolder() ?? "/tmp";

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
          exclude: [...configDefaults.exclude, "**/*-in-sqlite.test.ts", ...WITHOUT_DATABASE],
          globalSetup: [file("../apps/collector/src/testing/postgres-server.ts")],
          setupFiles: [file("../apps/collector/src/testing/postgres-setup.ts")],
        },
      },
    ],
    /** Native addons (pcap) load in one thread only. */
    pool: "forks",
    /**
     * A process runs one file after the other, and loads what they import once: to load it for each took a third of the whole run's
     * processor time. So a file leaves nothing behind in its process: no module mocks, no changed environment, no timer that runs on.
     */
    isolate: false,
    /** More than the cores of a small machine: the system tests mostly wait for what takes its time, as a host's two minutes of silence. */
    maxWorkers: 6,
    sequence: { sequencer: LongestFirst },
    /** For what hangs, and so nowhere tighter. A busy machine is tens of times slower than a quiet one; speed is measured by benches. */
    testTimeout: 900_000,
    hookTimeout: 600_000,
    expect: { poll: { timeout: 300_000 } },
    reporters: ["default", new SummaryReporter()],
  },
});
