import { formatCpe } from "@lanthorn/vulnerability";

/** Systems that CPE does not call `<name>:<name>`. */
const SYSTEMS: Readonly<Record<string, readonly [vendor: string, product: string]>> = {
  debian: ["debian", "debian_linux"], ubuntu: ["canonical", "ubuntu_linux"], windows: ["microsoft", "windows"], rhel: ["redhat", "enterprise_linux"],
  alpine: ["alpinelinux", "alpine_linux"], fedora: ["fedoraproject", "fedora"], linux: ["linux", "linux_kernel"], macos: ["apple", "macos"], freebsd: ["freebsd", "freebsd"],
};

/** @param os A CPE name, or a system as `debian 12`. @returns Its name in CPE. */
export function systemCpe(os: string): string {
  if (os.startsWith("cpe:")) return os;
  const [name = "", ...version] = os.trim().toLowerCase().split(/\s+/);
  const [vendor, product] = SYSTEMS[name] ?? [name, name];
  return formatCpe(["o", vendor, product, version.join("_")]);
}

/** @param guess What a device's system was taken for, as `Debian 12` or `Windows Server 2019`. @returns Its name in CPE, as far as it is sure; null for others. */
export function guessedSystemCpe(guess: string): string | null {
  const [name = "", version = ""] = guess.slice(0, 128).toLowerCase().split(" ");
  const system = Object.hasOwn(SYSTEMS, name) ? SYSTEMS[name] : undefined;
  if (system === undefined) return null;
  // Only a distribution's release decides anything; a kernel's number is a guess by how it answers.
  if (/^\d+(?:\.\d+)?$/.test(version) && RELEASED.has(name)) return systemCpe(`${name} ${version}`);
  return `cpe:2.3:o:${system.join(":")}:-:*:*:*:*:*:*:*`;
}

/** Systems whose release is what a guess has behind their name. */
const RELEASED: ReadonlySet<string> = new Set(["debian", "ubuntu", "alpine"]);
