/** TLS for rules: a connection is one transaction, as far as it is in clear. @see RFC 8446 sections 4 and 5, RFC 5246 sections 6 and 7 */
import { createHandshakeJoiner, decodeClientHello, decodeServerHello } from "@lanthorn/traffic";
import type { BufferName } from "../../rules/buffer-names.ts";
import { type Application, type ApplicationOutput, type ApplicationParser, type BufferStage, type Direction, STAGE_DONE } from "../application.ts";
import type { FieldTransaction } from "../field-transaction.ts";
import { createOneTransaction } from "../one-transaction.ts";
import { putHelloFields, putServerHelloFields, serverNameOf } from "./hello-fields.ts";
import { readRuleCertificate, splitCertificates } from "./rule-certificate.ts";

/** How far a direction is. */
const STAGE = { hello: 1, certificate: 2, done: STAGE_DONE } as const;
const RECORD = { changeCipherSpec: 20, alert: 21, handshake: 22, applicationData: 23, heartbeat: 24 } as const;
const HANDSHAKE = { clientHello: 1, serverHello: 2, certificate: 11, serverKeyExchange: 12, clientKeyExchange: 16, highest: 24 } as const;
const HEADER_BYTES = 5;
/** Of a record's payload, with what encryption adds. RFC 5246 section 6.2.3. */
const MAX_RECORD_BYTES = 0x4800;
const TLS_1_3 = 0x0304;
const FATAL = 2;
/** Hellos, chains and keys of one side that are read; more are only made to cost time. */
const MAX_MESSAGES = 8;

const VERSIONS: ReadonlyMap<number, string> = new Map([[0x0300, "sslv3"], [0x0301, "tls1.0"], [0x0302, "tls1.1"], [0x0303, "tls1.2"], [0x0304, "tls1.3"]]);
const STATES: ReadonlyMap<number, string> = new Map<number, string>([
  [HANDSHAKE.clientHello, "client_hello"], [HANDSHAKE.serverHello, "server_hello"], [HANDSHAKE.serverKeyExchange, "server_keyx"], [HANDSHAKE.clientKeyExchange, "client_keyx"],
]);

const bytesOf = (text: string): Uint8Array => Buffer.from(text, "latin1");

function createParser(output: ApplicationOutput): ApplicationParser {
  const sides = { "to-server": createSide(output), "to-client": createSide(output) };
  const connection = createOneTransaction("tls", output, HEADER_BYTES + MAX_RECORD_BYTES, (direction) => sides[direction].release());
  const { transaction } = connection;
  /** TLS 1.3, in which a ChangeCipherSpec means nothing and encrypted messages stand in records of data. */
  let isLatest = false;

  function onHandshake(direction: Direction, type: number, body: Uint8Array): void {
    const side = sides[direction];
    if (connection.isClosed(direction) || side.messages > MAX_MESSAGES) return;
    const state = STATES.get(type);
    if (state !== undefined) for (const either of ["to-server", "to-client"] as const) transaction.setWords(either, "ssl.state", state);
    if (type > HANDSHAKE.highest) transaction.raise("invalid_handshake_message");
    if (type !== HANDSHAKE.clientHello && type !== HANDSHAKE.serverHello && type !== HANDSHAKE.certificate) return;
    side.messages += 1;
    const before = transaction.stageOf(direction);
    if (type === HANDSHAKE.clientHello && direction === "to-server") putClientHello(output, transaction, body);
    else if (type === HANDSHAKE.serverHello && direction === "to-client") {
      isLatest = putServerHello(output, transaction, body) >= TLS_1_3;
    } else if (type === HANDSHAKE.certificate) putCertificates(output, transaction, direction, body);
    if (!connection.isClosed(direction) && transaction.stageOf(direction) !== before) output.onChange(transaction, direction);
  }

  /** @returns Whether more of the side is in clear. */
  function onRecord(direction: Direction, type: number, payload: Uint8Array): boolean {
    switch (type) {
      case RECORD.handshake:
        if (sides[direction].joiner.join(payload, (message, body) => onHandshake(direction, message, body))) return true;
        transaction.raise("invalid_ssl_record");
        return false;
      case RECORD.alert:
        if (payload.length === 2 && payload[0] === FATAL) transaction.raise("error_message_encountered");
        return payload.length === 2;
      case RECORD.heartbeat:
        transaction.raise("heartbeat_message");
        return true;
      case RECORD.changeCipherSpec:
        return isLatest;
      default:
        // As in Suricata, nothing of either side is looked at behind the first data.
        if (isLatest) connection.close(direction === "to-server" ? "to-client" : "to-server");
        return false;
    }
  }

  return connection.parser((direction, bytes) => {
    if (bytes.length < HEADER_BYTES) return 0;
    const type = bytes[0] as number;
    const length = ((bytes[3] as number) << 8) | (bytes[4] as number);
    const fault = faultOf(bytes, length);
    if (fault !== null) {
      transaction.raise(fault);
      return connection.close(direction);
    }
    if (bytes.length < HEADER_BYTES + length && type !== RECORD.applicationData) return 0;
    const isClear = onRecord(direction, type, bytes.subarray(HEADER_BYTES, HEADER_BYTES + length));
    return isClear && !connection.isClosed(direction) ? HEADER_BYTES + length : connection.close(direction);
  });
}

/** @returns What is wrong with a record's header, as an event, or null. */
function faultOf([type = 0, major = 0, minor = 0]: Uint8Array, length: number): string | null {
  if (type < RECORD.changeCipherSpec || type > RECORD.heartbeat) return "invalid_record_type";
  if (major !== 3 || minor > 4) return "invalid_record_version";
  return length > MAX_RECORD_BYTES ? "invalid_ssl_record" : null;
}

function createSide(output: ApplicationOutput) {
  let joined = 0;
  const joiner = createHandshakeJoiner((octets) => {
    joined += octets;
    output.hold(octets);
  });
  return {
    joiner, messages: 0,
    release() {
      if (joined > 0) output.hold(-joined);
      joined = 0;
    },
  };
}

function putClientHello(output: ApplicationOutput, transaction: FieldTransaction, body: Uint8Array): void {
  const hello = decodeClientHello(body, "tcp");
  if (!hello) return;
  // A second one, behind a HelloRetryRequest, changes nothing.
  if (transaction.stageOf("to-server") >= STAGE.hello) {
    if (hello.serverName !== null) transaction.raise("multiple_sni_extensions");
    return;
  }
  putHelloFields(transaction, hello);
  putRandom(output, transaction, "to-server", body);
  transaction.add("to-server", "tls.alpn", ...hello.alpn.map(bytesOf));
  transaction.add("to-server", "tls.sni", bytesOf(serverNameOf(hello)));
  transaction.setStage("to-server", STAGE.hello);
}

function putRandom(output: ApplicationOutput, transaction: FieldTransaction, direction: Direction, body: Uint8Array): void {
  const random = body.slice(2, 34);
  transaction.hold(output, random.length);
  transaction.add(direction, "tls.random", random);
  transaction.add(direction, "tls.random_time", random.subarray(0, 4));
  transaction.add(direction, "tls.random_bytes", random.subarray(4));
}

/** @returns The version that is spoken; 0 where the hello cannot be read. */
function putServerHello(output: ApplicationOutput, transaction: FieldTransaction, body: Uint8Array): number {
  const hello = decodeServerHello(body);
  if (!hello) return 0;
  if (transaction.stageOf("to-client") < STAGE.hello) {
    putServerHelloFields(transaction, hello);
    putRandom(output, transaction, "to-client", body);
    if (hello.alpn !== null) transaction.add("to-client", "tls.alpn", bytesOf(hello.alpn));
    const version = VERSIONS.get(hello.version) ?? "";
    for (const direction of ["to-server", "to-client"] as const) {
      transaction.setWords(direction, "ssl.version", version);
      transaction.setWords(direction, "tls.version", ...versionWords(hello.version, version));
    }
    transaction.note("version", version);
    transaction.setStage("to-client", STAGE.hello);
  }
  return hello.version;
}

/** As rules may spell it. */
function versionWords(version: number, name: string): readonly string[] {
  const digits = name.replace(/^(?:tls|sslv)/, "");
  const head = name.startsWith("tls") ? "tls" : "ssl";
  return [`0x${version.toString(16).padStart(4, "0")}`, name, digits, `${head} ${digits}`, `${head}v${digits}`, `${head} v${digits}`];
}

function putCertificates(output: ApplicationOutput, transaction: FieldTransaction, direction: Direction, body: Uint8Array): void {
  if (transaction.stageOf(direction) >= STAGE.certificate) return;
  const chain = splitCertificates(body);
  const [first] = chain;
  if (!first) return;
  const certificate = readRuleCertificate(first);
  transaction.setStage(direction, STAGE.certificate);
  if (typeof certificate === "string") {
    transaction.raise(certificate);
    return;
  }
  const kept = chain.map((der) => der.slice());
  transaction.hold(output, kept.reduce((sum, der) => sum + der.length, 0));
  transaction.add(direction, "tls.certs", ...kept);
  const { subject, issuer, serial, fingerprint } = certificate;
  transaction.add(direction, "tls.cert_subject", Buffer.from(subject));
  transaction.add(direction, "tls.cert_issuer", Buffer.from(issuer));
  transaction.add(direction, "tls.cert_serial", bytesOf(serial));
  transaction.add(direction, "tls.cert_fingerprint", bytesOf(fingerprint));
  transaction.add(direction, "tls.subjectaltname", ...certificate.alternativeNames.map(bytesOf));
  transaction.addNumbers(direction, "tls.cert-chain-length", chain.length);
  transaction.addNumbers(direction, "tls.days-valid", Math.floor((certificate.notAfter - certificate.notBefore) / 86_400));
  transaction.addNumbers(direction, "tls.not-before", certificate.notBefore);
  transaction.addNumbers(direction, "tls.not-after", certificate.notAfter);
  for (const [name, value] of Object.entries({ subject, issuer, serial, fingerprint })) transaction.note(name, value);
}

const HELLO: BufferStage = { stage: STAGE.hello, grows: false };
const CERTIFICATE: BufferStage = { stage: STAGE.certificate, grows: false };
const HELLO_BUFFERS: readonly BufferName[] = [
  "tls.sni", "tls.alpn", "tls.random", "tls.random_time", "tls.random_bytes", "ja3.hash", "ja3.string", "ja4.hash", "ja3s.hash", "ja3s.string",
];
const CERTIFICATE_BUFFERS: readonly BufferName[] = [
  "tls.certs", "tls.cert_subject", "tls.cert_issuer", "tls.cert_serial", "tls.cert_fingerprint", "tls.subjectaltname",
];

/** @see https://docs.suricata.io/en/latest/rules/tls-keywords.html */
export const TLS_APPLICATION: Application = {
  name: "tls",
  transports: ["tcp"],
  create: createParser,
  buffers: new Map([...HELLO_BUFFERS.map((name) => [name, HELLO] as const), ...CERTIFICATE_BUFFERS.map((name) => [name, CERTIFICATE] as const)]),
  numbers: new Map((["tls.cert-chain-length", "tls.days-valid", "tls.not-before", "tls.not-after"] as const).map((field) => [field, CERTIFICATE])),
  words: new Map((["tls.version", "ssl.version", "ssl.state"] as const).map((field) => [field, HELLO])),
  events: new Set([
    "invalid_record_type", "invalid_record_version", "invalid_ssl_record", "invalid_handshake_message", "error_message_encountered", "heartbeat_message",
    "multiple_sni_extensions", "certificate_invalid_der", "certificate_invalid_serial", "certificate_invalid_issuer", "certificate_invalid_validity",
    "certificate_invalid_subject", "certificate_invalid_date",
  ]),
  service: "tls",
  recognize: null,
};
