import { mkdtemp, readdir, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { unpackDebianPackages } from "./debian-packages.ts";
import { runCommand } from "./run-command.ts";

describe("Debian packages", () => {
  let cacheFolder: string;
  beforeAll(async () => {
    cacheFolder = await mkdtemp(join(tmpdir(), "lanthorn-debian-"));
  });
  afterAll(() => rm(cacheFolder, { recursive: true, force: true }));

  test("are fetched once by two runs at the same time, and run without being installed", async () => {
    const before = await stat("/var/lib/dpkg/status");
    const said: string[] = [];
    const options = { cacheFolder, say: (line: string) => void said.push(line) };
    const [first, second] = await Promise.all([unpackDebianPackages(["busybox"], options), unpackDebianPackages(["busybox"], options)]);
    expect(second.root).toBe(first.root);
    expect(said.filter((line) => line.includes("busybox")).length).toBeLessThanOrEqual(1);
    const { path, env } = first.command("busybox");
    expect(await runCommand(path, ["echo", "works"], { env })).toBe("works\n");
    expect((await stat("/var/lib/dpkg/status")).mtimeMs).toBe(before.mtimeMs);
    expect((await readdir(cacheFolder)).filter((name) => name.startsWith("unfinished"))).toEqual([]);
  });

  test("that were unpacked before come without the network", async () => {
    const said: string[] = [];
    await unpackDebianPackages(["busybox"], { cacheFolder, say: (line) => void said.push(line) });
    expect(said).toEqual([]);
  });

  test("stand beside what the machine has itself", async () => {
    const root = await unpackDebianPackages(["busybox"], { cacheFolder });
    expect(root.command("sh")).toMatchObject({ path: "/usr/bin/sh", env: {} });
    expect(() => root.command("no-such-program")).toThrow(expect.objectContaining({ code: "packages" }));
  });

  test("that do not exist, or are no names, are refused by name", async () => {
    await expect(unpackDebianPackages(["--allow-unauthenticated"], { cacheFolder })).rejects.toMatchObject({ code: "packages" });
    const missing = unpackDebianPackages(["lanthorn-no-such-package"], { cacheFolder, say: () => undefined });
    await expect(missing).rejects.toThrow(/lanthorn-no-such-package/);
  });
});
