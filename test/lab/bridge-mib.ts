import { readdirSync, readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/**
 * Tells snmpd what the kernel's bridge has heard at which port, which it does not know by itself: `pass_persist` of snmpd.conf(5).
 * Run as: bridge-mib.ts BRIDGE
 * @see RFC 4188
 */
const [bridge = ""] = process.argv.slice(2);
const ROOT = "1.3.6.1.2.1.17";
/** `learned` and `self`, of dot1dTpFdbStatus. */
const [LEARNED, SELF] = ["3", "4"];
/** Of `struct __fdb_entry`: a MAC, its port's number, whether it is the port's own. @see linux/if_bridge.h */
const ENTRY = { octets: 16, port: 6, isLocal: 7, highPort: 12 } as const;

interface Row {
  readonly name: readonly number[];
  readonly type: "integer" | "octet";
  readonly value: string;
}

const read = (path: string) => readFileSync(`/sys/class/net/${path}`, "utf8").trim();

function rows(): readonly Row[] {
  const row = (name: string, type: Row["type"], value: string): Row => ({ name: `${ROOT}.${name}`.split(".").map(Number), type, value });
  const ports = readdirSync(`/sys/class/net/${bridge}/brif`).map((port) =>
    row(`1.4.1.2.${Number(read(`${port}/brport/port_no`))}`, "integer", read(`${port}/ifindex`)));
  const table = readFileSync(`/sys/class/net/${bridge}/brforward`);
  const entries = Array.from({ length: Math.floor(table.length / ENTRY.octets) }, (_, index) =>
    table.subarray(index * ENTRY.octets, (index + 1) * ENTRY.octets));
  const heard = entries.flatMap((entry) => {
    const mac = [...entry.subarray(0, 6)].join(".");
    const port = (entry[ENTRY.port] ?? 0) + 256 * (entry[ENTRY.highPort] ?? 0);
    return [row(`4.3.1.2.${mac}`, "integer", String(port)), row(`4.3.1.3.${mac}`, "integer", entry[ENTRY.isLocal] === 1 ? SELF : LEARNED)];
  });
  const own = row("1.1.0", "octet", read(`${bridge}/address`).replaceAll(":", " "));
  return [own, ...ports, ...heard].toSorted((a, b) => compare(a.name, b.name));
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((part, index) => part !== b[index]);
  return at < 0 ? a.length - b.length : (a[at] ?? 0) - (b[at] ?? -1);
}

/** Read anew for each walk: its first question is for what stands before everything. */
let known: readonly Row[] = [];

function answer(command: string, text: string): Row | undefined {
  const name = text.split(".").filter((part) => part !== "").map(Number);
  if (command === "get" || known.length === 0 || name.length <= ROOT.split(".").length + 4) known = rows();
  return command === "get" ? known.find((row) => compare(row.name, name) === 0) : known.find((row) => compare(row.name, name) > 0);
}

function respond(line: string): string {
  if (command === "" && line === "PING") return "PONG\n";
  if (command === "") {
    command = line;
    return "";
  }
  const found = answer(command, line);
  command = "";
  return found ? `.${found.name.join(".")}\n${found.type}\n${found.value}\n` : "NONE\n";
}

/** `get` or `getnext`, until its object's name has come. */
let command = "";
createInterface({ input: process.stdin }).on("line", (line) => {
  process.stdout.write(respond(line));
});
