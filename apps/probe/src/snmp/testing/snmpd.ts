/** A real snmpd on loopback, which answers with the tables that a test sets. For tests only. */
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { unpackDebianPackages } from "../../../../../test/lab/debian-packages.ts";

/** A running agent at 127.0.0.1. `close` ends it and resolves when it is gone. */
export interface Snmpd {
  readonly port: number;
  close(): Promise<void>;
}

/** Users as `createUser` names them: name, protocol and password, protocol and password. */
export const USERS = [
  ["modern", "SHA-512", "authentic-1", "AES-256", "private-12"], ["usual", "SHA-256", "authentic-1", "AES", "private-12"],
  ["old", "SHA", "authentic-1", "AES", "private-12"],
  ["oldest", "MD5", "authentic-1", "DES", "private-12"], ["signed", "SHA-224", "authentic-1"],
] as const;
/** Of versions 1 and 2c, for reading. */
export const COMMUNITY = "lan-secret";

/** @param rows Objects beside the agent's own: name, type, value, as `override` in snmpd.conf takes them. */
export async function startSnmpd(rows: readonly (readonly [name: string, type: string, value: string])[] = []): Promise<Snmpd> {
  const packages = await unpackDebianPackages(["snmpd"]);
  const folder = mkdtempSync(join(tmpdir(), "snmpd-"));
  const probe = createSocket("udp4").bind(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address();
  await new Promise<void>((resolve) => probe.close(() => resolve()));
  writeFileSync(join(folder, "snmpd.conf"), [
    `agentaddress udp:127.0.0.1:${port}`, `rocommunity ${COMMUNITY} 127.0.0.1`, "sysName sw-closet",
    "sysDescr Test switch", "engineID test-switch",
    ...USERS.map((user) => `createUser ${user.join(" ")}`),
    ...USERS.map(([name, , , privacy]) => `rouser ${name} ${privacy === undefined ? "auth" : "priv"}`),
    ...rows.map((row) => `override ${row.join(" ")}`), "",
  ].join("\n"));
  const { path, env } = packages.command("snmpd");
  const child = spawn(path, ["-f", "-C", "-c", join(folder, "snmpd.conf"), "-Le", "-I", "-smux,-nsVacmAccessTable"], {
    stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...env, SNMP_PERSISTENT_DIR: folder, MIBS: "" },
  });
  const end = () => child.kill("SIGKILL");
  process.once("exit", end);
  let said = "";
  for await (const chunk of child.stderr) {
    said += String(chunk);
    if (said.includes("NET-SNMP version")) break;
  }
  if (!said.includes("NET-SNMP version")) throw new Error(`snmpd did not start: ${said}`);
  return {
    port,
    async close() {
      process.off("exit", end);
      end();
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
