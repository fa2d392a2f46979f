/** Whom the open alerts of guards are about. What they are about is not learned. */
export interface Rogues {
  /** @param names An address, MACs, or a device's id. */
  has(siteId: string, names: readonly string[]): boolean;
}

/** @param alerts The open alerts of a tenant's guards. */
export function readRogues(
  alerts: readonly { readonly site_id: string | null; readonly device_id: string | null; readonly device_ip: string; readonly subject: string }[],
): Rogues {
  const known = new Set(alerts.flatMap(({ site_id: site, device_id: device, device_ip: ip, subject }) =>
    [device ?? "", ip, ...subject.split(" ")].filter(Boolean).map((name) => `${site ?? "-"} ${name}`)));
  return { has: (siteId, names) => names.some((name) => known.has(`${siteId} ${name}`)) };
}
