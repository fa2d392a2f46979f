import { isPrintPort } from "@lanthorn/packet-io";

/**
 * Scripts that nmap runs by itself and calls safe, without those that log in, or look like it in a log: `ftp-bounce` logs in as anonymous,
 * `*-ntlm-info` begins a login and leaves, `smb-*` tries the guest's account. `p2p-*` asks ports of its own choice, `jdwp-*` runs code in
 * the debugged program, `quake*` is no use on such a network.
 */
const SCRIPTS =
  "default and safe and not (auth or broadcast or brute or dos or exploit or external or fuzzer or intrusive or malware or vuln) " +
  "and not (ftp-bounce or *-ntlm-info or smb-* or p2p-* or jdwp-* or quake*)";

/** Printers print whatever reaches these. */
const PRINT_PORTS = Array.from({ length: 65_536 }, (_, port) => port).filter(isPrintPort).join(",");

/** Guessing systems by their TCP wants a closed port beside an open one; TCPMUX is one nearly everywhere. */
const CLOSED_PORT = 1;

/** One run of nmap: hosts of one family, and the ports that were found open on any of them. */
export interface NmapOrder {
  readonly family: 4 | 6;
  readonly interfaceName: string;
  /** TCP. */
  readonly ports: readonly number[];
  /** Addresses and prefixes of the family, which are left out should anything name them. */
  readonly excluded: readonly string[];
}

/** @returns Arguments of a run that reads its targets from standard input and writes XML to standard output. */
export function nmapArguments({ family, interfaceName, ports, excluded }: NmapOrder): readonly string[] {
  const asked = [...new Set([CLOSED_PORT, ...ports.filter((port) => !isPrintPort(port))])].toSorted((a, b) => a - b);
  return [
    ...(family === 6 ? ["-6"] : []), "-oX", "-", "-iL", "-", "-e", interfaceName,
    // They are there, and have no names to look up: who asks is not to tell the name server what is scanned.
    "-Pn", "-n",
    // It holds capabilities instead of being root, which nmap does not see.
    "--privileged", "-sS", "-sV", "-O", "--osscan-limit",
    "--script", SCRIPTS, "--script-timeout", "30s", "--host-timeout", "15m", "--max-retries", "3",
    "--exclude-ports", PRINT_PORTS, ...(excluded.length > 0 ? ["--exclude", excluded.join(",")] : []),
    "-p", asked.join(","), "--stats-every", "1s",
  ];
}
