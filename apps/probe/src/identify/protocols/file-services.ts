// rsync, NFS by its portmapper, Subversion, Git, finger, ident: services of files and people with a text or RPC of their own.
import { Reader } from "@lanthorn/packets";
import { beginsWith, claims, endsLine, learned, printable, SHORT_ANSWER_MS, type TcpProtocol, toText } from "../protocol.ts";

/** @see rsync's csprotocol.txt */
export const rsync: TcpProtocol = {
  name: "rsync",
  ports: [873],
  recognise: (bytes) => (beginsWith(bytes, "@RSYNCD: ") === "yes" && !endsLine(bytes) ? "more" : beginsWith(bytes, "@RSYNCD: ")),
  async learn(first, connection) {
    const version = /^@RSYNCD: (\d+\.\d+|\d+)/.exec(toText(first))?.[1] ?? "";
    connection.send(`@RSYNCD: ${/^\d/.test(version) ? version : "31.0"}\n#list\n`);
    const modules = toText(await connection.read((bytes) => /@RSYNCD: EXIT|@ERROR/.test(toText(bytes)), SHORT_ANSWER_MS));
    return learned("rsync", {
      claims: claims("rsync", 0.9, { product: "rsync", version: `protocol version ${version.split(".")[0]}` }),
      banner: printable(`${toText(first)}${modules}`),
    });
  },
};

/** Programs of Sun RPC. @see RFC 1833; IANA's registry of RPC program numbers */
const RPC_PROGRAMS: Readonly<Record<number, string>> = {
  100_000: "portmapper", 100_003: "nfs", 100_005: "mountd", 100_021: "nlockmgr", 100_024: "status", 100_227: "nfs_acl",
};

/** A call of the portmapper's DUMP, version 2. */
export function encodePortmapDump(): Buffer {
  const call = Buffer.alloc(40);
  for (const [index, value] of [0x4c414e54, 0, 2, 100_000, 2, 4, 0, 0, 0, 0].entries()) call.writeUInt32BE(value, index * 4);
  return call;
}

/** @returns `nfs 3,4 tcp 2049` and the like, or null for what is no answer to the dump. */
export function decodePortmapDump(reply: Uint8Array): readonly string[] | null {
  const reader = new Reader(reply);
  if (reader.u32() !== 0x4c414e54 || reader.u32() !== 1) return null;
  if (reader.u32() !== 0) return [];
  reader.take(8);
  if (reader.u32() !== 0) return [];
  const programs = new Map<string, number[]>();
  while (!reader.failed && reader.u32() === 1 && programs.size < 256) {
    const [program, version, protocol, port] = [reader.u32(), reader.u32(), reader.u32(), reader.u32()] as const;
    const key = `${RPC_PROGRAMS[program] ?? program} ${protocol === 6 ? "tcp" : "udp"} ${port}`;
    programs.set(key, [...(programs.get(key) ?? []), version]);
  }
  return [...programs].map(([key, versions]) => `${key} versions ${[...new Set(versions)].join(",")}`);
}

/** The list of registered programs, asked over TCP. @see RFC 1833 section 3 */
export const rpcbind: TcpProtocol = {
  name: "rpcbind",
  ports: [111],
  hello() {
    const call = encodePortmapDump();
    const mark = Buffer.alloc(4);
    mark.writeUInt32BE((0x8000_0000 | call.length) >>> 0);
    return Buffer.concat([mark, call]);
  },
  ownPortsOnly: true,
  recognise(bytes) {
    if (bytes.length < 12) return (bytes[0] ?? 0x80) === 0x80 ? "more" : "no";
    const reader = new Reader(bytes);
    const length = reader.u32() & 0x7fff_ffff;
    if (reader.u32() !== 0x4c414e54 || reader.u32() !== 1 || length > 65_536) return "no";
    return bytes.length >= length + 4 ? "yes" : "more";
  },
  learn(first) {
    const programs = decodePortmapDump(first.subarray(4)) ?? [];
    return Promise.resolve(learned("rpcbind", {
      claims: claims("rpc", 0.9, { product: "rpcbind", version: versionsOf(programs, "portmapper") }), banner: programs.join("\n"),
    }));
  },
};

/** NFS's and others' NULL procedure tells which versions they speak: a call of version 0 is answered with the lowest and highest. */
export const nfs: TcpProtocol = {
  name: "nfs",
  ports: [2049],
  hello() {
    const call = Buffer.alloc(44);
    for (const [index, value] of [(0x8000_0000 | 40) >>> 0, 0x4c414e54, 0, 2, 100_003, 0, 0, 0, 0, 0, 0].entries()) {
      call.writeUInt32BE(value, index * 4);
    }
    return call;
  },
  ownPortsOnly: true,
  recognise: rpcbind.recognise,
  learn(first) {
    const reader = new Reader(first, 12);
    const accepted = reader.u32() === 0;
    reader.take(8);
    const mismatch = reader.u32() === 2;
    const [low, high] = [reader.u32(), reader.u32()];
    const versions = accepted && mismatch && !reader.failed ? (low === high ? String(low) : `${low}-${high}`) : "";
    return Promise.resolve(learned("nfs", {
      claims: claims("rpc", 0.9, { version: versions && `protocol versions ${versions}` }),
      banner: versions === "" ? "" : `NFS versions ${versions}`,
    }));
  },
};

function versionsOf(programs: readonly string[], name: string): string {
  const versions = programs.flatMap(
    (program) => (program.startsWith(`${name} `) ? (program.split(" versions ")[1] ?? "").split(",").map(Number) : []),
  );
  if (versions.length === 0) return "";
  const [low, high] = [Math.min(...versions), Math.max(...versions)];
  return low === high ? `protocol version ${low}` : `protocol versions ${low}-${high}`;
}

/** @see Subversion's libsvn_ra_svn/protocol */
export const subversion: TcpProtocol = {
  name: "svn",
  ports: [3690],
  recognise: (bytes) => beginsWith(bytes, "( success ( "),
  learn: (first) => Promise.resolve(
    learned("svnserve", { claims: claims("svn", 0.9, { product: "Subversion", vendor: "Apache" }), banner: printable(toText(first)) }),
  ),
};

/** A question for nobody, as a user would type it. @see RFC 1288 section 2.3 */
export const finger: TcpProtocol = {
  name: "finger",
  ports: [79],
  hello: () => "\r\n",
  ownPortsOnly: true,
  isWeak: true,
  recognise: (bytes) => (bytes.length === 0 || beginsWith(bytes, "HTTP/", "SSH-", "220") === "yes" ? "no" : endsLine(bytes)
    ? "yes"
    : "more"),
  async learn(first, connection) {
    const text = toText(first) + toText(await connection.read(() => false, 200));
    if (!/login|name|tty|logged|user|finger|site:/i.test(text)) return null;
    // BSD's finger begins its "no one" in lower case.
    const isLinux = /^(?:Login {2,}Name {2,}Tty {2,}Idle|No one logged on\.)/m.test(text);
    return learned("finger", {
      claims: claims("finger", 0.6, isLinux ? { product: "Linux fingerd", os: "Linux" } : {}), banner: printable(text),
    });
  },
};
