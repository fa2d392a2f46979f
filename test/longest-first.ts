import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take long on a quiet machine of two cores, in classes of some 300, 60, 30 and 10 seconds; all others take less. They need not
 * be exact: a long file that is missing here may leave a core idle at the end of the run.
 */
export const LONG_FILES: readonly (readonly string[])[] = [
  ["test/system/routed", "test/system/main-job"],
  [
    "test/system/faults", "test/system/bundles", "test/system/crash", "test/system/backups", "test/system/replicas",
    "test/system/switch-port", "test/system/verdicts", "test/system/hard-hosts",
    "apps/collector/src/deliveries/killed", "apps/collector/src/documents/every-call-hostile",
    "apps/collector/src/documents/every-call-bodies", "apps/probe/src/scan/deep-scan", "apps/probe/src/scan/scan-run",
    "apps/collector/src/deliveries/deliveries", "apps/collector/src/documents/every-call-access",
  ],
  [
    "test/system/enrollment", "test/system/files", "test/system/cli", "test/system/neighbors", "test/regexes/every-regex",
    "test/system/fingerprints", "test/system/systemd", "test/system/handing", "test/lab/lab", "apps/probe/src/routed/routed-look",
    "apps/collector/src/services/config-versions/config-versions", "apps/probe/src/daemon/daemon",
    "packages/packets/src/tshark-comparison", "apps/collector/src/main", "apps/probe/src/discover/real-lan",
    "apps/collector/src/ingest/ingest", "apps/probe/src/discover/flood", "apps/collector/src/db/restart-in-postgres",
    "apps/collector/src/services/scans/scans", "apps/probe/src/identify/identify",
  ],
  [
    "test/lab/take-down", "test/lab/debian-packages", "apps/collector/src/backups/backup-in-postgres", "apps/collector/src/backups/age",
    "apps/probe/src/identify/database-thread", "apps/probe/src/identify/loop-blocks", "apps/probe/src/identify/loop-blocks-facts",
    "apps/probe/src/scan/first-scan", "apps/probe/src/scan/scans", "apps/probe/src/listen/neighbor-listener",
    "apps/probe/src/discover/presence-on-a-lan", "apps/probe/src/discover/newcomers", "apps/probe/src/snmp/switch-watch",
    "apps/probe/src/snmp/vault-reader", "apps/probe/src/snmp/session", "packages/packets/src/capture-file",
    "packages/packet-io/src/capture", "apps/collector/src/services/devices/editing", "apps/collector/src/services/devices/merging",
    "apps/collector/src/services/devices/store/search", "apps/collector/src/services/devices/sorting",
    "apps/collector/src/services/diplomat/diplomat", "apps/collector/src/services/alerts/storm-and-quiet",
    "apps/collector/src/services/alerts/alerts", "apps/collector/src/services/ipam/ipam", "apps/collector/src/services/files/files",
    "apps/collector/src/services/agents/agents", "apps/collector/src/services/auth/noise", "apps/collector/src/services/auth/keys",
    "apps/collector/src/services/scans/scans-that-end", "apps/collector/src/gateway/idempotency",
    "apps/collector/src/documents/every-call-tenants", "apps/collector/src/documents/walk", "apps/collector/src/documents/documents",
    "apps/collector/src/documents/records", "apps/collector/src/deliveries/attempt", "apps/collector/src/db/move-in-postgres",
    "apps/collector/src/db/open",
  ],
];

const CLASS_OF: ReadonlyMap<string, number> = new Map(LONG_FILES.flatMap((names, index) => names.map((name) => [`${name}.test.ts`, index])));

/**
 * Orders a run so that no core is idle: one project after the other, since a process runs files of one alone; in each the longest files
 * first; and tests of the whole, which mostly wait, in turns with those that compute.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const root = `${this.ctx.config.root}/`;
    const pathOf = ({ moduleId }: TestSpecification) => moduleId.slice(root.length);
    const classOf = (file: TestSpecification) => CLASS_OF.get(pathOf(file)) ?? LONG_FILES.length;
    const isWaiting = (file: TestSpecification) => pathOf(file).startsWith("test/");
    const projects = [...new Set(sorted.map(({ project }) => project.name))].toSorted((a, b) => (a < b ? 1 : -1));
    return projects.flatMap((name) => {
      const own = sorted.filter(({ project }) => project.name === name).toSorted((a, b) => classOf(a) - classOf(b));
      return inTurns(own.filter(isWaiting), own.filter((file) => !isWaiting(file)));
    });
  }
}

/** One of each, until both have ended. */
function inTurns<T>(some: readonly T[], others: readonly T[]): T[] {
  return Array.from({ length: Math.max(some.length, others.length) }, (_, index) => [some[index], others[index]]).flat()
    .filter((one) => one !== undefined);
}
