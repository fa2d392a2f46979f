import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { FEEDS } from "../../apps/collector/src/services/feeds/table.ts";
import { canMakeLabs } from "../lab/testing.ts";
import { waitFor } from "../lab/wait-for.ts";
import type { Daemon } from "./daemon.ts";
import { type Collector, enrollProbe, type ProbeBox, startCollector, startProbe } from "./deployment.ts";

const folder = mkdtempSync(join(tmpdir(), "lanthorn-countries-"));
const running: { collector?: Collector; probe?: Daemon } = {};
const server = createServer((request, response) => {
  const [, name] = /^\/stats\/([a-z]+)\/delegated-\1-extended-latest$/.exec(request.url ?? "") ?? [];
  if (name === undefined) response.writeHead(404).end();
  else response.end(`2.3|${name}|20261127|1|19830705|20261126|+0000\n${name}|*|ipv4|*|1|summary\n${name}|ZA|ipv4|41.${name.length}.0.0|256|20100712|allocated|A1\n`);
});
afterAll(async () => {
  await running.probe?.stop();
  await running.collector?.stop();
  await new Promise((resolve) => server.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

test.skipIf(!canMakeLabs())("what registries publish is a table at a probe that reads traffic, which says how much it knows", async () => {
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const file = join(folder, "collector.toml");
  writeFileSync(file, [
    `[feeds.sources.countries]\nurl = "http://127.0.0.1:${(server.address() as AddressInfo).port}/stats/"\nmin_records = 5`,
    ...FEEDS.filter(({ name }) => name !== "countries").map(({ name }) => `[feeds.sources.${name}]\nenabled = false`),
  ].join("\n"));
  const collector = await startCollector({ dataDir: join(folder, "collector"), host: "127.0.0.1", file, env: { LANTHORN_FEEDS_ENABLED: "true" } });
  running.collector = collector;
  const box: ProbeBox = { dataDir: join(folder, "probe") };
  await enrollProbe(collector, box, "box");
  const settings = join(folder, "probe.toml");
  writeFileSync(settings, '[traffic]\ninterfaces = ["lo"]\nmemory_megabytes = 128\nring_megabytes = 16\n');
  running.probe = await startProbe(box, { interface: "no-such-if", args: ["--config", settings] });
  const countries = async () => (await collector.rest.listAnomalyModels()).data[0]?.state?.countries ?? null;
  expect(await waitFor("the probe's word that it has none", countries)).toBe(0);
  await collector.rest.startCveUpdate();
  // Five registries, two of which say the same: their names are of seven letters.
  await waitFor("the table at the probe", async () => ((await countries()) === 4 ? true : null));
});
