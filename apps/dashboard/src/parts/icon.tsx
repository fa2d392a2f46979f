/** Outlines on a field of 24 × 24, drawn with a stroke. */
const PATHS = {
  overview: "M4 13h6V4H4zM14 9h6V4h-6zM14 20h6v-8h-6zM4 20h6v-4H4z",
  devices: "M3 5h18v11H3zM9 20h6M12 16v4",
  alerts: "M12 3 2.500 20h19zM12 10v4M12 17.200v.1",
  live: "M3 12h4l2.500-7 4 14 3-9 1.500 2H21",
  sites: "M12 21s7-6.200 7-11.500A7 7 0 0 0 5 9.500C5 14.800 12 21 12 21zM12 12a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z",
  settings: "M4 7h10M18 7h2M4 17h2M10 17h10M16 9.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM8 19.500a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5z",
  integrations: "M9 7V3M15 7V3M6 7h12v4a6 6 0 0 1-12 0zM12 17v4",
  map: "M12 4v5M12 9 6 15M12 9l6 6M10 2h4v3h-4zM3 15h6v5H3zM15 15h6v5h-6z",
  scans: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4M11 8v6M8 11h6",
  captures: "M7 3h7l4 4v14H7zM14 3v4h4M4 9h6v4h3M10 17h4",
  sensors: "M12 13a1 1 0 1 0 0-2 1 1 0 0 0 0 2zM8.500 15.500a5 5 0 0 1 0-7M15.500 8.500a5 5 0 0 1 0 7M5.500 18.500a9 9 0 0 1 0-13M18.500 5.500a9 9 0 0 1 0 13",
  cve: "M12 3l8 3v6c0 5-3.500 8-8 9-4.500-1-8-4-8-9V6zM12 8v5M12 16v.1",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM20 20l-4-4",
  close: "M6 6l12 12M18 6 6 18",
  chevron: "M9 6l6 6-6 6",
  up: "M12 19V5M6 11l6-6 6 6",
  down: "M12 5v14M6 13l6 6 6-6",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  check: "M5 12.500 10 17.500 19.500 7",
  refresh: "M20 11a8 8 0 1 0-2.300 6.300M20 5v6h-6",
  user: "M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4.500 20c1-4 4-5.500 7.500-5.500s6.500 1.500 7.500 5.500",
  log: "M5 4h14v16H5zM8.500 9h7M8.500 13h7M8.500 17h4",
  backups: "M4 7c0-4 16-4 16 0v10c0 4-16 4-16 0zM4 7c0 4 16 4 16 0M4 12c0 4 16 4 16 0",
  license: "M4 4h16v11h-5M10 15H4zM7.500 8h9M7.500 11h4M12.500 18a2.500 2.500 0 1 0 0-5 2.500 2.500 0 0 0 0 5zM11 17.500V22l1.500-1 1.500 1v-4.500",
  ipam: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM16.500 13v7M13 16.500h7",
  configurations: "M6 3h8l4 4v14H6zM13 3v5h5M9 12h3M10.500 10.500v3M9 17h6",
  baselines: "M4 4v16h16M7.500 14l4-4 3 3 5-6M7.500 17h12",
  lock: "M6 11h12v9H6zM8.500 11V8a3.500 3.500 0 0 1 7 0v3",
  download: "M12 4v11M7 11l5 5 5-5M4 20h16",
  menu: "M4 7h16M4 12h16M4 17h16",
  plus: "M12 5v14M5 12h14",
} as const;

/** The name of an icon. */
export type IconName = keyof typeof PATHS;

/** An icon beside a text that says the same; a screen reader passes over it. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" strokeWidth="1.75" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** Lanthorn's sign. */
export function Lantern() {
  return (
    <svg viewBox="0 0 32 32" width="26" height="26" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#14202e" />
      <path d="M11 12h10l1.600 12.500H9.400z" fill="#f5a524" />
      <path d="M13.500 12h5l.8 12.500h-6.600z" fill="#ffd98a" />
      <path d="M10 10.500 16 5l6 5.500zM8.500 24.500h15v2.200h-15z" fill="#e8eef5" />
    </svg>
  );
}
