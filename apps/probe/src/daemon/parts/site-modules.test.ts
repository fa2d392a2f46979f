import { ProbeConfiguration } from "@lanthorn/contract/uplink";
import { expect, test } from "vitest";
import { siteModules } from "./site-modules.ts";

test("every part of the collector's configuration has one module that takes it", () => {
  const taken: string[] = [];
  const note = (name: string, result: unknown) => () => {
    taken.push(name);
    return result;
  };
  const modules = siteModules({
    watch: {
      discovery: { configure: note("egress", null) }, guards: { configure: note("guards", undefined) },
      credentials: { take: note("credentials", Promise.resolve(null)) }, onCredentials: () => undefined,
    } as unknown as Parameters<typeof siteModules>[0]["watch"],
    transfers: { bundles: { announced: note("bundles", undefined) } } as unknown as Parameters<typeof siteModules>[0]["transfers"],
    traffic: { configure: note("traffic", undefined), acceptAnomalies: note("anomalies", undefined) },
    decoys: { exempt: note("decoys", undefined), sealFor: () => undefined },
  });
  const head = ["v", "revision", "site_name"];
  expect([...head, ...modules.flatMap(({ shape }) => Object.keys(shape))].toSorted()).toEqual(Object.keys(ProbeConfiguration.shape).toSorted());
  const configuration = {
    v: 1, revision: 1, site_name: "Office", sweep: { enabled: true, interval_seconds: 600, packets_per_second: 50 }, excluded: [],
  };
  for (const { take } of modules) void take(configuration);
  expect(taken).toEqual(modules.map(({ name }) => name));
});
