import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseIp } from "@lanthorn/packets";
import { systemClock } from "@lanthorn/runtime";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { waitFor } from "../../../../test/lab/wait-for.ts";
import { createExclusions, parsePrefixes } from "../egress/exclusions.ts";
import { nmapArguments } from "./arguments.ts";
import { createProgramFinder } from "./find-program.ts";
import type { NmapFindings } from "./host-findings.ts";
import { type NmapOrder, scanWithNmap } from "./scan-with-nmap.ts";

let folder = "";
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "nmap-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A program that stands in nmap's place; it keeps what it was given beside itself. */
function writeNmap(script: string): void {
  const path = join(folder, "nmap");
  writeFileSync(path, `#!/bin/sh\nprintf '%s\\n' "$@" >>${folder}/args\ncat >>${folder}/targets\n${script}\n`);
  chmodSync(path, 0o755);
}

const excluding = (...texts: readonly string[]) => {
  const parsed = parsePrefixes(texts);
  return createExclusions("wrong" in parsed ? [] : parsed.prefixes);
};
const host = (ip: string) => `<host><address addr="${ip}" addrtype="ipv4"/><ports><port protocol="tcp" portid="22"><state `
  + `state="open"/></port></ports></host>`;
/** Empty for who is gone, or waits to be buried. */
const commandLine = (pid: string) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
};
const given = (name: "args" | "targets") => readFileSync(join(folder, name), "utf8").split("\n");

async function scan(order: Partial<NmapOrder>) {
  const findings: NmapFindings[] = [];
  const faults: string[] = [];
  const error = await scanWithNmap({
    find: createProgramFinder({ PATH: `${folder}:/usr/bin:/bin` }), interfaceName: "lan0", every: systemClock.every,
  }, {
    hosts: [{ ip: "10.0.0.7", ports: [22] }], isGentle: false, exclusions: () => excluding(), signal: new AbortController().signal,
    onFindings: (found) => findings.push(found), onProgress: () => undefined, onFault: (reason) => faults.push(reason), ...order,
  }).then(() => null, (thrown: unknown) => thrown);
  return { findings: findings.map(({ ip }) => ip), faults, error: error instanceof Error ? error.message : null };
}

describe("nmap", () => {
  test("gets its targets, their ports and the exclusions", async () => {
    writeNmap(`echo '${host("10.0.0.7")}'`);
    const hosts = [{ ip: "10.0.0.7", ports: [22, 9101] }, { ip: "10.0.0.8", ports: [8080] }, { ip: "10.0.0.9", ports: [22] }];
    const { findings, faults, error } = await scan({ hosts, exclusions: () => excluding("10.0.0.9", "10.9.0.0/16", "fd00::/8") });
    expect([findings, faults, error, given("targets").slice(0, 2)]).toEqual([["10.0.0.7"], [], null, ["10.0.0.7", "10.0.0.8"]]);
    const args = given("args");
    const after = (name: string) => args[args.indexOf(name) + 1];
    expect([after("-p"), after("--exclude"), after("--exclude-ports"), after("-e")]).toEqual([
      "1,22,8080", "10.0.0.9/32,10.9.0.0/16", "515,9100,9101,9102,9103,9104,9105,9106,9107", "lan0",
    ]);
  });

  test("is asked for IPv6 by a run of its own", async () => {
    writeNmap(":");
    await scan({ hosts: [{ ip: "fd00::7", ports: [22] }, { ip: "10.0.0.7", ports: [22] }] });
    expect(given("args").filter((arg) => arg === "-6")).toHaveLength(1);
    expect(nmapArguments({ family: 6, interfaceName: "lan0", ports: [], excluded: [] })).not.toContain("--exclude");
  });

  test("is not believed what it says of hosts that it was not to ask", async () => {
    writeNmap(`echo '${host("10.0.0.8")}${host("10.0.0.7")}${host("nobody")}'`);
    expect(await scan({})).toEqual({ findings: ["10.0.0.7"], faults: [], error: null });
  });

  test("keeps what it said before it failed, and says why; a warning is no failure", async () => {
    writeNmap(`echo 'a warning' >&2; echo '${host("10.0.0.7")}'; exit 0`);
    expect(await scan({})).toEqual({ findings: ["10.0.0.7"], faults: [], error: null });
    writeNmap(`echo '${host("10.0.0.7")}'; echo 'no such interface' >&2; echo QUITTING! >&2; exit 1`);
    expect(await scan({})).toEqual({
      findings: ["10.0.0.7"], faults: ["nmap ended with 1: no such interface"], error: "nmap ended with 1: no such interface",
    });
  });

  test("that writes without end is ended", async () => {
    writeNmap("exec cat /dev/zero");
    expect((await scan({})).error).toBe("nmap wrote too much output");
  });

  test("is begun anew without a host that is excluded on the way", async () => {
    writeNmap(`if grep -q 10.0.0.8 ${folder}/targets; then : >${folder}/targets; exec sleep 30; fi; echo '${host("10.0.0.7")}'`);
    let excluded = excluding();
    systemClock.after(400, () => {
      excluded = excluding("10.0.0.8");
    });
    expect(await scan({ hosts: [{ ip: "10.0.0.7", ports: [22] }, { ip: "10.0.0.8", ports: [22] }], exclusions: () => excluded })).toEqual({
      findings: ["10.0.0.7"], faults: [], error: null,
    });
    expect(excluded.holds(parseIp("10.0.0.8") ?? new Uint8Array())).toBe(true);
  });

  test("is ended with all that it started", async () => {
    writeNmap(`sleep 300 & echo $! >${folder}/sleeper; wait`);
    const stop = new AbortController();
    const ended = scan({ signal: stop.signal });
    const sleeper = await waitFor("what it starts", () => readFileSync(join(folder, "sleeper"), "utf8").trim() || null, { everyMs: 20 });
    stop.abort(new Error("cancelled"));
    const startedAt = performance.now();
    expect(await ended).toMatchObject({ error: "cancelled" });
    // It would end by itself after five minutes.
    expect(performance.now() - startedAt).toBeLessThan(120_000);
    await waitFor("what it started is gone", () => commandLine(sleeper) === "" || null);
  });

  test("is missing where no folder of PATH has it", () => {
    expect([
      createProgramFinder({ PATH: folder })("nmap"), createProgramFinder({})("nmap"), createProgramFinder({ PATH: "." })("nmap"),
    ]).toEqual([null, null, null]);
    writeNmap(":");
    const environment = { PATH: folder, NMAPDIR: "/somewhere", LANTHORN_TOKEN_SECRET: "secret" };
    expect(createProgramFinder(environment)("nmap")).toEqual({
      path: join(folder, "nmap"), environment: { PATH: folder, NMAPDIR: "/somewhere", LANG: "C" },
    });
  });
});
