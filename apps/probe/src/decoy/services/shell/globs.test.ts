import { expect, test } from "vitest";
import { createBaitDocuments } from "../../documents/bait-documents.ts";
import type { Stage } from "../service.ts";
import { createShellState } from "./answers.ts";
import { expandGlob } from "./globs.ts";

const derive = (name: string, octets: number) => Buffer.alloc(octets, name.length);
const stage: Pick<Stage, "documents" | "hostname" | "startedMs"> = { hostname: "files2", startedMs: 0, documents: createBaitDocuments(derive) };
const state = createShellState({ peer: { took: () => undefined }, stage: stage as Stage, username: "backup" });

test.each([
  ["/etc/*.conf", ["/etc/host.conf", "/etc/ld.so.conf", "/etc/nsswitch.conf"]], ["/etc/host?conf", ["/etc/host.conf"]], ["/etc/[!a-r]*d*", ["/etc/shadow"]], ["/e*/pass[vw]d", ["/etc/passwd"]], ["../../etc/iss*", ["../../etc/issue"]],
  ["/*/backu[a-p]", ["/home/backup"]], ["/etc/passwd", ["/etc/passwd"]], ["/etc/*.none", ["/etc/*.none"]], ["/nowhere/*", ["/nowhere/*"]], ["/etc/[a", ["/etc/[a"]], ["/etc/passwd/*", ["/etc/passwd/*"]],
] as const)("%s stands for what a shell takes it for", (pattern, paths) => {
  expect(expandGlob(pattern, state)).toEqual(paths);
});

test("documents in the home folder are found; a long pattern costs nothing", () => {
  expect(expandGlob("*", state).toSorted()).toEqual(stage.documents.map(({ name }) => name).toSorted());
  const before = process.cpuUsage();
  for (const pattern of ["*a".repeat(50_000), `/*/${"*?".repeat(127)}z`, "/*".repeat(50_000), "[".repeat(50_000)]) expect(expandGlob(pattern, state)).toEqual([pattern]);
  const { user, system } = process.cpuUsage(before);
  expect(user + system).toBeLessThan(100_000);
});
