import { readAll } from "@lanthorn/client";
import type { Answer } from "../answer.ts";
import { collect } from "../collect.ts";
import type { Connection } from "../connection.ts";

/** The newest version of each bundle that probes are given. */
export async function listBundles({ rest }: Connection): Promise<Answer> {
  const bundles = await collect(rest.listBundles);
  return {
    json: bundles,
    table: {
      heading: ["NAME", "VERSION", "FILES", "BYTES", "PUBLISHED"],
      rows: bundles.map(({ name, version, parts, bytes, published_at: at }) => [name, String(version), String(parts), String(bytes), at]),
    },
  };
}

/** Which versions each probe uses, and why not the newest. Probes that report no bundles are older, or were never heard. */
export async function listProbeBundles({ rest }: Connection): Promise<Answer> {
  const newest = new Map<string, number>();
  for await (const { name, version } of readAll(rest.listBundles)) newest.set(name, version);
  const states = (await collect(rest.listProbes)).flatMap((probe) => (probe.health?.bundles ?? []).map((bundle) => ({
    probe_id: probe.id, probe: probe.name, ...bundle, newest: newest.get(bundle.name) ?? null,
  })));
  return {
    json: states,
    table: {
      heading: ["PROBE", "BUNDLE", "USES", "NEWEST", "PROBLEM"],
      rows: states.map(({ probe, name, version, newest: last, error }) => [probe, name, String(version ?? "-"), String(last ?? "-"), error ?? "-"]),
    },
  };
}
