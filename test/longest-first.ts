import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take long on a quiet machine of two cores, by the end of their path, in classes of some 300, 60, 30 and 10 seconds; all others
 * take less. Where one is missing, a core may be idle at the end of the run.
 */
export const LONG_FILES: readonly (readonly string[])[] = [
  ["system/routed", "system/main-job"],
  [
    "system/faults", "system/bundles", "system/crash", "system/backups", "system/replicas", "system/switch-port", "system/verdicts",
    "system/hard-hosts", "killed", "every-call-hostile", "every-call-bodies", "deep-scan", "scan-run", "deliveries/deliveries",
    "every-call-access",
  ],
  [
    "system/enrollment", "system/files", "system/cli", "system/neighbors", "every-regex", "system/fingerprints", "system/systemd",
    "system/credential-delivery",
    "lab/lab", "routed-poll", "config-versions/large-texts", "daemon", "tshark-comparison", "collector/src/main", "real-lan", "ingest/ingest",
    "discover/flood", "restart-in-postgres", "scans/scans", "identify/identify",
  ],
  [
    "take-down", "debian-packages", "backup-in-postgres", "format/age", "database-thread", "loop-blocks", "loop-blocks-facts", "first-scan",
    "scan/scans", "neighbor-listener", "presence-on-a-lan", "newcomers", "scale", "switch-watch", "vault-reader", "session",
    "capture-file", "capture/capture", "editing", "merging", "store/search", "sorting", "diplomat", "storm-and-quiet",
    "alerts/alerts", "ipam/ipam", "files/files", "agents/agents", "noise", "auth/keys/keys", "scans-that-end", "idempotency",
    "every-call-tenants", "walk", "documents/documents", "records", "attempt", "move-in-postgres", "db/open",
  ],
];

/** Of a file's path: 0 for the longest. */
function classOf(path: string): number {
  const index = LONG_FILES.findIndex((names) => names.some((name) => path.endsWith(`/${name}.test.ts`)));
  return index < 0 ? LONG_FILES.length : index;
}

/**
 * Orders a run so that no core is idle: one project after the other, since a process runs files of one alone; in each the longest files
 * first; and tests of the whole, which mostly wait, in turns with those that compute.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const root = `${this.ctx.config.root}/`;
    const pathOf = ({ moduleId }: TestSpecification) => moduleId.slice(root.length);
    const isWaiting = (file: TestSpecification) => pathOf(file).startsWith("test/");
    const projects = [...new Set(sorted.map(({ project }) => project.name))].toSorted((a, b) => (a < b ? 1 : -1));
    return projects.flatMap((name) => {
      const own = sorted.filter(({ project }) => project.name === name).toSorted((a, b) => classOf(pathOf(a)) - classOf(pathOf(b)));
      return inTurns(own.filter(isWaiting), own.filter((file) => !isWaiting(file)));
    });
  }
}

/** One of each, until both have ended. */
function inTurns<T>(some: readonly T[], others: readonly T[]): T[] {
  return Array.from({ length: Math.max(some.length, others.length) }, (_, index) => [some[index], others[index]]).flat()
    .filter((one) => one !== undefined);
}
