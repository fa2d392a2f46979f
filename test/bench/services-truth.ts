import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { HOSTS, type HostPlan, plannedServices } from "../lab/host-plan.ts";
import { runCommand } from "../lab/run-command.ts";
import { SERVICE_DAEMONS, SERVICE_HOSTS, type ServiceDaemonName } from "../lab/service-hosts.ts";

/** A service of the lab as it is. */
export interface ServiceTruth {
  readonly host: string;
  readonly ip: string;
  readonly port: number;
  readonly protocol: "tcp" | "udp";
  readonly service: string;
  readonly product: RegExp;
  /** Upstream's, as `9.2p1`. */
  readonly version: string;
}

/** What the smaller lab's daemons are, by the service's name. */
const PLAIN: Readonly<Record<string, { readonly package: string; readonly product: RegExp }>> = {
  ssh: { package: "openssh-server", product: /OpenSSH/ },
  http: { package: "nginx", product: /nginx/ },
  domain: { package: "dnsmasq-base", product: /dnsmasq/ },
  snmp: { package: "snmpd", product: /net-snmp/i },
};

/** Every service of a lab's hosts that have an address of their own, by its plan and its daemon's package. */
export async function readTruth(root: string): Promise<readonly ServiceTruth[]> {
  const truths: ServiceTruth[] = [];
  for (const plan of [...HOSTS, ...SERVICE_HOSTS]) {
    const ip = plan.addresses[0]?.split("/")[0];
    if (ip === undefined) continue;
    for (const service of plannedServices(plan)) {
      const known = daemonOf(plan, service.port) ?? PLAIN[service.name];
      if (known) {
        truths.push({
          host: plan.name, ip, port: service.port, protocol: service.protocol, service: service.name, product: known.product,
          version: await versionOf(known.package, root),
        });
      }
    }
  }
  return truths;
}

function daemonOf(plan: HostPlan, port: number): { readonly package: string; readonly product: RegExp } | null {
  for (const name of plan.daemons.filter((daemon): daemon is ServiceDaemonName => Object.hasOwn(SERVICE_DAEMONS, daemon))) {
    const service = SERVICE_DAEMONS[name].services.find((one) => one.port === port);
    if (service) return { package: SERVICE_DAEMONS[name].package, product: service.product };
  }
  return null;
}

/** From the changelog of the unpacked package, or from dpkg where the machine has it. Without epoch and what Debian adds. */
async function versionOf(name: string, root: string): Promise<string> {
  const changelog = ["changelog.Debian.gz", "changelog.Debian.amd64.gz", "changelog.gz"]
    .map((file) => join(root, "usr/share/doc", name, file)).find((file) => existsSync(file));
  const full = changelog === undefined
    ? await runCommand("dpkg-query", ["-W", "-f", "${Version}", name])
    : /\(([^)]+)\)/.exec(gunzipSync(readFileSync(changelog)).toString("utf8"))?.[1] ?? "";
  return full.replace(/^\d+:/, "").replace(/[-+~].*$/, "");
}
