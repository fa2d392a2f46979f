// Services of a line or two: ident (RFC 1413), DICT (RFC 2229), gpsd, beanstalkd, the Zabbix agent, SOCKS 5 (RFC 1928), Git
// (gitprotocol-pack), ManageSieve (RFC 5804), clamd.
import { formatCpe } from "@lanthorn/fingerprints";
import { Reader } from "@lanthorn/packets";
import {
  beginsWith, claims, endsLine, learned, printable, type Recognition, SHORT_ANSWER_MS, type TcpProtocol, toText,
} from "../protocol.ts";

/** @returns `begun` when it is whole, `more` until then. */
function when(isWhole: boolean, begun: Recognition): Recognition {
  return begun === "yes" && !isWhole ? "more" : begun;
}

/** Who owns a connection that there is not: the answer is an error, in the protocol's form. */
export const ident: TcpProtocol = {
  name: "ident",
  ports: [113],
  hello: () => "1, 1\r\n",
  ownPortsOnly: true,
  recognise(bytes) {
    const text = toText(bytes, 256);
    if (/^\s*1\s*,\s*1\s*:\s*(?:ERROR|USERID)\s*:/i.test(text)) return when(endsLine(bytes), "yes");
    return /^\s*(?:1[\s\d,:A-Z]*)?$/i.test(text) && !endsLine(bytes) ? "more" : "no";
  },
  learn: (first) => Promise.resolve(learned("ident", { banner: printable(toText(first)) })),
};

/** Software and system from the greeting. @see RFC 2229 section 3.1 */
export const dict: TcpProtocol = {
  name: "dict",
  ports: [2628],
  recognise(bytes) {
    const text = toText(bytes, 512);
    if (!"220 ".startsWith(text.slice(0, 4))) return "no";
    return endsLine(bytes) ? (/^220 [^<\n]*<[^<>\n]*> *<[^<>\n]+>\r?\n/.test(text) ? "yes" : "no") : "more";
  },
  learn(first, connection) {
    const text = toText(first);
    const dictd = /\bdictd (\d[\d.]*)/.exec(text)?.[1];
    const os = /\bdictd \S+ on (\w+)/.exec(text)?.[1];
    connection.send("QUIT\r\n");
    const said = dictd === undefined ? {} : { product: "dictd", version: dictd, os };
    return Promise.resolve(learned("dict", { claims: claims("dict", 0.9, said), banner: printable(text) }));
  },
};

/** @see gpsd_json(5): the object VERSION is sent to everybody who connects */
export const gpsd: TcpProtocol = {
  name: "gpsd",
  ports: [2947],
  recognise: (bytes) => when(endsLine(bytes), beginsWith(bytes, '{"class":"VERSION"')),
  learn(first) {
    const version = /"release":"(\d[\w.]*)/.exec(toText(first))?.[1] ?? "";
    const said = { product: "gpsd", version, cpe: formatCpe(["a", "gpsd_project", "gpsd", version]), device_type: "iot" };
    return Promise.resolve(learned("gpsd", { claims: claims("gpsd", 0.95, said), banner: printable(toText(first)) }));
  },
};

/** @see beanstalkd's doc/protocol.txt, "stats" */
export const beanstalkd: TcpProtocol = {
  name: "beanstalkd",
  ports: [11_300],
  hello: () => "stats\r\n",
  ownPortsOnly: true,
  recognise(bytes) {
    const text = toText(bytes);
    const size = /^OK (\d{2,4})\r\n/.exec(text)?.[1];
    if (size === undefined) return /^(?:O|OK|OK \d{0,4}\r?)?$/.test(text) ? "more" : "no";
    return text.length < Number(size) ? "more" : /^current-jobs-ready:/m.test(text) ? "yes" : "no";
  },
  learn(first) {
    const text = toText(first);
    const version = /^version: "?(\d[\w.]*)/m.exec(text)?.[1];
    const said = { product: "beanstalkd", version, hostname: /^hostname: "?([\w.-]+)/m.exec(text)?.[1] };
    return Promise.resolve(learned("beanstalkd", { claims: claims("beanstalkd", 0.95, said), banner: printable(text) }));
  },
};

const ZABBIX_HEAD = Buffer.from("ZBXD\x01");

/** The item `agent.version`, which an agent tells to servers that it knows. @see Zabbix documentation, "Passive and active agent checks" */
export const zabbixAgent: TcpProtocol = {
  name: "zabbix-agent",
  ports: [10_050],
  hello() {
    const length = Buffer.alloc(8);
    length.writeUInt32LE("agent.version".length);
    return Buffer.concat([ZABBIX_HEAD, length, Buffer.from("agent.version")]);
  },
  ownPortsOnly: true,
  recognise(bytes) {
    const begun = beginsWith(bytes, "ZBXD\x01");
    const reader = new Reader(bytes, ZABBIX_HEAD.length);
    return when(bytes.length >= 13 && bytes.length >= 13 + Math.min(reader.u32le(), 256), begun);
  },
  learn(first) {
    const text = toText(first.subarray(13), 256);
    const version = /^\d[\w.]*$/.exec(text)?.[0] ?? "";
    const said = { product: "Zabbix agent", vendor: "Zabbix", version, cpe: formatCpe(["a", "zabbix", "zabbix_agent", version]) };
    return Promise.resolve(learned("zabbix-agent", { claims: claims("zabbix", 0.95, said), banner: printable(text) }));
  },
};

/** Offers to go without authentication; what the server chooses is all that is asked. */
export const socks5: TcpProtocol = {
  name: "socks5",
  ports: [1080, 9050],
  hello: () => Uint8Array.of(5, 1, 0),
  ownPortsOnly: true,
  isWeak: true,
  recognise(bytes) {
    if (bytes[0] !== 5 || bytes.length > 2) return "no";
    return bytes.length < 2 ? "more" : bytes[1] === 0 || bytes[1] === 0xff ? "yes" : "no";
  },
  learn: (first) => Promise.resolve(learned("socks5", {
    claims: claims("socks", 0.8, { version: "SOCKS5" }), banner: first[1] === 0 ? "no authentication required" : "authentication required",
  })),
};

/** Asks for a repository that nobody has: the error is the protocol's own. */
export const git: TcpProtocol = {
  name: "git",
  ports: [9418],
  hello: () => "002egit-upload-pack /lanthorn\0host=lanthorn\0\0",
  ownPortsOnly: true,
  recognise(bytes) {
    if (/^[0-9a-f]{4}(?:ERR |[0-9a-f]{40})/.test(toText(bytes, 64))) return "yes";
    return /^[0-9a-f]{0,4}$/.test(toText(bytes, 8)) ? "more" : "no";
  },
  learn: (first) => Promise.resolve(
    learned("git", { claims: claims("git", 0.7, { product: "git-daemon" }), banner: printable(toText(first, 256)) }),
  ),
};

/** The implementation from the capabilities that it begins with. @see RFC 5804 section 1.7 */
export const manageSieve: TcpProtocol = {
  name: "sieve",
  ports: [4190, 2000],
  recognise: (bytes) => when(/^OK\b.*\r?\n/m.test(toText(bytes)), beginsWith(bytes, '"IMPLEMENTATION" "')),
  learn(first, connection) {
    connection.send("LOGOUT\r\n");
    const [, product, version] = /^"IMPLEMENTATION" "([^"\n]{1,60}?)(?: v?(\d[\w.]*))?"/.exec(toText(first)) ?? [];
    return Promise.resolve(learned("sieve", { claims: claims("sieve", 0.9, { product, version }), banner: printable(toText(first)) }));
  },
};

/** @see clamd(8), "COMMANDS" */
export const clamd: TcpProtocol = {
  name: "clamd",
  ports: [3310],
  hello: () => "nVERSION\n",
  ownPortsOnly: true,
  recognise: (bytes) => when(endsLine(bytes), beginsWith(bytes, "ClamAV ")),
  async learn(first, connection) {
    const text = toText(first) + toText(await connection.read(() => false, SHORT_ANSWER_MS / 10));
    const version = /^ClamAV (\d[\d.]*)/.exec(text)?.[1] ?? "";
    const said = { product: "ClamAV", vendor: "Cisco", version, cpe: formatCpe(["a", "clamav", "clamav", version]) };
    return learned("clamd", { claims: claims("clamd", 0.95, said), banner: printable(text) });
  },
};
