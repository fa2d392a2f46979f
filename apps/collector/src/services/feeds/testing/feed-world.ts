import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock, type FakeClock, toInstant } from "@lanthorn/runtime";
import { hasRowLocks } from "../../../db/row-locks.ts";
import { type ServiceParts, startTestGateway, type TestGateway, type TestTenant } from "../../../testing/gateway.ts";
import { FeedSettings } from "../configuration.ts";
import type { ConsumeFeeds, FeedDefinition, FetchedFeed, LoadedData } from "../definition.ts";
import { type Feeds, type FeedsDependencies, openFeeds } from "../open.ts";
import { createFeedsStore, type FeedRow } from "../store.ts";
import { type FeedServer, startFeedServer } from "./feed-server.ts";

const MB = 1_000_000;

/** Feeds as small as a test wants them. */
export const TEST_TABLE: readonly FeedDefinition[] = [
  {
    name: "nvd", title: "NVD", subject: "cve", format: "nvd", intervalHours: null, source: { kind: "nvd-api", url: "https://nvd.invalid/" },
    maxBytes: 20 * MB, maxUnpackedBytes: 40 * MB, maxRatio: 100, minRecords: 10, maxDropPercent: 1, maxShareDropPercent: 5, spacingMs: [6000, 600],
    mark: { record: '"sourceIdentifier"', configured: '"configurations"', end: "}" },
  },
  {
    name: "kev", title: "CISA KEV", subject: "cve", format: "kev", intervalHours: null,
    source: { kind: "files", url: "https://kev.invalid/kev.json", files: [{ name: "kev.json", path: "" }] },
    maxBytes: MB, maxUnpackedBytes: 5 * MB, maxRatio: 100, minRecords: 10, maxDropPercent: 2, maxShareDropPercent: null, spacingMs: [0, 0],
    mark: { record: '"cveID"', end: "}" },
  },
];

/** A KEV catalog of so many records. */
export function kev(records: number): string {
  return JSON.stringify({ vulnerabilities: Array.from({ length: records }, (_, index) => ({ cveID: `CVE-2026-${1000 + index}` })) });
}

/** A collector's feeds over a real database, with a source on loopback. */
export interface FeedWorld {
  readonly server: FeedServer;
  readonly gateway: TestGateway;
  readonly tenant: TestTenant;
  readonly clock: FakeClock;
  readonly feeds: Feeds;
  /** What the consumer was handed, in order. */
  readonly consumed: (readonly FetchedFeed[])[];
  /** How long was waited, in milliseconds, in order. */
  readonly waits: number[];
  /** Replaces what the consumer does with it. */
  consume(consumer: ConsumeFeeds): void;
  /** Takes away what the consumer has made of it. */
  loseData(): void;
  /** Of what the consumer makes of it next, so much says where it applies. */
  loseConfigurations(left: number): void;
  row(name: string): Promise<FeedRow>;
  /** Starts an update by the API and waits for its end. @returns Its status. */
  update(): Promise<string>;
  files(name: string): readonly string[];
  /** Where the files of all feeds lie. */
  readonly directory: string;
  call(method: string, path: string): ReturnType<TestGateway["call"]>;
  /** Another collector over the same database and folder. */
  openAnother(clock: FakeClock, own?: Partial<Pick<FeedsDependencies, "loaded" | "refresh" | "host">>): { readonly feeds: Feeds; readonly clock: FakeClock };
  /** Whether the database is one that several collectors may share. */
  readonly isShared: boolean;
  stop(): Promise<void>;
}

/** @param options.sources TOML's `feeds.sources`, to which `url` is added for those that `paths` names. */
export async function startFeedWorld(options: {
  readonly only?: readonly string[]; readonly settings?: (server: FeedServer) => object; readonly random?: () => number;
  /** Other feeds than those of `TEST_TABLE`, and who takes those of addresses. */
  readonly table?: readonly FeedDefinition[]; readonly countries?: ConsumeFeeds;
} = {}): Promise<FeedWorld> {
  const server = await startFeedServer();
  const clock = createFakeClock(Date.UTC(2026, 10, 20));
  const directory = mkdtempSync(join(tmpdir(), "lanthorn-feeds-"));
  const [consumed, waits]: [(readonly FetchedFeed[])[], number[]] = [[], []];
  let consumer: ConsumeFeeds = () => Promise.resolve([]);
  const settings = FeedSettings.parse({
    directory, sources: { nvd: { url: `${server.url}/nvd` }, kev: { url: `${server.url}/kev.json` } }, ...options.settings?.(server),
  });
  let feeds: Feeds | undefined;
  let parts: ServiceParts | undefined;
  let tenantId: string | null = null;
  let loaded: LoadedData | null = null;
  let configured = 20;
  const open = (given: ServiceParts, changed: Partial<FeedsDependencies> = {}) => openFeeds({ data_dir: directory, feeds: settings }, {
    ...given, version: "test", operatorTenant: () => Promise.resolve(tenantId), loaded: () => loaded, random: options.random ?? (() => 0.5),
    table: options.table ?? TEST_TABLE.filter(({ name }) => (options.only ?? ["kev"]).includes(name)),
    consumers: {
      ...(options.countries && { countries: options.countries }),
      async cve(handed, given) {
        consumed.push(handed);
        const unused = await consumer(handed, given);
        loaded = { entries: 20, builtAt: toInstant(clock.now()), configured, mostConfigured: Math.max(configured, loaded?.mostConfigured ?? 0) };
        return unused;
      },
    },
    pause(ms) {
      waits.push(Math.round(ms));
      clock.jump(ms);
      return Promise.resolve();
    },
    ...changed,
  });
  const gateway = await startTestGateway({
    clock, alerts: true,
    modules(given) {
      parts = given;
      feeds = open(given);
      return [feeds];
    },
  });
  const tenant = await gateway.createTenant("admin");
  tenantId = tenant.tenantId;
  if (feeds === undefined || parts === undefined) throw new Error("there are no feeds");
  const [opened, own] = [feeds, parts];
  let { token } = tenant;
  /** A token is good for a day of the clock, which tests move by months. */
  const call: FeedWorld["call"] = async (method, path) => {
    const answer = await gateway.call(method, path, token);
    if (answer.status !== 401) return answer;
    ({ token } = await gateway.createUser(tenant, "admin"));
    return gateway.call(method, path, token);
  };
  return {
    isShared: hasRowLocks(gateway.db), openAnother: (other, changed = {}) => ({ feeds: open({ ...own, clock: other }, changed), clock: other }), directory, server, gateway, tenant, clock, feeds: opened, consumed, waits, call,
    consume(next) {
      consumer = next;
    },
    loseData() {
      loaded = null;
    },
    loseConfigurations(left) {
      configured = left;
    },
    async row(name) {
      const row = (await createFeedsStore(gateway).list()).find((one) => one.name === name);
      if (row === undefined) throw new Error(`there is no feed ${name}`);
      return row;
    },
    async update() {
      const answer = await call("POST", "/api/v1/cve/update");
      if (answer.status !== 202) throw new Error(`${answer.status}: ${JSON.stringify(answer.body)}`);
      await opened.manager.idle();
      return ((await call("GET", "/api/v1/cve/db-info")).body as { readonly update: { readonly status: string } }).update.status;
    },
    files: (name) => readdirSync(join(directory, name)).toSorted(),
    async stop() {
      await gateway.stop();
      await server.close();
      rmSync(directory, { recursive: true });
    },
  };
}
