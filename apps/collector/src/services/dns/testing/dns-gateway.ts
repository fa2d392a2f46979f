import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock, type FakeClock, silentLog } from "@lanthorn/runtime";
import { createTargetPolicy } from "../../../deliveries/sending/target-policy.ts";
import { singleKey } from "../../../sealing/keyring.ts";
import { createSealing } from "../../../sealing/sealing.ts";
import { startTestGateway, type TestGateway, type TestTenant } from "../../../testing/gateway.ts";
import { createFeedClient } from "../../feeds/fetching/client.ts";
import { download } from "../../feeds/fetching/download.ts";
import { type FeedServer, startFeedServer } from "../../feeds/testing/feed-server.ts";
import { createIpam } from "../../ipam/ipam.ts";
import type { PublishBundle } from "../bundles/site-bundles.ts";
import { type Dns, openDns } from "../open.ts";

/** The routes of the resolver over a real database, lists from a server on loopback, and bundles as they were published. */
export interface DnsGateway {
  readonly source: FeedServer;
  readonly gateway: TestGateway;
  readonly tenant: TestTenant;
  readonly dns: Dns;
  readonly clock: FakeClock;
  readonly published: Parameters<PublishBundle>[0][];
  /** The data directory. */
  readonly folder: string;
  close(): Promise<void>;
}

/** Its clock stands at the begin of 2026. */
export async function startDnsGateway(): Promise<DnsGateway> {
  const source = await startFeedServer();
  const folder = mkdtempSync(join(tmpdir(), "lanthorn-dns-"));
  const published: DnsGateway["published"] = [];
  const clock = createFakeClock(Date.UTC(2026, 0, 1));
  const opened: Dns[] = [];
  const gateway = await startTestGateway({
    alerts: true,
    modules(parts) {
      const client = createFeedClient({ clock: parts.clock, policy: createTargetPolicy(["127.0.0.1"]), resolve: () => Promise.resolve([]), userAgent: "test" }, { ca: null, proxy: null });
      const dns = openDns({ data_dir: folder }, {
        ...parts, clock, sealing: createSealing(singleKey(new Uint8Array(32))), log: silentLog, events: parts.log, fetchFile: (request) => download({ client, clock: parts.clock }, request), addressesOf: (url) => client.addressesOf(url), onPublished: async () => {}, random: () => 0.5,
        publish: (bundle) => Promise.resolve(published.push(bundle) > 0),
      });
      opened.push(dns);
      return [dns, createIpam(parts)];
    },
  });
  const [dns] = opened;
  if (!dns) throw new Error("the service was not opened");
  return {
    source, gateway, tenant: await gateway.createTenant("admin"), dns, clock, published, folder,
    async close() {
      await gateway.stop();
      await source.close();
      rmSync(folder, { recursive: true });
    },
  };
}
