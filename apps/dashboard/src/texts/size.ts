const UNITS = ["B", "KiB", "MiB", "GiB", "TiB"] as const;

/** Bytes as a person reads them, as `12 KiB` or `1.5 GiB`. */
export function formatSize(bytes: number): string {
  const at = bytes < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 1024 ** at).toFixed(at > 2 ? 1 : 0)} ${UNITS[at]}`;
}
