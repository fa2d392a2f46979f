// MQTT (OASIS MQTT 3.1.1) and AMQP 0-9-1 with its greeting of properties.
import { Reader } from "@lanthorn/packets";
import { beginsWith, claims, learned, printable, type TcpProtocol, toText } from "../protocol.ts";

/** CONNECT with a clean session, no name and no password; a client id, since some refuse an empty one. */
const CONNECT = Uint8Array.of(0x10, 20, 0, 4, ...Buffer.from("MQTT"), 4, 2, 0, 5, 0, 8, ...Buffer.from("lanthorn"));
/** SUBSCRIBE to what brokers tell of themselves. */
const SUBSCRIBE = Uint8Array.of(0x82, 24, 0, 1, 0, 19, ...Buffer.from("$SYS/broker/version"), 0);
const DISCONNECT = Uint8Array.of(0xe0, 0);
const RETURN_CODES: readonly string[] = [
  "accepted", "unacceptable protocol version", "identifier rejected", "server unavailable", "bad user name or password", "not authorized",
];

/** CONNECT without a user; where that is allowed, it also reads the broker's version from `$SYS`. @see MQTT 3.1.1 sections 3.1 and 3.2 */
export const mqtt: TcpProtocol = {
  name: "mqtt",
  ports: [1883, 8883],
  alpn: ["mqtt"],
  hello: () => CONNECT,
  ownPortsOnly: true,
  recognise(bytes) {
    if (bytes[0] !== 0x20 || (bytes.length > 1 && bytes[1] !== 2)) return "no";
    return bytes.length < 4 ? "more" : (bytes[2] ?? 2) < 2 && (bytes[3] ?? 9) < 6 ? "yes" : "no";
  },
  async learn(first, connection, target) {
    const code = first[3] ?? 0;
    let version = "";
    if (code === 0) {
      connection.send(SUBSCRIBE);
      const answer = await connection.read((bytes) => toText(bytes).includes("$SYS/broker/version") && bytes.length > 30, 1000);
      version = /\$SYS\/broker\/version([\w .-]{1,60})/.exec(toText(answer))?.[1]?.trim() ?? "";
      connection.send(DISCONNECT);
    }
    const mosquitto = /^mosquitto version (\d[\w.]*)/.exec(version)?.[1] ?? "";
    return learned(target.isSecure ? "secure-mqtt" : "mqtt", {
      claims: mosquitto !== ""
        ? claims("mqtt", 0.95, {
          product: "mosquitto", vendor: "Eclipse", version: mosquitto, cpe: `cpe:2.3:a:eclipse:mosquitto:${mosquitto}:*:*:*:*:*:*:*`,
        }) : [],
      banner: `CONNACK: ${RETURN_CODES[code] ?? code}${version === "" ? "" : `\n${version}`}`,
    });
  },
};

/** The header alone: the server answers with its product and version. @see AMQP 0-9-1 section 4.2.2 */
export const amqp: TcpProtocol = {
  name: "amqp",
  ports: [5671, 5672],
  hello: () => Uint8Array.of(...Buffer.from("AMQP"), 0, 0, 9, 1),
  ownPortsOnly: true,
  recognise(bytes) {
    if (beginsWith(bytes, "AMQP") !== "no") return beginsWith(bytes, "AMQP");
    // A method frame on channel 0 with connection.start (class 10, method 10).
    if (bytes[0] !== 1) return "no";
    if (bytes.length < 11) return "more";
    const reader = new Reader(bytes, 3);
    const length = reader.u32();
    if (reader.u16() !== 10 || reader.u16() !== 10 || length > 16_384) return "no";
    return bytes.length >= length + 8 ? "yes" : "more";
  },
  learn(first, _connection, target) {
    const text = toText(first);
    // A long string: its name, 'S', and a length of four bytes.
    const property = (name: string) => {
      const at = text.indexOf(`${name}S`);
      return at === -1 ? "" : text.slice(at + name.length + 5, at + name.length + 5 + text.charCodeAt(at + name.length + 4));
    };
    const product = property("product");
    const version = property("version");
    const isRabbit = product === "RabbitMQ";
    return Promise.resolve(learned(target.isSecure ? "amqps" : "amqp", {
      claims: claims("amqp", 0.95, {
        product, vendor: isRabbit ? "VMware" : "", version, cpe: isRabbit ? `cpe:2.3:a:vmware:rabbitmq:${version}:*:*:*:*:*:*:*` : "",
        hostname: /^rabbit@(\S+)/.exec(property("cluster_name"))?.[1],
      }),
      banner: printable([product, version, property("platform")].join(" ")),
    }));
  },
};
