import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createFakeClock, silentLog } from "@lanthorn/runtime";
import { afterEach, beforeEach, expect, test } from "vitest";
import { checkLists } from "./check-lists.ts";
import { createListSharing } from "./list-sharing.ts";
import { createSharing, siteFiles } from "./testing/site-bundle.ts";

let folder: string;
let sharing: ReturnType<typeof createSharing>;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "lanthorn-shared-"));
  sharing = createSharing(folder);
});
afterEach(() => rmSync(folder, { recursive: true }));

const current = () => readFileSync(join(sharing.directory, "current"), "utf8").trim();

test("a version is left whole for the readers' group, and files that stay are the same ones", async () => {
  const umask = process.umask(0o077);
  const first = await sharing.leave(siteFiles({ a: ["a.example\n", "b.example\n"] })).finally(() => process.umask(umask));
  expect([statSync(first).mode & 0o777, statSync(join(first, "lists.json")).mode & 0o777, statSync(join(first, "lists")).mode & 0o777]).toEqual([0o750, 0o640, 0o750]);
  const inodes = new Map(readdirSync(join(first, "lists")).map((name) => [name, statSync(join(first, "lists", name)).ino]));
  expect(await sharing.share()).toBe(false);
  const second = await sharing.leave(siteFiles({ a: ["a.example\n", "c.example\n"] }));
  const kept = readdirSync(join(second, "lists")).filter((name) => inodes.get(name) === statSync(join(second, "lists", name)).ino);
  expect([kept.length, current() === second.split("/").at(-1), readdirSync(sharing.directory).length]).toEqual([1, true, 2]);
});

test("what was left half by somebody who was killed does no harm, and goes", async () => {
  const first = await sharing.leave(siteFiles({ a: ["a.example\n"] }));
  const name = sharing.install(siteFiles({ a: ["b.example\n"] }));
  mkdirSync(join(sharing.directory, `${name}.new`, "lists"), { recursive: true });
  writeFileSync(join(sharing.directory, `${name}.new`, "lists.json"), "{");
  writeFileSync(join(sharing.directory, "current.new"), "x");
  expect(current()).toBe(first.split("/").at(-1));
  expect(await sharing.share()).toBe(true);
  expect([current(), readdirSync(sharing.directory).toSorted()]).toEqual([name, [name, "current"].toSorted()]);
});

test("a disk that takes nothing leaves the version before; it is tried again", async () => {
  const first = await sharing.leave(siteFiles({ a: ["a.example\n"] }));
  const name = sharing.install(siteFiles({ a: ["b.example\n"] }));
  // A file where the folder is to be cannot be made a folder.
  const broken = join(sharing.home, name, "lists.json");
  const good = readFileSync(broken);
  rmSync(broken);
  const clock = createFakeClock(0);
  const watch = createListSharing({ ...sharing, clock, log: silentLog });
  await watch.close();
  expect(current()).toBe(first.split("/").at(-1));
  const again = createListSharing({ ...sharing, clock, log: silentLog });
  await expect.poll(() => readdirSync(sharing.directory).includes(`${name}.new`)).toBe(true);
  writeFileSync(broken, good);
  await expect.poll(async () => {
    await clock.advance(60_000);
    return current();
  }).toBe(name);
  await again.close();
});

const checked = async (files: ReadonlyMap<string, Buffer>) => checkLists(files);

test("lists are refused that are no bundle, are cut, or unpack to more than a part may have", async () => {
  await expect(checked(siteFiles({ a: ["a.example\n"] }))).resolves.toBeUndefined();
  const refused = { code: "bundle-refused" };
  await expect(checked(new Map())).rejects.toMatchObject(refused);
  const without = new Map(siteFiles({ a: ["a.example\n"] }));
  const part = [...without.keys()].find((path) => path.startsWith("lists/")) as string;
  await expect(checked(new Map([...without].filter(([path]) => path !== part)))).rejects.toMatchObject(refused);
  await expect(checked(new Map([...without, [part, (without.get(part) as Buffer).subarray(0, -4)]]))).rejects.toMatchObject(refused);
  await expect(checked(siteFiles({ a: ["x".repeat(5 << 20)] }))).rejects.toMatchObject(refused);
});
