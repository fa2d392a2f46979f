import { type ChildProcess, spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { createLab } from "./lab.ts";
import { REPOSITORY } from "./lab-state.ts";
import { namesOf } from "./names.ts";
import { runCommand } from "./run-command.ts";
import { canMakeLabs, createLabId, remainsOf } from "./testing.ts";
import { waitFor } from "./wait-for.ts";

const hosts = ["gateway", "web"];

function command(id: string, ...args: readonly string[]): ChildProcess {
  const main = ["--import", "tsx", "--conditions=@lanthorn/source", "test/lab/main.ts", "--id", id, ...args];
  return spawn(process.execPath, main, { cwd: REPOSITORY, stdio: ["ignore", "pipe", "ignore"] });
}

async function namespacesAppear(id: string): Promise<void> {
  const namespace = namesOf(id).namespace("web");
  await waitFor(namespace, () => existsSync(`/run/netns/${namespace}`) || null, { everyMs: 20 });
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => child.on("exit", resolve));
}

describe.skipIf(!canMakeLabs())("a lab that does not come up", () => {
  test("leaves nothing behind when it is stopped half way", async () => {
    const id = createLabId();
    const controller = new AbortController();
    const making = createLab({ id, hosts, signal: controller.signal });
    making.catch(() => undefined);
    await namespacesAppear(id);
    controller.abort(new Error("stopped by the test"));
    await expect(making).rejects.toThrow("stopped by the test");
    expect(remainsOf(id)).toEqual([]);
  });

  test("leaves nothing behind when a host does not get ready", async () => {
    const id = createLabId();
    /** A lease without a DHCP server never comes; the wait for it is cut short. */
    const making = createLab({ id, hosts: ["laptop"], signal: AbortSignal.timeout(5000) });
    await expect(making).rejects.toThrow();
    expect(remainsOf(id)).toEqual([]);
  });

  test("keeps off a namespace that belongs to somebody else", async () => {
    const id = createLabId();
    const namespace = namesOf(id).namespace("web");
    await runCommand("ip", ["netns", "add", namespace]);
    try {
      await expect(createLab({ id, hosts })).rejects.toMatchObject({ code: "busy" });
      expect(remainsOf(id)).toEqual([`namespace ${namespace}`, expect.stringContaining("mount ")]);
    } finally {
      await runCommand("ip", ["netns", "delete", namespace]);
    }
  });

  test("refuses hosts that nobody has planned, before it makes anything", async () => {
    await expect(createLab({ id: createLabId(), hosts: ["nobody"] })).rejects.toMatchObject({ code: "unknown-host" });
  });
});

describe.skipIf(!canMakeLabs())("the command", () => {
  test("takes down what it has made so far on Ctrl-C, also when that comes twice", async () => {
    const id = createLabId();
    const child = command(id, "up");
    const code = ended(child);
    await namespacesAppear(id);
    child.kill("SIGINT");
    child.kill("SIGINT");
    expect(await code).toBe(130);
    expect(remainsOf(id)).toEqual([]);
  });

  test("leaves nothing behind even when it is killed", async () => {
    const id = createLabId();
    const child = command(id, "up");
    await namespacesAppear(id);
    child.kill("SIGKILL");
    await waitFor("a LAN that the guard has taken down", () => remainsOf(id).length === 0 || null);
  });

  test("prints its status as JSON and nothing else, and takes the lab down", async () => {
    const id = createLabId();
    const lab = await createLab({ id, hosts, keep: true });
    const child = command(id, "status", "--json");
    let printed = "";
    child.stdout?.on("data", (text: Buffer) => (printed += text.toString()));
    expect(await ended(child)).toBe(0);
    expect(JSON.parse(printed)).toEqual(await lab.status());
    expect(await ended(command(id, "down"))).toBe(0);
    expect(remainsOf(id)).toEqual([]);
    expect(await ended(command(id, "status", "--json"))).toBe(1);
  });
});
