import { type Probe, SCAN_PROFILES, type ScanProfileName, type Site } from "@lanthorn/contract";
import { showForeign } from "../texts/foreign.tsx";
import { addressesIn, isWithin, type Network, parseNetwork } from "./networks.ts";
import styles from "./scans-page.module.css";

/** More than this many addresses of IPv6 are not asked one by one. */
const MAX_ASKED = 65_536n;
const MAX_LISTED = 8;

/** What a scan would send, where, and by whom: said before anything is sent. */
export function ScanPreview({ target, profile, site, probes }: {
  readonly target: string; readonly profile: ScanProfileName; readonly site: Site | undefined; readonly probes: readonly Probe[];
}) {
  const network = parseNetwork(target);
  const online = probes.filter(({ state }) => state === "online");
  return (
    <section className={styles["preview"]} aria-label="What will be sent" aria-live="polite">
      <h3>What will be sent</h3>
      <dl>
        <dt>To</dt><dd>{network === null ? "– (write an address, or a network as 10.0.0.0/24)" : toWhom(network)}</dd>
        <dt>What</dt><dd>{whatOf(profile)}</dd>
        <dt>How fast</dt><dd>{rateOf(profile)}</dd>
        <dt>By</dt><dd>{online.length === 0 ? "–" : online.map(({ name }) => showForeign(name, 60)).join(" or ")}</dd>
        {network !== null && site !== undefined && <><dt>Never asked</dt><dd>{excludedFrom(network, site)}</dd></>}
      </dl>
      {site !== undefined && online.length === 0 && <p className={styles["warning"]}>No probe of this site is online, so that nobody can scan now.</p>}
      {network !== null && site !== undefined && online.length > 0 && !isAllowed(network, site, online) && (
        <p className={styles["warning"]}>This is outside the probes' own subnets and the site's scan networks: it will be refused.</p>
      )}
    </section>
  );
}

function toWhom(network: Network): string {
  const count = addressesIn(network);
  if (count === 1n) return "one address";
  return count > MAX_ASKED && network.bits === 128 ? "hosts of this network that are known" : `${count.toLocaleString("en")} addresses, then those hosts that answer`;
}

function whatOf(profile: ScanProfileName): string {
  const { tcp_ports: tcp, udp_ports: udp, banners, os } = SCAN_PROFILES[profile];
  const ports = [tcp > 0 ? `${tcp.toLocaleString("en")} TCP` : "", udp > 0 ? `${udp.toLocaleString("en")} UDP` : ""].filter(Boolean);
  return [
    "a question whether it is there (ARP or neighbor discovery; ICMP and TCP behind routers)",
    ...(ports.length > 0 ? [`each host that answers: ${ports.join(" and ")} ports`] : []),
    ...(banners ? ["open ports: what answers there"] : []),
    ...(os ? ["probes for its operating system"] : []),
    ...(profile === "deep" ? ["nmap's versions and safe scripts"] : []),
  ].join("; ");
}

function rateOf(profile: ScanProfileName): string {
  const rate = SCAN_PROFILES[profile].packets_per_second;
  return rate === null ? "as fast as answers keep coming, up to the limit in the probe's own file" : `at most ${rate} packets a second`;
}

function excludedFrom(network: Network, { excluded }: Site): string {
  const hit = excluded.filter((text) => {
    const other = parseNetwork(text);
    return other !== null && (isWithin(other, network) || isWithin(network, other));
  });
  if (hit.length === 0) return "nothing here is excluded at this site";
  return `${hit.slice(0, MAX_LISTED).join(", ")}${hit.length > MAX_LISTED ? ` and ${hit.length - MAX_LISTED} more` : ""}: excluded at this site`;
}

function isAllowed(network: Network, site: Site, probes: readonly Probe[]): boolean {
  const own = probes.map(({ health }) => health?.interface.networks);
  // What a probe does not say is not known to be outside.
  if (own.includes(undefined)) return true;
  return [...site.scan_networks, ...own.flatMap((networks) => networks ?? [])].some((text) => {
    const outer = parseNetwork(text);
    return outer !== null && isWithin(network, outer);
  });
}
