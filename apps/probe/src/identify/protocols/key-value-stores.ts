// Redis (RESP), Memcached's text protocol, and NATS: text over TCP, without a login.
import {
  beginsWith, claims, endsLine, learned, printable, type Recognition, SHORT_ANSWER_MS, type TcpProtocol, toText,
} from "../protocol.ts";

const NOTHING = "*:*:*:*:*:*:*";

/** @see Redis documentation, "INFO" and "RESP protocol spec" */
export const redis: TcpProtocol = {
  name: "redis",
  ports: [6379, 6380, 26_379],
  hello: () => "*2\r\n$4\r\nINFO\r\n$6\r\nserver\r\n",
  ownPortsOnly: true,
  recognise(bytes): Recognition {
    const text = toText(bytes);
    if (/^-(?:NOAUTH|DENIED|ERR (?:unknown command|operation not permitted|Protocol|AUTH)|MISCONF|LOADING)/i.test(text)) return "yes";
    const size = /^\$(\d{2,6})\r\n/.exec(text);
    if (size) return text.length >= Number(size[1]) ? (/redis_version:|valkey_version:/.test(text) ? "yes" : "no") : "more";
    return "$-".includes(text[0] ?? "$") && text.length < 12 ? "more" : "no";
  },
  learn(first) {
    const text = toText(first);
    const valkey = /valkey_version:(\S+)/.exec(text)?.[1];
    const version = valkey ?? /redis_version:(\S+)/.exec(text)?.[1] ?? "";
    const [name, vendor, product] = valkey === undefined
      ? ["Redis key-value store", "Redis", "redis:redis"]
      : ["Valkey key-value store", "Linux Foundation", "lfprojects:valkey"];
    const os = /^os:(\S+) (\S+)/m.exec(text);
    return Promise.resolve(learned("redis", {
      claims: claims("redis", 0.95, {
        product: name, vendor, version, cpe: `cpe:2.3:a:${product}:${version === "" ? "*" : version}:${NOTHING}`, os: os?.[1],
        os_version: os?.[2],
      }),
      banner: printable(text),
    }));
  },
};

/** @see memcached's doc/protocol.txt */
export const memcached: TcpProtocol = {
  name: "memcached",
  ports: [11_211],
  hello: () => "version\r\n",
  ownPortsOnly: true,
  recognise: (bytes) => (beginsWith(bytes, "VERSION ") === "yes" && !endsLine(bytes) ? "more" : beginsWith(bytes, "VERSION ")),
  learn(first) {
    const version = /^VERSION (\d[\w.]*)/.exec(toText(first))?.[1] ?? "";
    return Promise.resolve(learned("memcached", {
      claims: claims("memcached", 0.95, {
        product: "Memcached", vendor: "Memcached", version,
        cpe: `cpe:2.3:a:memcached:memcached:${version === "" ? "*" : version}:${NOTHING}`,
      }),
      banner: printable(toText(first)),
    }));
  },
};

/** @see NATS documentation, "Client Protocol" */
export const nats: TcpProtocol = {
  name: "nats",
  ports: [4222],
  recognise: (bytes) => (beginsWith(bytes, "INFO {") === "yes" && !endsLine(bytes) ? "more" : beginsWith(bytes, "INFO {")),
  learn(first) {
    const version = /"version":"(\d[\w.+-]*)"/.exec(toText(first))?.[1] ?? "";
    return Promise.resolve(learned("nats", {
      claims: claims("nats", 0.95, { product: "NATS server", vendor: "Linux Foundation", version }), banner: printable(toText(first)),
    }));
  },
};

/** The greeting tells the protocol's version, which is near the daemon's. @see Music Player Daemon documentation, "Protocol" */
export const mpd: TcpProtocol = {
  name: "mpd",
  ports: [6600],
  recognise: (bytes) => (beginsWith(bytes, "OK MPD ") === "yes" && !endsLine(bytes) ? "more" : beginsWith(bytes, "OK MPD ")),
  learn(first) {
    const version = /^OK MPD (\d[\d.]*)/.exec(toText(first))?.[1] ?? "";
    return Promise.resolve(learned("mpd", {
      claims: claims("mpd", 0.9, { product: "Music Player Daemon", version: `protocol ${version}` }), banner: printable(toText(first)),
    }));
  },
};

/** @see ZooKeeper Administrator's Guide, "The Four Letter Words" */
export const zookeeper: TcpProtocol = {
  name: "zookeeper",
  ports: [2181],
  hello: () => "srvr",
  ownPortsOnly: true,
  recognise: (bytes) => beginsWith(bytes, "Zookeeper version: ", "srvr is not executed"),
  async learn(first, connection) {
    const text = toText(first) + toText(await connection.read(() => false, SHORT_ANSWER_MS / 5));
    const version = /^Zookeeper version: (\d[\d.]*)/.exec(text)?.[1] ?? "";
    return learned("zookeeper", {
      claims: claims("zookeeper", 0.95, { product: "ZooKeeper", vendor: "Apache", version }), banner: printable(text),
    });
  },
};
