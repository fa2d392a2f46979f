/** Documents that decoys share: of no use, and found at no other site, so that a copy that turns up says where it was taken. */
import { createHash } from "node:crypto";

/** A document. */
export interface BaitDocument {
  readonly name: string;
  readonly content: Buffer;
  /** In hexadecimal. */
  readonly sha256: string;
  /** Milliseconds since the epoch. */
  readonly modifiedMs: number;
}

/** As the stage's: octets of chance that stay the same for a name. */
type Derive = (name: string, octets: number) => Buffer;

const PEOPLE = ["M. Keller", "S. Novak", "J. Lindqvist", "A. Moreau", "T. Brandt", "L. Okafor", "P. Janssen", "R. Costa", "E. Fischer", "K. Wagner", "D. Petrov", "C. Murphy", "H. Yilmaz", "N. Rossi", "B. Dubois", "F. Larsen"] as const;
const SYSTEMS = ["erp", "vpn", "mail", "wiki", "backup", "firewall", "hypervisor", "storage", "phone", "timeclock", "crm", "printer-admin", "dc-admin", "monitoring"] as const;
const DEPARTMENTS = ["Sales", "Finance", "Production", "IT", "Purchasing", "Service"] as const;
const LETTERS = "abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789-!";
/** They were written within the year that begins here. */
const [FIRST_MS, WITHIN_DAYS, DAY_MS] = [Date.UTC(2025, 2, 3, 8), 360, 86_400_000] as const;

/** @returns The same ones for the same seed: comma-separated tables and plain texts of a few kilobytes. Each has a mark of its own in its text. */
export function createBaitDocuments(derive: Derive): readonly BaitDocument[] {
  return Object.entries(WRITERS).map(([kind, { extension, write }]) => {
    const own: Derive = (name, octets) => derive(`document ${kind} ${name}`, octets);
    const [version = 0, days = 0, more = 0, minute = 0] = own("date", 4);
    const mark = own("mark", 8).toString("hex").toUpperCase();
    const content = Buffer.from(write(own, mark).map((line) => `${line}\r\n`).join(""), "utf8");
    return {
      name: `${kind}-v${2 + version % 8}.${extension}`, content, sha256: createHash("sha256").update(content).digest("hex"),
      modifiedMs: FIRST_MS + (days + more) % WITHIN_DAYS * DAY_MS + minute * 97_000,
    };
  });
}

const WRITERS: Readonly<Record<string, { readonly extension: string; readonly write: (derive: Derive, mark: string) => readonly string[] }>> = {
  accounts: {
    extension: "csv", write: (derive, mark) => [
      `# ref ${mark}`, "system,user,password,owner",
      ...SYSTEMS.map((system) => [system, pick(["admin", "root", "svc", "operator"], derive(`user ${system}`, 1)), password(derive(`password ${system}`, 14)), pick(PEOPLE, derive(`owner ${system}`, 1))].join(",")),
    ],
  },
  salaries: {
    extension: "csv", write: (derive, mark) => [
      `# ref ${mark}`, "number,name,department,gross_per_month,account",
      ...PEOPLE.map((person, index) => {
        const bytes = derive(person, 16);
        return [1000 + index * 7 + (bytes[0] ?? 0) % 7, person, pick(DEPARTMENTS, bytes.subarray(1)), 2900 + bytes.readUInt16BE(2) % 4200, `XX${digits(bytes.subarray(4), 12)}`].join(",");
      }),
    ],
  },
  network: {
    extension: "txt", write: (derive, mark) => [
      `Network notes, ref ${mark}`, "", ...SYSTEMS.slice(0, 8).map((system) => {
        const bytes = derive(system, 3);
        return `${system.padEnd(16)} 10.${bytes[0]}.${(bytes[1] ?? 0) % 32}.${1 + (bytes[2] ?? 0) % 250}`;
      }),
      "", `VPN pre-shared key: ${password(derive("key", 24))}`, `Wi-Fi staff: ${password(derive("wireless", 16))}`,
    ],
  },
  "backup-plan": {
    extension: "txt", write: (derive, mark) => [
      `Backup plan, ref ${mark}`, "", "Mon-Fri 22:00  incremental to storage", "Sat     20:00  full, to tape", "", `Contact: ${pick(PEOPLE, derive("contact", 1))}`, `Passphrase of the archive: ${password(derive("passphrase", 20))}`,
    ],
  },
};

function pick<T>(from: readonly [T, ...T[]], bytes: Uint8Array): T;
function pick<T>(from: readonly T[], bytes: Uint8Array): T | undefined;
function pick<T>(from: readonly T[], [byte = 0]: Uint8Array): T | undefined {
  return from[byte % from.length];
}

function password(bytes: Uint8Array): string {
  return [...bytes].map((byte) => LETTERS[byte % LETTERS.length]).join("");
}

function digits(bytes: Uint8Array, count: number): string {
  return [...bytes.subarray(0, count)].map((byte) => byte % 10).join("");
}
