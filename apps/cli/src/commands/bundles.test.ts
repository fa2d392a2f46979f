import type { RestClient } from "@lanthorn/client";
import type { Probe, PublishedBundle } from "@lanthorn/contract";
import { expect, test } from "vitest";
import { formatAnswer } from "../answer.ts";
import type { Connection } from "../connection.ts";
import { listBundles, listProbeBundles } from "./bundles.ts";

const AT = "2026-11-20T08:15:30Z";
const page = <T>(data: readonly T[]) => () =>
  Promise.resolve({ data: [...data], meta: { page: 1, per_page: 1000, total: data.length, next_cursor: null } });
const BUNDLE: PublishedBundle = { name: "fingerprints", version: 3, parts: 50, bytes: 1000, published_at: AT };
const probe = (name: string, bundles?: readonly object[]) => ({ id: name, name, health: bundles ? { bundles } : null }) as unknown as Probe;
const connection = {
  rest: {
    listBundles: page([BUNDLE]),
    listProbes: page([
      probe("north", [{ name: "fingerprints", version: 3, error: null }]), probe("silent"),
      probe("south", [{ name: "fingerprints", version: null, error: "its signature is wrong" }]),
    ]),
  } satisfies Partial<RestClient>,
} as unknown as Connection;

const cells = (text: string) => text.trim().split("\n").slice(1).map((line) => line.split(/ {2,}/));

test("bundles list shows the newest version of each", async () => {
  expect(cells(formatAnswer(await listBundles(connection), false))).toEqual([["fingerprints", "3", "50", "1000", AT]]);
});

test("bundles probes shows who uses which version, and why not the newest", async () => {
  const answer = await listProbeBundles(connection);
  expect(cells(formatAnswer(answer, false))).toEqual([
    ["north", "fingerprints", "3", "3", "-"], ["south", "fingerprints", "-", "3", "its signature is wrong"],
  ]);
  expect(JSON.parse(formatAnswer(answer, true))).toHaveLength(2);
});
