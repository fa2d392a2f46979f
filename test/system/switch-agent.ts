import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundleProgram } from "../lab/bundle-program.ts";
import { SWITCH_AGENTX } from "../lab/daemons.ts";
import type { Lab } from "../lab/lab.ts";
import { waitFor } from "../lab/wait-for.ts";

const BRIDGE_MIB = fileURLToPath(new URL("../lab/bridge-mib.ts", import.meta.url));

/** An SNMP agent on one of the lab's switches. */
export interface SwitchAgent {
  /** Everything that it has said: with each question, who asked. */
  said(): string;
  close(): Promise<void>;
}

/**
 * Starts a real snmpd in a host's network: its interfaces are the kernel's, its forwarding table the bridge's, its neighbors those of an
 * lldpd that
 * finds it.
 * @param options.access Lines of snmpd.conf(5) that say who may ask. @throws Error with what it said when it does not start.
 */
export async function startSwitchAgent(
  lab: Lab, host: string,
  options: { readonly bridge: string; readonly name: string; readonly description: string; readonly access: readonly string[] },
): Promise<SwitchAgent> {
  const folder = mkdtempSync(join(tmpdir(), "switch-agent-"));
  const tables = [process.execPath, bundleProgram(BRIDGE_MIB), options.bridge];
  writeFileSync(join(folder, "snmpd.conf"), [
    "agentaddress udp:161", ...options.access, `sysName ${options.name}`, `sysDescr ${options.description}`, "master agentx",
    `agentXSocket ${SWITCH_AGENTX}`,
    `pass_persist .1.3.6.1.2.1.17 ${tables.join(" ")}`, "",
  ].join("\n"));
  const { path: snmpd, env } = lab.packages.command("snmpd");
  const { path, args } = lab.inside(host, snmpd, [
    "-f", "-C", "-c", join(folder, "snmpd.conf"), "-Le", "-a", "-I", "-smux,mteTrigger,mteTriggerConf",
  ]);
  const child = spawn("setpriv", ["--pdeathsig", "KILL", path, ...args], {
    stdio: ["ignore", "ignore", "pipe"], env: { ...process.env, ...env, SNMP_PERSISTENT_DIR: folder, MIBS: "" },
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    said += text;
  });
  const agent: SwitchAgent = {
    said: () => said,
    async close() {
      child.kill("SIGKILL");
      if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await waitFor(`snmpd on ${host}`, () => (said.includes("NET-SNMP version") ? true : null)).catch(async () => {
    await agent.close();
    throw new Error(`snmpd on ${host} did not start: ${said}`);
  });
  return agent;
}
