import type { ScanHost } from "@lanthorn/contract";

/** A host of a scan beside the same host of the scan before. */
export interface HostChange {
  readonly key: string;
  readonly host: ScanHost;
  /** `none`: there is nothing to compare with. */
  readonly change: "none" | "same" | "new" | "gone" | "changed";
  /** Open ports that the scan before did not find open, and those that it alone did, as `22/tcp`. */
  readonly opened: ReadonlySet<string>;
  readonly closed: readonly ScanHost["ports"][number][];
}

/** A port's name, as `22/tcp`. */
export function portKey({ port, protocol }: Pick<ScanHost["ports"][number], "port" | "protocol">): string {
  return `${port}/${protocol}`;
}

/**
 * Lays the hosts of two scans side by side: by MAC and IP address; what is left by its MAC address, so that a host may have moved.
 * @param before Null where there is no scan before.
 * @returns What differs first, each group in the order of the scans.
 */
export function compareScans(now: readonly ScanHost[], before: readonly ScanHost[] | null): readonly HostChange[] {
  const pairs = pairUp(now, before ?? []);
  const current = now.map((host): HostChange => {
    const key = keyOf(host);
    const earlier = pairs.get(host);
    if (before === null) return { key, host, change: "none", opened: new Set(), closed: [] };
    if (earlier === undefined) return { key, host, change: "new", opened: new Set(), closed: [] };
    const [open, openBefore] = [openPorts(host), openPorts(earlier)];
    const opened = new Set([...open.keys()].filter((port) => !openBefore.has(port)));
    const closed = [...openBefore].flatMap(([port, record]) => (open.has(port) ? [] : [record]));
    return { key, host, change: opened.size + closed.length > 0 || host.ip !== earlier.ip ? "changed" : "same", opened, closed };
  });
  const paired = new Set(pairs.values());
  const gone = (before ?? []).filter((host) => !paired.has(host)).map((host): HostChange => ({ key: keyOf(host), host, change: "gone", opened: new Set(), closed: [] }));
  const all = [...current, ...gone];
  return ORDER.flatMap((change) => all.filter((each) => each.change === change));
}

const ORDER = ["new", "gone", "changed", "same", "none"] as const;

function keyOf({ mac, ip }: ScanHost): string {
  return `${mac} ${ip}`;
}

/** @returns Of hosts of now, the same host before. */
function pairUp(now: readonly ScanHost[], before: readonly ScanHost[]): ReadonlyMap<ScanHost, ScanHost> {
  const pairs = new Map<ScanHost, ScanHost>();
  for (const nameOf of [keyOf, ({ mac }: ScanHost) => mac]) {
    const taken = new Set(pairs.values());
    const left = new Map(before.filter((host) => !taken.has(host) && nameOf(host) !== "").map((host) => [nameOf(host), host]));
    for (const host of now.filter((each) => !pairs.has(each))) {
      const earlier = left.get(nameOf(host));
      if (earlier) pairs.set(host, earlier);
      left.delete(nameOf(host));
    }
  }
  return pairs;
}

function openPorts({ ports }: ScanHost): ReadonlyMap<string, ScanHost["ports"][number]> {
  return new Map(ports.filter(({ state }) => state === "open").map((port) => [portKey(port), port]));
}
